"""The one message that shows a run's progress, edited in place and never faster than the platform allows."""

import asyncio
from contextlib import suppress

import structlog

from agent_core.clock import Clock
from agent_core.events import AgentEvent, ToolExecutionStart
from channels.base import Button, ChannelError, ChatKey, MessageGone, OutboundMessage, Posted
from gateway.limiter import MOMENT, ChatLimiter
from gateway.progress import Progress
from gateway.sending import Voice
from gateway.store.rows import Post
from gateway.store.store import Store
from gateway.texts import Language, say

SHOW_AFTER = 1.5
"""Seconds after which a run without an answer is shown."""
SHOW_TOOL_AFTER = 0.3
"""A tool that takes longer than that is shown at once."""
TICK = 1.0
"""How often running tools' seconds move on."""
YOUNG = 10.0
"""A progress message younger than that becomes the answer; under an older one the answer would not be noticed."""
SOON = 2.0
"""Seconds that an answer may wait to become an edit; where the edits of all chats are too many, it is a new message."""
LATER = 3.0
"""How long to leave a chat alone after a call that failed without saying for how long."""

log = structlog.get_logger(__name__)


class ProgressMessage:
    """Shows one run. `apply` takes its events; `stop` ends the edits and leaves `posted` as it stands."""

    def __init__(
        self,
        *,
        voice: Voice,
        chat: ChatKey,
        run: str,
        limiter: ChatLimiter,
        store: Store,
        clock: Clock,
        language: Language,
        reply_to: str | None = None,
        posted: Posted | None = None,
    ) -> None:
        self.progress = Progress(language, voice.secrets)
        self.posted = posted
        """The message on the screen, if there is one; given where a run goes on after a restart."""
        self._voice = voice
        self._chat = chat
        self._run = run
        self._limiter = limiter
        self._store = store
        self._clock = clock
        self._language = language
        self._reply_to = reply_to
        self._lost = 0
        """How many messages of this run are gone from the screen."""
        self._may_have_arrived = False
        """Whether the answer to a first send was lost."""
        self._last: OutboundMessage | None = None
        """What was tried last."""
        self._shown_at: float | None = None
        self._shown = ""
        self._changed = asyncio.Event()
        self._tool_started = asyncio.Event()
        self._call: asyncio.Task[bool] | None = None
        self._task = asyncio.create_task(self._show(), name=f"progress {run}")

    def apply(self, event: AgentEvent) -> None:
        self.progress.apply(event)
        self._changed.set()
        if isinstance(event, ToolExecutionStart):
            self._tool_started.set()

    @property
    def may_become_answer(self) -> bool:
        """Whether people still look at it, as they do not at one from before a restart or above a file that was sent
        since, and an edit is soon made."""
        young = self._shown_at is not None and self._clock.monotonic() - self._shown_at < YOUNG
        is_last = self.posted is not None and self._voice.spoke_last(self.posted)
        return young and is_last and self._limiter.edit_queue() < SOON

    def promise_edit(self) -> None:
        """It becomes the answer."""
        self._limiter.promise_edit()

    async def stop(self) -> None:
        """No more edits. A call under way is waited for: it must not overtake what is written next."""
        self._task.cancel()
        await asyncio.wait([self._task])
        if self._call is not None:
            await asyncio.wait([self._call])
        if self.posted is None and self._may_have_arrived:
            await self._adopt()
        if not self._task.cancelled() and (error := self._task.exception()):
            log.error("progress failed", run=self._run, chat=str(self._chat), exc_info=error)

    async def _adopt(self) -> None:
        """The answer to the first send was lost, and nothing was sent since: what stands there becomes the answer."""
        if self._last is not None and self._voice.posts_once:
            self._limiter.take(self._chat)
            with suppress(ChannelError):
                await self._post(self._last)

    async def _show(self) -> None:
        if self.posted is None:
            await self._until_due()
        while True:
            # One call is kept free, so that the answer never waits for progress.
            delay = self._limiter.delay(self._chat, keep=1, edit=self.posted is not None)
            if delay > 0:
                await self._clock.sleep(delay)
                continue
            self._changed.clear()
            text = self.progress.text(self._clock.time(), self._room)
            if text != self._shown:
                self._limiter.take(self._chat, edit=self.posted is not None)
                self._call = asyncio.create_task(self._put(text))
                if not await asyncio.shield(self._call):
                    return
            await self._until(self._changed, TICK)

    @property
    def _room(self) -> int:
        """Characters of the answer to show: none where edits are scarce, for then the answer may be a message of its
        own, and its words would stand there twice until this one can be folded."""
        return 0 if self._limiter.edit_queue() else self._voice.channel.limits.max_text * 3 // 4

    async def _until_due(self) -> None:
        """Return when the run has lasted 1.5 s, or one of its tools 0.3 s."""
        due = self._clock.monotonic() + SHOW_AFTER
        while (left := due - self._clock.monotonic()) > MOMENT:
            since = self.progress.running_since
            if since is not None:
                left = min(left, SHOW_TOOL_AFTER - (self._clock.time() - since))
                if left <= MOMENT:
                    return
            self._tool_started.clear()
            await self._until(self._tool_started, left)

    async def _until(self, event: asyncio.Event, seconds: float) -> None:
        """Wait for the event, but no longer than that."""
        tasks = [asyncio.create_task(event.wait()), asyncio.create_task(self._clock.sleep(seconds))]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()

    async def _put(self, text: str) -> bool:
        """Show the text; False where it is no use to go on. Progress is a courtesy: its failure fails nothing."""
        stop = Button(label=say("stop_button", self._language), action="/stop")
        # While people are asked something, the question is what they should hear of.
        silent = self.progress.is_waiting
        self._last = message = OutboundMessage(
            markdown=text, buttons=((stop,),), reply_to=self._reply_to, silent=silent
        )
        try:
            if self.posted is None:
                await self._post(message)
            else:
                await self._voice.rewrite(self.posted, message)
        except MessageGone:
            self.posted = None
            self._lost += 1
        except ChannelError as error:
            self._may_have_arrived |= error.ambiguous
            log.info("progress not shown", run=self._run, chat=str(self._chat), reason=error.reason)
            if error.permanent:
                return False
            told = error.retry_after
            wait = LATER if told is None else told
            self._limiter.hold(self._chat, wait, edit=self.posted is not None and told is not None)
        else:
            self._shown = text
        return True

    async def _post(self, message: OutboundMessage) -> None:
        """The first time. A key that was used brings back the message that is gone, where the platform keeps keys."""
        key = f"{self._run}:progress:0"
        fresh = f"{key}.{self._lost}" if self._lost else key
        found = await self._voice.find(self._chat, message, fresh) if self._may_have_arrived else None
        self.posted = found or await self._voice.post(self._chat, message, fresh)
        self._shown_at = self._clock.monotonic()
        await self._store.shown(Post(key, self._run, self._chat, message), self.posted.message_id)
