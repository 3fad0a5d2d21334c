"""The message that shows a run's progress, edited in place as often as the channel's `Limits.edit_every` allows."""

import asyncio
from contextlib import suppress

import structlog

from agent_core.background import set_within
from agent_core.clock import Clock
from agent_core.events import AgentEvent, ToolExecutionStart
from agent_core.origin import CLEAN, NOT_KNOWN
from channels.base import Button, ChannelError, EditsRefused, MessageGone, OutboundMessage, Posted
from channels.capabilities import Deletes
from channels.values import CallRow
from gateway.delivery.limiter import MOMENT, STEP_BACK, ChatLimiter
from gateway.delivery.progress import Progress
from gateway.delivery.reasoning import Reasoning
from gateway.security.masked_channel import MaskedChannel
from gateway.store.rows import Post, Run
from gateway.store.store import Store
from gateway.texts.say import Language, say

SHOW_AFTER = 1.5
"""Seconds after which a run without an answer is shown."""
SHOW_TOOL_AFTER = 0.3
"""Seconds after which a running tool call is shown, sooner than `SHOW_AFTER`."""
TICK = 1.0
"""Seconds between updates of running tools' durations."""
YOUNG = 10.0
"""Age in seconds up to which a progress message becomes the answer; editing an older one would go unnoticed."""
SOON = 2.0
"""Longest wait of an edit for other chats, in seconds. Beyond it the answer is a new message, and the progress message
is deleted rather than folded."""
LATER = 3.0
"""Seconds to leave a chat alone after a failed call, if the platform named no delay."""

log = structlog.get_logger(__name__)


