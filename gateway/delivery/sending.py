"""The right to send to a chat, where several processes share the chats."""

import asyncio
from collections.abc import Sequence
from enum import Enum, auto
from typing import Protocol

from channels.base import ChatKey


class Right(Enum):
    """A process's right to send to a chat."""

    HELD = auto()
    """It works on the chat."""
    NEW = auto()
    """It works on the chat from now on; what waited there before may have been sent meanwhile."""
    ELSEWHERE = auto()
    """Another process works on the chat."""


class Sending(Protocol):
    """Decides which process sends to a chat."""

    @property
    def processes(self) -> int:
        """The number of processes that send, among which the limits of a platform for all chats are shared out."""

    def owns(self, chat: ChatKey) -> bool:
        """Return True if this process works on a chat."""

    def keeps(self, chat: ChatKey) -> bool:
        """Return True if this process works on a chat, and is not about to leave it to another one."""

    async def left(self, chat: ChatKey) -> None:
        """Return once this process is not to send to a chat any more, because another one is to."""

    async def elsewhere(self) -> set[ChatKey]:
        """Return the chats that other processes work on."""

    async def fresh(self) -> None:
        """Return when this process certainly may send, which is at once unless it may have been taken for dead.

        Raises Fenced once others have taken over.
        """

    async def right(self, chat: ChatKey) -> Right:
        """Return the right to send to a chat. A chat that nobody works on is taken over."""

    async def pass_on(self, chat: ChatKey, keys: Sequence[str]) -> None:
        """Let the process that works on a chat send these stored posts."""


class SendsAlways:
    """Implements `Sending` for a process that is alone."""

    processes = 1

    def owns(self, chat: ChatKey) -> bool:
        """Return True: there is nobody else."""
        return True

    def keeps(self, chat: ChatKey) -> bool:
        """Return True: there is nobody else."""
        return True

    async def left(self, chat: ChatKey) -> None:
        """Wait for ever: there is nobody else."""
        await asyncio.Event().wait()

    async def elsewhere(self) -> set[ChatKey]:
        """Return nothing."""
        return set()

    async def fresh(self) -> None:
        """Return at once."""

    async def right(self, chat: ChatKey) -> Right:
        """Return that all chats are held."""
        return Right.HELD

    async def pass_on(self, chat: ChatKey, keys: Sequence[str]) -> None:
        """Do nothing: there is nobody else."""
