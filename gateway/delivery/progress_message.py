"""The message that shows a run's progress: streamed where the platform can, else edited in place.

It changes as often as the channel's `Limits.edit_every` allows.
"""

import asyncio

import structlog

from agent_core.background import set_within
from agent_core.clock import Clock
from agent_core.events import AgentEvent, MessageUpdate, ToolExecutionStart
from channels.base import Button, ChannelError, EditsRefused, MessageGone, OutboundMessage, Posted
from channels.limits import Limits
from channels.streams import Live, StreamEnded
from channels.values import CallRow
from gateway.delivery.edited_message import EditedMessage, progress_key
from gateway.delivery.limiter import MOMENT, STEP_BACK, ChatLimiter
from gateway.delivery.progress import Progress
from gateway.delivery.reasoning import Reasoning
from gateway.security.masked_channel import MaskedChannel
from gateway.security.masked_stream import MaskedStream
from gateway.store.rows import Run
from gateway.store.store import Store
from gateway.texts.say import Language, say

SHOW_AFTER = 1.5
"""Seconds after which a run without an answer is shown."""
SHOW_TOOL_AFTER = 0.3
"""Seconds after which a running tool call is shown, sooner than `SHOW_AFTER`."""
STREAM_AFTER = 0.1
"""Seconds after the first words at which they are streamed; an answer that is whole by then is one message."""
TICK = 1.0
"""Seconds between updates of running tools' durations."""
YOUNG = 10.0
"""Age in seconds up to which a progress message becomes the answer; editing an older one would go unnoticed."""
DELETABLE = 24 * 3600.0
"""Age in seconds up to which a progress message is deleted once the answer is there; Telegram refuses older ones."""
SOON = 2.0
"""Longest wait of an edit for other chats, in seconds. Beyond it the answer is a new message, and the progress message
is deleted rather than folded."""
STOP_WITHIN = 5.0
"""Seconds for a call in progress to end once the edits are to end."""
LATER = 3.0
"""Seconds until progress is shown again after a failed call, if the platform named no delay."""

log = structlog.get_logger(__name__)


