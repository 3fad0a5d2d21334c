"""The right to send to a chat, which only the process that owns the chat has."""

import asyncio
from collections.abc import Sequence, Set
from enum import Enum, auto
from typing import Protocol

from channels.base import ChatKey


class Right(Enum):
    """A process's right to send to a chat."""

    OWNED = auto()
    """The process owns the chat."""
    CLAIMED = auto()
    """The process has just claimed the chat; pending posts may have been sent by the previous owner."""
    REMOTE = auto()
    """Another process owns the chat."""


class Sending(Protocol):
    """Decides which process sends to a chat."""

    @property
    def processes(self) -> int:
        """The number of processes that send, which share a platform's global rate limits."""

    def owns(self, chat: ChatKey) -> bool:
        """Return True if this process owns a chat."""

    def keeps(self, chat: ChatKey) -> bool:
        """Return True if this process owns a chat and is not about to hand it over."""

    async def wait_leaving(self, chat: ChatKey) -> None:
        """Wait until a chat is about to be handed over, so this process must not send to it any more."""

    async def remote_chats(self) -> set[ChatKey]:
        """Return the chats that other processes own."""

    async def wait_fresh(self) -> None:
        """Wait until this process may send: at once, unless other nodes may take it for dead.

        Raises Fenced if they have.
        """

    async def right(self, chat: ChatKey) -> Right:
        """Return the right to send to a chat. A free chat is claimed."""

    async def forward(self, chat: ChatKey, keys: Sequence[str]) -> None:
        """Let the owner of a chat send these stored posts."""


class SendsAlways:
    """Implements `Sending` for a single process."""

    processes = 1

    def __init__(self) -> None:
        self._left: frozenset[ChatKey] = frozenset()
        """Chats to which nothing is sent for a moment."""
        self._changed = asyncio.Event()
        """Replaced when it is set: other chats are left."""

    def leave(self, chats: Set[ChatKey]) -> None:
        """Send nothing more to these chats, until `come_back`."""
        self._left |= chats
        self._changed.set()
        self._changed = asyncio.Event()

    def come_back(self, chats: Set[ChatKey]) -> None:
        """Send to these chats again."""
        self._left -= chats

    def owns(self, chat: ChatKey) -> bool:
        """Return True: there is no other process."""
        return True

    def keeps(self, chat: ChatKey) -> bool:
        """Return True, but for chats that are left for a moment."""
        return chat not in self._left

    async def wait_leaving(self, chat: ChatKey) -> None:
        """Wait until the chat is left for a moment."""
        while self.keeps(chat):
            await self._changed.wait()

    async def remote_chats(self) -> set[ChatKey]:
        """Return an empty set: there is no other process."""
        return set()

    async def wait_fresh(self) -> None:
        """Return at once."""

    async def right(self, chat: ChatKey) -> Right:
        """Return that all chats are owned."""
        return Right.OWNED

    async def forward(self, chat: ChatKey, keys: Sequence[str]) -> None:
        """Do nothing: there is no other process."""
