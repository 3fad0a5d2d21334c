"""Reads the history of chats with a gap, those with waiting messages first, then the most recently active."""

import asyncio
import math
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import structlog
from msgspec import Struct

from agent_core.background import set_within
from agent_core.clock import Clock
from agent_core.log_errors import Bulkhead
from channels.base import Accepted, ChannelError, ChatKey, CommandInvoked, Inbox, MessageReceived, NotTakenIn
from channels.capabilities import CatchesUp, Concerns, Shares, everywhere
from gateway.chat.gaps import LONGEST_WAIT, Gaps
from gateway.store.read_marks import NotedGap
from gateway.store.store import Store
from gateway.store.writer import may_pass

OLDEST = 24 * 3600.0
"""Age in seconds beyond which missed messages are not read."""
OVERLAP = 120.0
"""Seconds before the mark that are read again, since a dead connection is noticed late."""
AT_ONCE = 4
"""Chats read at the same time. The channel obeys its platform's rate limit."""
FIRST_DELAY = 1.0
LONGEST_DELAY = 60.0
GATHER = 5.0
"""Seconds for which failures are collected, so that owners get one message about them."""
TOO_LATE = f"not read within {LONGEST_WAIT:.0f} s"

log = structlog.get_logger(__name__)

Said = Sequence[MessageReceived | CommandInvoked]


class _Gap(Struct):
    since: float
    number: int
    """Its number in the rows when it was found: only what was noted until then is closed once it was read."""
    tries: int = 0
    not_before: float = -math.inf
    """Earliest next try, by the monotonic clock."""