class ProgressMessage:
    """Shows one run. `apply` takes its events; `stop` ends the edits and leaves the message as it is."""

    _is_due = False
    """True once the run may be shown. Only until then it matters when its first words come."""

    def __init__(
        self,
        *,
        masked_channel: MaskedChannel,
        run: Run,
        limiter: ChatLimiter,
        store: Store,
        clock: Clock,
        language: Language,
        posted: Posted | None = None,
    ) -> None:
        """Begin to show the run. `posted` is the message of an earlier process, if the run is resumed."""
        self.progress = Progress(language, masked_channel.secrets)
        self._message = EditedMessage(masked_channel, run, store, clock, posted)
        self._stream = (
            MaskedStream.of(masked_channel, run.chat, person=run.person, reply_to=run.reply_to, key=progress_key(run))
            if posted is None
            else None
        )
        """The way to show the run, until it ends; afterwards the message is edited."""
        self._newest_before = masked_channel.newest(run.chat)
        self._masked_channel = masked_channel
        self._chat = run.chat
        self._run = run.id
        self._reply_to = run.reply_to
        self._limiter = limiter
        self._clock = clock
        self.language = language
        self._shows_calls = masked_channel.channel.limits.shows_calls
        self._counts_calls = self._shows_calls and masked_channel.channel.limits.is_local
        """True if the rows themselves tell how long a call has run."""
        self._shown: OutboundMessage | None = None
        """The message as it was last edited."""
        self._words_at: float | None = None
        """Time of the first words."""
        self._changed = asyncio.Event()
        self._worth_showing = asyncio.Event()
        """Set when a tool starts or text arrives, which may be shown before `SHOW_AFTER`."""
        self._reasoning = Reasoning(masked_channel.secrets) if masked_channel.channel.limits.folds_reasoning else None
        self._pauses_until = 0.0
        """Time until which only progress pauses, since a call of it failed."""
        self._call: asyncio.Task[bool] | None = None
        self._is_cut_off = False
        """True if a call was under way when the edits had to end, and may still change the message."""
        self._task = asyncio.create_task(self._show(), name=f"progress {run.id}")

    @property
    def _words_after(self) -> float:
        return self._limits.words_after.total_seconds()

    @property
    def _limits(self) -> Limits:
        return self._masked_channel.channel.limits

    @property
    def posted(self) -> Posted | None:
        """The message in the chat, if any."""
        return self._message.posted

    def apply(self, event: AgentEvent) -> None:
        self.progress.apply(event)
        if self._stream is not None and not self._stream.is_message and self._has_written:
            self._stream = None  # that message may be the answer, and then nothing would remove a draft below it
        if self._reasoning is not None:
            self._reasoning.apply(event)
        if self._is_due:
            self._changed.set()
        elif isinstance(event, ToolExecutionStart):
            self._worth_showing.set()
        elif isinstance(event, MessageUpdate) and self._has_words:
            if self._words_at is None:
                self._words_at = self._clock.monotonic()
            self._worth_showing.set()

    @property
    def _has_words(self) -> bool:
        return self.progress.has_words or (self._reasoning is not None and self._reasoning.has_begun)

    @property
    def may_become_answer(self) -> bool:
        """True if the message is young, last in the chat, and can be edited soon.

        Others would go unnoticed: those from before a restart, and those with messages below. One that is streamed to
        its end, or whose calls are rows on this machine, becomes the answer whatever its age.
        """
        is_last = self.posted is not None and self._masked_channel.is_newest(self.posted)
        lasts = self._stream is not None or self._counts_calls
        may_edit = self._limiter.edit_queue(self._chat) < SOON and not self._is_cut_off
        return (self.is_young or lasts) and is_last and may_edit

    @property
    def leaves_nothing(self) -> bool:
        """True if a message that does not become the answer is deleted instead of folded to a line.

        So one message is left, and people are notified of it. One of an earlier process may be too old for that; it is
        deleted if the edit would have to wait for other chats, or if the answer has its calls.
        """
        must_wait = max(self._limiter.edit_queue(self._chat), self._limiter.queue()) >= SOON
        return self._masked_channel.deletes and (self._is_younger(DELETABLE) or must_wait or self._shows_calls)

    @property
    def takes_buttons(self) -> bool:
        """True if there is no folded line of calls, so that the answer needs the buttons of that."""
        has_line = not self._shows_calls and not self.leaves_nothing
        has_calls = self.posted is not None and self.progress.tools > 0
        return has_calls and not has_line and not self._counts_calls and not self.is_young

    @property
    def is_young(self) -> bool:
        """True if this process posted the message less than `YOUNG` seconds ago."""
        return self._is_younger(YOUNG)

    def _is_younger(self, seconds: float) -> bool:
        posted_at = self._message.posted_at
        return posted_at is not None and self._clock.monotonic() - posted_at < seconds

    def promise_edit(self) -> None:
        """Reserve an edit, since the message becomes the answer."""
        self._limiter.answer(self._run)

    async def stop(self) -> None:
        """End the edits. A call in progress is awaited, since it must not overwrite what is written next.

        One that hangs is cut off, as while the database is away, and then the message does not become the answer.
        """
        self._task.cancel()
        await asyncio.wait([self._task])
        if self._call is not None:
            self._is_cut_off = not (await asyncio.wait([self._call], timeout=STOP_WITHIN))[0]
            self._call.cancel()
            await asyncio.wait([self._call])
            if not self._call.cancelled() and (error := self._call.exception()) and self._task.cancelled():
                log.error("progress failed", run=self._run, chat=str(self._chat), exc_info=error)
        may_be_there = self.posted is None and self._message.may_have_arrived and not self._is_cut_off
        if may_be_there and self._masked_channel.posts_once:
            self._limiter.take(self._chat)
            await self._message.adopt()
        if self.posted is None:
            self._limiter.settled(self._run)
        if not self._task.cancelled() and (error := self._task.exception()):
            log.error("progress failed", run=self._run, chat=str(self._chat), exc_info=error)

    async def rest(self) -> None:
        """Show the text as it is now, after `stop`, as the run waits for long."""
        live = self._live()
        while (delay := self._limiter.delay(self._chat, edit=self.posted is not None)) > 0:
            await self._clock.sleep(delay)
        if self._rendered(live) != self._shown:
            self._limiter.take(self._chat, edit=self.posted is not None)
            self._stream = None  # it would end by itself
            await self._put(live)
        self._limiter.settled(self._run)

    async def _show(self) -> None:
        if self.posted is None:
            await self._until_due()
        else:
            self._limiter.show(self._run)
        self._is_due = True
        while True:
            if self.posted is None and not self._limiter.show(self._run):
                await self._clock.sleep(STEP_BACK)
                continue
            # One call is kept free, so that the answer need not wait for progress.
            edit, append = self.posted is not None, self._appends
            pause = self._pauses_until - self._clock.monotonic()
            delay = max(pause, self._limiter.delay(self._chat, keep=1, edit=edit, append=append))
            if delay > MOMENT:
                await self._clock.sleep(delay)
                continue
            self._changed.clear()
            live = self._live()
            if self._is_news(live):
                self._limiter.take(self._chat, edit=edit, append=append)
                self._call = asyncio.create_task(self._put(live))
                if not await asyncio.shield(self._call):
                    return
                if self._stream is not None:
                    await self._clock.sleep(
                        self._limits.edit_every.total_seconds()
                    )  # words come faster than platforms count with
                    continue
            await set_within(self._changed, TICK, self._clock)

    def _live(self) -> Live:
        return Live(
            text=self._text,
            words=self.progress.words,
            note=self.progress.note,
            calls=self.progress.calls,
            reasoning=self._reasoning.text if self._reasoning is not None else "",
        )

    def _is_news(self, live: Live) -> bool:
        """Return True if it differs from what is shown. Waiting is shown by a message, as it may last for days."""
        if self._stream is None or self.progress.is_waiting:
            return self._rendered(live) != self._shown
        return self._stream.has_news(live)

    @property
    def calls(self) -> tuple[CallRow, ...]:
        """The run's tool calls, where the channel shows them as rows."""
        return self.progress.calls if self._shows_calls else ()

    @property
    def _text(self) -> str:
        calls = self._shows_calls
        return self.progress.text(
            self._clock.time(), self._room, calls=not calls, seconds=calls and not self._counts_calls
        )

    @property
    def _room(self) -> int:
        """Characters of the answer to show.

        None while edits are scarce: the answer may then be a separate message, with the same text in both for a while.
        """
        return 0 if self._limiter.edit_queue(self._chat) else self._limits.max_text * 3 // 4

    @property
    def _has_written(self) -> bool:
        """True if other messages went to the chat since the run began, such as a card or a picture."""
        return self._masked_channel.wrote_since(self._chat, self._newest_before)

    @property
    def _shows_words_early(self) -> bool:
        """True unless another message of the run may be its answer; what only repeats that would be seen to vanish."""
        return (self._stream is not None or self._words_after < SHOW_AFTER) and not self._has_written

    async def _until_due(self) -> None:
        """Wait until the run has lasted 1.5 s, one of its tools 0.3 s, or its text may be shown."""
        began = self._clock.monotonic()
        while (left := began + SHOW_AFTER - self._clock.monotonic()) > MOMENT:
            may_edit = self._stream is not None or not self._limiter.edit_queue(self._chat)
            if self._words_at is not None and self._shows_words_early and may_edit:
                after = self._words_after if self._stream is None else STREAM_AFTER
                left = min(left, self._words_at + after - self._clock.monotonic())
            since = self.progress.running_since
            if since is not None:
                left = min(left, SHOW_TOOL_AFTER - (self._clock.time() - since))
            if left <= MOMENT:
                return
            self._worth_showing.clear()
            await set_within(self._worth_showing, left, self._clock)

    @property
    def _appends(self) -> bool:
        """True if the next call adds to a message that is streamed."""
        return self._stream is not None and self._stream.posted is not None and not self.progress.is_waiting

    async def _put(self, live: Live) -> bool:
        """Show it. Return False if further tries are pointless; failures do not affect the run."""
        try:
            if self._stream is None or self.progress.is_waiting:
                await self._edit(live)
            else:
                await self._append(self._stream, live)
        except MessageGone as error:
            self._stream = None
            await self._message.let_go()
            return not isinstance(error, EditsRefused)
        except ChannelError as error:
            log.info("progress not shown", run=self._run, chat=str(self._chat), reason=error.reason)
            if error.permanent:
                return False
            if error.retry_after is None:
                self._pauses_until = self._clock.monotonic() + LATER
            else:
                edit = self.posted is not None
                self._limiter.hold(self._chat, error.retry_after, edit=edit, append=edit and self._appends)
        return True

    async def _edit(self, live: Live) -> None:
        self._stream = None
        message = self._rendered(live)
        await self._message.show(message)
        self._shown = message

    async def _append(self, stream: MaskedStream, live: Live) -> None:
        """Show it by the stream, or by an edit if that has ended. Raises ChannelError."""
        has_ended = stream.posted is None and not self._limiter.begin_stream()
        try:
            if not has_ended:
                await stream.show(live)
        except StreamEnded as ended:
            log.debug("stream ended", run=self._run, chat=str(self._chat), reason=ended.reason)
            has_ended = True
        except ChannelError as error:
            if error.ambiguous and stream.posted is None:
                self._stream = None
                self._message.begun_unconfirmed(self._rendered(live))
            raise
        finally:
            if stream.posted is not None and self.posted is None:
                await self._message.take_over(stream.posted, self._rendered(live))
        if has_ended:
            if self.posted is not None and self._appends:  # an append was counted
                self._limiter.take(self._chat, edit=True)
            await self._edit(live)

    def _rendered(self, live: Live) -> OutboundMessage:
        """Return the message that shows it."""
        return OutboundMessage(
            markdown=live.text,
            buttons=stop_button(self._run, self.language),
            reply_to=self._reply_to,
            silent=self.progress.is_waiting,  # while an approval is pending, the question is what should notify
            reasoning=live.reasoning,
            calls=live.calls if self._shows_calls else (),
        )

    async def vanish(self) -> None:
        """Delete the message if the platform allows it."""
        await self._message.let_go()


def stop_button(run: str, language: Language) -> tuple[tuple[Button, ...], ...]:
    """Return the rows of buttons below a message that shows a run; no other run has the same."""
    return ((Button(label=say("stop_button", language), action=f"/stop {run[:8]}"),),)
