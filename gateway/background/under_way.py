"""Operations in progress per chat, for others to wait for."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from channels.base import ChatKey


class UnderWay:
    """Any number of operations per chat."""

    def __init__(self) -> None:
        self._over: dict[ChatKey, set[asyncio.Future[None]]] = {}

    @contextmanager
    def begun(self, chat: ChatKey) -> Iterator[None]:
        """Count an operation as in progress while the context is entered."""
        over = asyncio.get_running_loop().create_future()
        others = self._over.setdefault(chat, set())
        others.add(over)
        try:
            yield
        finally:
            over.set_result(None)
            others.discard(over)
            if not others:
                del self._over[chat]

    async def over(self, chat: ChatKey, patience: float) -> None:
        """Wait until the operations now in progress in the chat are over, for `patience` seconds at most."""
        if under_way := self._over.get(chat):
            await asyncio.wait(under_way, timeout=patience)