class GapReader:
    """Implements `Reader`: reads the gaps of one platform's chats until cancelled.

    A failure in one chat does not affect others.
    """

    def __init__(
        self,
        *,
        name: str,
        channel: CatchesUp,
        inbox: Inbox,
        store: Store,
        clock: Clock,
        gaps: Gaps,
        tell: Callable[[str, Sequence[ChatKey]], None],
    ) -> None:
        """`tell` notifies the owners of the reason that some chats' gaps were not read."""
        self.name = name
        self._channel = channel
        self._inbox = inbox
        self._store = store
        self._clock = clock
        self._gaps = gaps
        self._tell = tell
        self._to_read: dict[ChatKey, _Gap] = {}
        """Most recently active chats first."""
        self._being_read: dict[ChatKey, _Gap] = {}
        self._paused_until = -math.inf
        self._more = asyncio.Event()
        self._troubles: dict[str, list[ChatKey]] = {}
        self._trouble = asyncio.Event()
        gaps.read_by(name, self)

    def has_gap(self, chat: ChatKey) -> bool:
        """Return True if the chat may have a gap."""
        return self._gaps.is_open(chat)

    def reopen(self, concerns: Concerns = everywhere) -> None:
        """Mark all chats of the platform as possibly having a gap, after a time without a connection for some."""
        reads = self._channel.receives if isinstance(self._channel, Shares) else everywhere
        self._gaps.reopen(self.name, concerns, reads)

    def leave(self) -> None:
        """Leave the gaps to another process."""
        self._to_read = {}
        self._gaps.leave(self.name)

    def begin(self, gaps: Mapping[ChatKey, NotedGap], earliest: float, concerns: Concerns = everywhere) -> None:
        """Set which of the chats concerned have a gap, most urgent first; nothing before `earliest` is read."""
        others = {chat: gap for chat, gap in self._to_read.items() if not concerns(chat)}
        self._to_read = {chat: _noted(gap, earliest) for chat, gap in gaps.items()} | others
        self._gaps.listed(self.name, gaps, concerns)
        self._more.set()

    def note(self, chat: ChatKey, since: float) -> None:
        """Let messages of a chat wait until the process that reads has read what came since a time.

        The row is on disk with the next message, so that this holds wherever that goes.
        """
        if self._gaps.begin_noting(chat):
            self._store.read_marks.open_gap(chat, since).add_done_callback(partial(self._was_noted, chat, since))

    def _was_noted(self, chat: ChatKey, since: float, noted: "asyncio.Future[int]") -> None:
        """Go on once rows can be written again; meanwhile the gaps may have been left to another process."""
        is_noted = not noted.cancelled() and noted.exception() is None
        self._gaps.end_noting(chat, is_noted=is_noted)
        if is_noted and self._gaps.is_read_here(chat):
            self._read_later(chat, _Gap(since, noted.result()))

    def found(self, gaps: Mapping[ChatKey, NotedGap]) -> None:
        """See `Reader.found`."""
        earliest = self._clock.time() - OLDEST
        for chat, gap in gaps.items():
            self._read_later(chat, _noted(gap, earliest))

    def _read_later(self, chat: ChatKey, gap: _Gap) -> None:
        """Read a gap, unless that is about to be done or has begun since it was noted."""
        known = [gaps[chat].number for gaps in (self._to_read, self._being_read) if chat in gaps]
        if gap.number > max(known, default=0):
            self._to_read[chat] = gap
            self._gaps.open(chat)
            self._more.set()

    async def run(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._tell_on())
            for _ in range(AT_ONCE):
                tasks.create_task(self._read_on())

    async def _read_on(self) -> None:
        while True:
            now = self._clock.monotonic()
            chat = self._most_urgent(now)
            if chat is not None:
                await self._read(chat, self._to_read.pop(chat))
                continue
            self._more.clear()
            await set_within(self._more, self._next_try(now) - now, self._clock)

    def _most_urgent(self, now: float) -> ChatKey | None:
        """Return the chat to read now, or None."""
        if self._paused_until > now:
            return None
        ready = {chat: None for chat, gap in self._to_read.items() if gap.not_before <= now}
        return next((chat for chat in (*self._gaps.awaited, *ready) if chat in ready), None)

    def _next_try(self, now: float) -> float:
        soonest = min((gap.not_before for gap in self._to_read.values()), default=now + LONGEST_DELAY)
        return max(soonest, self._paused_until)

    async def _read(self, chat: ChatKey, gap: _Gap) -> None:
        self._being_read[chat] = gap
        with Bulkhead("catching up") as bulkhead:
            try:
                await self._take_in(chat, gap, await self._channel.messages_since(chat, gap.since))
            except (ChannelError, NotTakenIn, sqlite3.Error) as error:
                if isinstance(error, sqlite3.Error) and not may_pass(error):
                    raise
                await self._failed(chat, gap, error)
            finally:
                if self._being_read.get(chat) is gap:
                    del self._being_read[chat]
        if bulkhead.error is not None:
            await self._give_up(chat, f"a mistake in Parley ({type(bulkhead.error).__name__})")

    async def _take_in(self, chat: ChatKey, gap: _Gap, said: Said) -> None:
        """Take the messages in; after an error, those taken in before it are recognised when read again.

        Raises NotTakenIn, and sqlite3.Error if the store cannot be read.
        """
        new = 0
        for event in said:
            if event.sender.is_bot:
                continue
            if event.chat != chat:  # the message begins a thread, which may contain more
                self.note(event.chat, event.at)
            new += await self._inbox(event) is Accepted.NEW
        if chat in self._to_read:  # another gap has opened meanwhile
            return
        left = await self._store.read_marks.close_gap(chat, said[-1].at if said else None, gap.number)
        if left and self._gaps.is_read_here(chat):
            self._read_later(chat, _Gap(gap.since, left))
        elif not left and chat not in self._to_read:
            self._gaps.close(chat)
        if new:
            log.info("caught up", chat=str(chat), messages=new)

    async def _failed(self, chat: ChatKey, gap: _Gap, error: ChannelError | NotTakenIn | sqlite3.Error) -> None:
        if isinstance(error, ChannelError) and error.permanent:
            await self._give_up(chat, error.reason)
            return
        log.info("catch-up not finished", chat=str(chat), reason=str(error))
        now = self._clock.monotonic()
        if isinstance(error, ChannelError) and error.retry_after is not None:
            self._paused_until = now + error.retry_after
        else:
            gap.not_before = now + min(FIRST_DELAY * 2**gap.tries, LONGEST_DELAY)
            gap.tries += 1
        if self._gaps.is_read_here(chat):  # else it was left to another process meanwhile
            self._to_read.setdefault(chat, gap)
            self._more.set()

    # Gaps that stay

    async def _give_up(self, chat: ChatKey, reason: str) -> None:
        """Answer the chat with its gap. The read mark stays, so that a later start tries again."""
        log.warning("gap not read", chat=str(chat), reason=reason)
        self._gaps.give_up(chat)
        if await self._store.read_marks.note_trouble(chat, reason):
            self._note(chat, reason)

    def overdue(self, chat: ChatKey) -> None:
        """See `Reader.overdue`. Its older messages are answered when they are read."""
        log.warning("gap not read", chat=str(chat), reason=TOO_LATE)
        self._note(chat, TOO_LATE)

    def _note(self, chat: ChatKey, reason: str) -> None:
        self._troubles.setdefault(reason, []).append(chat)
        self._trouble.set()

    async def _tell_on(self) -> None:
        while True:
            await self._trouble.wait()
            await self._clock.sleep(GATHER)
            self._trouble.clear()
            troubles, self._troubles = self._troubles, {}
            for reason, chats in troubles.items():
                self._tell(reason, chats)


def _noted(gap: NotedGap, earliest: float) -> _Gap:
    return _Gap(max(gap.at - OVERLAP, earliest), gap.number)