class ProgressMessage:
    """Shows one run. `apply` takes its events; `stop` ends the edits and leaves the message as it is."""

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
        self.posted = posted
        """The message in the chat, if any."""
        self._masked_channel = masked_channel
        self._chat = run.chat
        self._run = run.id
        self._reply_to = run.reply_to
        self._limiter = limiter
        self._store = store
        self._clock = clock
        self.language = language
        self._lost = 0
        """Number of this run's messages that were deleted or can no longer be edited."""
        self._began = clock.time()
        self._may_have_arrived = False
        """True if the platform may have posted the first message although the call failed."""
        self._last: OutboundMessage | None = None
        """The message last sent or tried."""
        self._shown_at: float | None = None
        self._words_after = masked_channel.channel.limits.words_after.total_seconds()
        self._shows_calls = masked_channel.channel.limits.shows_calls
        self._shown: tuple[str, str, tuple[CallRow, ...]] = "", "", ()
        self._changed = asyncio.Event()
        self._worth_showing = asyncio.Event()
        """Set when a tool starts or text arrives, which may be shown before `SHOW_AFTER`."""
        self._reasoning = Reasoning(masked_channel.secrets) if masked_channel.channel.limits.folds_reasoning else None
        self._call: asyncio.Task[bool] | None = None
        self._task = asyncio.create_task(self._show(), name=f"progress {run.id}")

    def apply(self, event: AgentEvent) -> None:
        self.progress.apply(event)
        if self._reasoning is not None:
            self._reasoning.apply(event)
        self._changed.set()
        if isinstance(event, ToolExecutionStart) or (self._words_after < SHOW_AFTER and self._has_words):
            self._worth_showing.set()

    @property
    def may_become_answer(self) -> bool:
        """True if the message is young, last in the chat, and can be edited soon.

        Others would go unnoticed: those from before a restart, and those with messages below. Where calls are rows, the
        message keeps them, whatever its age.
        """
        is_last = self.posted is not None and self._masked_channel.is_newest(self.posted)
        return (self.is_young or self._shows_calls) and is_last and self._limiter.edit_queue() < SOON

    @property
    def leaves_nothing(self) -> bool:
        """True if a message that does not become the answer is deleted instead of folded to a line.

        That is so if it was visible only for a few seconds, if the edit would have to wait for other chats, or if the
        answer has its calls.
        """
        must_wait = max(self._limiter.edit_queue(), self._limiter.queue()) >= SOON
        return self._masked_channel.deletes and (self.is_young or must_wait or self._shows_calls)

    @property
    def is_young(self) -> bool:
        """True if this process posted the message less than `YOUNG` seconds ago."""
        return self._shown_at is not None and self._clock.monotonic() - self._shown_at < YOUNG

    def promise_edit(self) -> None:
        """Reserve an edit, since the message becomes the answer."""
        self._limiter.answer(self._run)

    async def stop(self) -> None:
        """End the edits. A call in progress is awaited, since it must not overwrite what is written next."""
        self._task.cancel()
        await asyncio.wait([self._task])
        if self._call is not None:
            await asyncio.wait([self._call])
            if not self._call.cancelled() and (error := self._call.exception()) and self._task.cancelled():
                log.error("progress failed", run=self._run, chat=str(self._chat), exc_info=error)
        if self.posted is None and self._may_have_arrived:
            await self._adopt()
        if self.posted is None:
            self._limiter.settled(self._run)
        if not self._task.cancelled() and (error := self._task.exception()):
            log.error("progress failed", run=self._run, chat=str(self._chat), exc_info=error)

    async def rest(self) -> None:
        """Show the text as it is now, after `stop`, as the run waits for long."""
        shown = self._now()
        while (delay := self._limiter.delay(self._chat, edit=self.posted is not None)) > 0:
            await self._clock.sleep(delay)
        if shown != self._shown:
            self._limiter.take(self._chat, edit=self.posted is not None)
            await self._put(*shown)
        self._limiter.settled(self._run)

    async def _adopt(self) -> None:
        """Post again under the same key, to find the message whose confirmation was lost; it becomes the answer."""
        if self._last is not None and self._masked_channel.posts_once:
            self._limiter.take(self._chat)
            with suppress(ChannelError):
                await self._post(self._last)

    async def _show(self) -> None:
        if self.posted is None:
            await self._until_due()
        else:
            self._limiter.show(self._run)
        while True:
            if self.posted is None and not self._limiter.show(self._run):
                await self._clock.sleep(STEP_BACK)
                continue
            # One call is kept free, so that the answer need not wait for progress.
            delay = self._limiter.delay(self._chat, keep=1, edit=self.posted is not None)
            if delay > 0:
                await self._clock.sleep(delay)
                continue
            self._changed.clear()
            shown = self._now()
            if shown != self._shown:
                self._limiter.take(self._chat, edit=self.posted is not None)
                self._call = asyncio.create_task(self._put(*shown))
                if not await asyncio.shield(self._call):
                    return
            await set_within(self._changed, TICK, self._clock)

    def _now(self) -> tuple[str, str, tuple[CallRow, ...]]:
        return self._text, self._reasoning.text if self._reasoning is not None else "", self.calls

    @property
    def calls(self) -> tuple[CallRow, ...]:
        """The run's tool calls, where the channel shows them as rows."""
        return self.progress.calls if self._shows_calls else ()

    @property
    def _text(self) -> str:
        return self.progress.text(self._clock.time(), self._room, calls=not self._shows_calls)

    @property
    def _room(self) -> int:
        """Characters of the answer to show.

        None while edits are scarce: the answer may then be a separate message, with the same text in both for a while.
        """
        return 0 if self._limiter.edit_queue() else self._masked_channel.channel.limits.max_text * 3 // 4

    @property
    def _has_words(self) -> bool:
        """True if the model has produced text or reasoning to show."""
        return self.progress.has_words or (self._reasoning is not None and self._reasoning.has_begun)

    async def _until_due(self) -> None:
        """Wait until the run has lasted 1.5 s, one of its tools 0.3 s, or its text may be shown."""
        began = self._clock.monotonic()
        while (left := began + SHOW_AFTER - self._clock.monotonic()) > MOMENT:
            if self._has_words:
                left = min(left, began + self._words_after - self._clock.monotonic())
            since = self.progress.running_since
            if since is not None:
                left = min(left, SHOW_TOOL_AFTER - (self._clock.time() - since))
            if left <= MOMENT:
                return
            self._worth_showing.clear()
            await set_within(self._worth_showing, left, self._clock)

    async def _put(self, text: str, reasoning: str, calls: tuple[CallRow, ...]) -> bool:
        """Show the text. Return False if further tries are pointless; failures do not affect the run."""
        stop = Button(label=say("stop_button", self.language), action=f"/stop {self._run[:8]}")
        # While an approval is pending, the question is what should notify.
        silent = self.progress.is_waiting
        self._last = message = OutboundMessage(
            markdown=text,
            buttons=((stop,),),
            reply_to=self._reply_to,
            silent=silent,
            reasoning=reasoning,
            calls=calls,
        )
        try:
            if self.posted is None:
                await self._post(message)
            else:
                await self._masked_channel.rewrite(self.posted, message)
        except MessageGone as error:
            await self._let_go()
            return not isinstance(error, EditsRefused)
        except ChannelError as error:
            self._may_have_arrived |= error.ambiguous
            log.info("progress not shown", run=self._run, chat=str(self._chat), reason=error.reason)
            if error.permanent:
                return False
            told = error.retry_after
            wait = LATER if told is None else told
            self._limiter.hold(self._chat, wait, edit=self.posted is not None and told is not None)
        else:
            self._shown = text, reasoning, calls
        return True

    async def vanish(self) -> None:
        """Delete the message if the platform allows it."""
        await self._let_go()

    async def _let_go(self) -> None:
        """Give up a message that cannot be edited any more, and delete it if the platform allows it."""
        gone, self.posted = self.posted, None
        self._lost += 1
        if gone is not None and isinstance(self._masked_channel.channel, Deletes):
            with suppress(ChannelError):
                await self._masked_channel.channel.delete(gone)

    async def _post(self, message: OutboundMessage) -> None:
        """Post the first message, or another after a loss under a new key: the old one may return the lost message."""
        key = f"{self._run}:progress:0"
        fresh = f"{key}.{self._lost}" if self._lost else key
        found = None
        if self._may_have_arrived:
            known = await self._store.outbox.known(Post(key, self._run, self._chat, message, CLEAN, at=self._began))
            found = (await self._masked_channel.find(self._chat, message, fresh, known)).found
        self.posted = found or await self._masked_channel.post(self._chat, message, fresh)
        self._shown_at = self._clock.monotonic()
        # the calls of a task stand in it before the task's report brings their origin into the run
        await self._store.outbox.shown(Post(key, self._run, self._chat, message, NOT_KNOWN), self.posted.message_id)
