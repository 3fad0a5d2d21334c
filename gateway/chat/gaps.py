"""Tracks chats with a history gap: older messages may be unread there, so newer ones wait."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

from agent_core.background import set_within
from agent_core.clock import Clock
from channels.base import ChatKey
from channels.capabilities import Concerns, everywhere
from gateway.store.read_marks import NotedGap

LONGEST_WAIT = 60.0
"""Seconds that a message waits for a gap to be read; then the chat is answered in spite of it."""
ASK_EVERY = 5.0
"""Seconds that a message waits until the rows are looked at again, as news of a gap may have been lost."""


class Reader(Protocol):
    """Reads the history of a platform."""

    def overdue(self, chat: ChatKey) -> None:
        """Report a chat that is answered because its gap was not read in time."""

    def found(self, gaps: Mapping[ChatKey, NotedGap]) -> None:
        """Read those of the noted gaps that are not about to be read, each after its chat's mark."""


class Gaps:
    """Shared by the history reader, which opens and closes gaps, and by the chats, which wait for them."""

    def __init__(self, clock: Clock, platforms: Iterable[str]) -> None:
        """`platforms` are those whose history is read. All their chats count as having a gap until `listed`."""
        self._clock = clock
        self._unlisted = set(platforms)
        self._read_here: dict[str, Concerns] = {}
        """The chats whose history this process reads, by platform."""
        self._open: set[ChatKey] = set()
        self._noting: set[ChatKey] = set()
        """Chats with a gap that is not in the rows yet."""
        self._opened: set[ChatKey] = set()
        """Chats whose gap was opened here since `look`."""
        self._closed: set[ChatKey] = set()
        """Chats whose gap was closed here since `look`."""
        self._waiting: dict[ChatKey, asyncio.Event] = {}
        """Chats with waiting messages, longest waiting first. The event is set once they need not wait any more."""
        self._readers: dict[str, Reader] = {}
        """By platform."""
        self._left: Callable[[str], None] | None = None
        self._asked: Callable[[str], None] | None = None
        self.let_go: set[ChatKey] = set()
        """Chats that are answered in spite of their gap."""

    def read_by(self, platform: str, reader: Reader) -> None:
        """Register what reads a platform's history in this process."""
        self._readers[platform] = reader

    def on_left(self, look: Callable[[str], None]) -> None:
        """Register a callback for each platform whose history another process reads from now on."""
        self._left = look

    def on_waiting(self, ask: Callable[[str], None]) -> None:
        """Register a callback for each platform on which a message has waited for `ASK_EVERY` seconds."""
        self._asked = ask

    def is_open(self, chat: ChatKey) -> bool:
        return chat.platform in self._unlisted or chat in self._open

    def holds(self, chat: ChatKey) -> bool:
        """Return True if messages of the chat have to wait."""
        return self.is_open(chat) and chat not in self.let_go

    @property
    def awaited(self) -> list[ChatKey]:
        """Chats with waiting messages, longest waiting first."""
        return list(self._waiting)

    async def closed(self, chat: ChatKey) -> None:
        """Wait until messages of the chat need not wait any more; give the gap up after `LONGEST_WAIT` seconds."""
        patience = LONGEST_WAIT
        while self.holds(chat):
            event = self._waiting.setdefault(chat, asyncio.Event())
            if await set_within(event, ASK_EVERY, self._clock):
                continue
            patience -= ASK_EVERY
            if patience > 0:
                if self._asked is not None:
                    self._asked(chat.platform)
            else:
                self.give_up(chat)
                if reader := self._readers.get(chat.platform):
                    reader.overdue(chat)

    def reopen(self, platform: str, concerns: Concerns = everywhere, reads: Concerns = everywhere) -> None:
        """Mark all chats of a platform as possibly having a gap, after a time without a connection for some.

        From now on the history of those that `reads` names is read here.
        """
        self._read_here[platform] = reads
        self._unlisted.add(platform)
        self.let_go = {chat for chat in self.let_go if chat.platform != platform or not concerns(chat)}

    def listed(self, platform: str, chats: Iterable[ChatKey], concerns: Concerns = everywhere) -> None:
        """Record that of the platform's chats concerned only these have a gap."""
        self._unlisted.discard(platform)
        kept = [chat for chat in self.of(platform) if chat in self._noting or not concerns(chat)]
        self._set_open(platform, [*chats, *kept])

    def leave(self, platform: str) -> None:
        """Leave the platform's history to another process. All chats count as having a gap until `follow`."""
        self._read_here.pop(platform, None)
        self._unlisted.add(platform)
        if self._left is not None:
            self._left(platform)

    def of(self, platform: str) -> list[ChatKey]:
        """Return the platform's chats that are known to have a gap."""
        return [chat for chat in self._open if chat.platform == platform]

    def is_listed(self, platform: str) -> bool:
        """Return True if it is known which of the platform's chats have a gap."""
        return platform not in self._unlisted

    def reads(self, platform: str) -> bool:
        """Return True if the history of some of the platform's chats is read here."""
        return platform in self._read_here

    def is_read_here(self, chat: ChatKey) -> bool:
        reads = self._read_here.get(chat.platform)
        return reads is not None and reads(chat)

    def follow(self, platform: str, rows: Mapping[ChatKey, NotedGap]) -> None:
        """Open and close gaps as the rows say, which were read after `look`.

        Gaps that this process has opened since `look`, or has not written to the rows yet, stay open, and those that it
        has closed since `look` stay closed. Where it reads the history itself, it closes none, and reads those that it
        is not about to read.

        Args:
            platform: The platform whose rows were read.
            rows: The gaps of its chats.
        """
        chats = {chat: gap for chat, gap in rows.items() if chat not in self._closed}
        if platform in self._read_here:
            self._readers[platform].found({chat: gap for chat, gap in chats.items() if self.is_read_here(chat)})
        else:
            self._unlisted.discard(platform)
        here = {chat for chat in self.of(platform) if self.is_read_here(chat)}
        kept = {chat for chat in self.of(platform) if chat in self._opened or chat in self._noting}
        self._set_open(platform, here | kept | {chat for chat in chats if not self.is_read_here(chat)})
        self.let_go = {
            chat for chat in self.let_go if chat.platform != platform or chat in self._open or self.is_read_here(chat)
        }

    def look(self) -> None:
        """Remember what is opened and closed here from now on: the rows that are read next may not say so yet."""
        self._opened, self._closed = set(), set()

    def open(self, chat: ChatKey) -> None:
        self._open.add(chat)
        self._opened.add(chat)
        self._closed.discard(chat)

    def begin_noting(self, chat: ChatKey) -> bool:
        """Open a gap that is about to be written to the rows. Return False if that is being done already."""
        self.open(chat)
        is_new = chat not in self._noting
        self._noting.add(chat)
        return is_new

    def end_noting(self, chat: ChatKey, *, is_noted: bool) -> None:
        """Keep the gap open as the rows say from now on, if it is in them."""
        self._noting.discard(chat)
        if is_noted:
            self.open(chat)

    def close(self, chat: ChatKey) -> None:
        """Record that the chat's gap has been read, unless it has one again that is not in the rows yet."""
        if chat in self._noting:
            return
        self._open.discard(chat)
        self._opened.discard(chat)
        self._closed.add(chat)
        self.let_go.discard(chat)
        self._wake(chat)

    def give_up(self, chat: ChatKey) -> None:
        """Answer the chat in spite of its gap."""
        self.let_go.add(chat)
        self._wake(chat)

    def _set_open(self, platform: str, chats: Iterable[ChatKey]) -> None:
        self._open = {chat for chat in self._open if chat.platform != platform} | set(chats)
        for chat in [chat for chat in self._waiting if chat.platform == platform and not self.holds(chat)]:
            self._wake(chat)

    def _wake(self, chat: ChatKey) -> None:
        if event := self._waiting.pop(chat, None):
            event.set()
