"""Ordering of the messages of a chat, which may arrive on two web sockets."""

import asyncio
import itertools
import weakref
from bisect import insort
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

SETTLE_SECONDS = 0.01
"""Time within which an earlier message may still arrive on the other socket."""


class _Line:
    def __init__(self) -> None:
        self.waiting: list[tuple[float, int]] = []
        self.moved = asyncio.Condition()


class Turns:
    def __init__(self, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        self._sleep = sleep
        self._lines: weakref.WeakValueDictionary[str, _Line] = weakref.WeakValueDictionary()
        self._numbers = itertools.count()

    @asynccontextmanager
    async def of(self, chat: str, at: float) -> AsyncIterator[None]:
        """Enter when all earlier messages of the chat are done. Code that follows without awaiting keeps the order
        too."""
        line = self._lines.setdefault(chat, _Line())
        place = (at, next(self._numbers))
        insort(line.waiting, place)
        try:
            await self._sleep(SETTLE_SECONDS)
            async with line.moved:
                await line.moved.wait_for(lambda: line.waiting[0] == place)
                try:
                    yield
                finally:
                    line.waiting.remove(place)
                    line.moved.notify_all()
        finally:
            if place in line.waiting:  # cancelled; let the next one continue
                line.waiting.remove(place)
                async with line.moved:
                    line.moved.notify_all()
