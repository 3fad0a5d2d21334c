"""Tracks chats with a history gap: older messages may be unread there, so newer ones wait."""

import asyncio
from collections.abc import Callable, Iterable

from agent_core.background import set_within
from agent_core.clock import Clock
from channels.base import ChatKey

LONGEST_WAIT = 60.0
"""Seconds that a message waits for a gap to be read; then the chat is answered in spite of it."""


class Gaps:
    """Shared by the history reader, which opens and closes gaps, and by the chats, which wait for them."""

    def __init__(self, clock: Clock, platforms: Iterable[str]) -> None:
        """`platforms` are those whose history is read. All their chats count as having a gap until `listed`."""
        self._clock = clock
        self._unlisted = set(platforms)
        self._open: set[ChatKey] = set()
        self._waiting: dict[ChatKey, asyncio.Event] = {}
        """Chats with waiting messages, longest waiting first. The event is set once they need not wait any more."""
        self._overdue: dict[str, Callable[[ChatKey], None]] = {}
        self.let_go: set[ChatKey] = set()
        """Chats that are answered in spite of their gap."""

    def on_overdue(self, platform: str, tell: Callable[[ChatKey], None]) -> None:
        """Register a callback for each chat that is answered because its gap was not read in time."""
        self._overdue[platform] = tell

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
        while self.holds(chat):
            event = self._waiting.setdefault(chat, asyncio.Event())
            if not await set_within(event, LONGEST_WAIT, self._clock):
                self.give_up(chat)
                if tell := self._overdue.get(chat.platform):
                    tell(chat)

    def reopen(self, platform: str) -> None:
        """Mark all chats of a platform as possibly having a gap, after a time without a connection."""
        self._unlisted.add(platform)
        self.let_go = {chat for chat in self.let_go if chat.platform != platform}

    def listed(self, platform: str, chats: Iterable[ChatKey]) -> None:
        """Record that only these chats of the platform have a gap."""
        self._unlisted.discard(platform)
        self._open = {chat for chat in self._open if chat.platform != platform} | set(chats)
        for chat in [chat for chat in self._waiting if chat.platform == platform and not self.holds(chat)]:
            self._wake(chat)

    def open(self, chat: ChatKey) -> None:
        self._open.add(chat)

    def close(self, chat: ChatKey) -> None:
        """Record that the chat's gap has been read."""
        self._open.discard(chat)
        self.let_go.discard(chat)
        self._wake(chat)

    def give_up(self, chat: ChatKey) -> None:
        """Answer the chat in spite of its gap."""
        self.let_go.add(chat)
        self._wake(chat)

    def _wake(self, chat: ChatKey) -> None:
        if event := self._waiting.pop(chat, None):
            event.set()
