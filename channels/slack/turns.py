"""What is said in one chat goes on in the order in which it was said, though two web sockets bring it."""

import asyncio
import itertools
import weakref
from bisect import insort
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

SETTLE_SECONDS = 0.01
"""How much later the earlier of two may come, on the other socket."""


class _Line:
    def __init__(self) -> None:
        self.waiting: list[tuple[float, int]] = []
        self.moved = asyncio.Condition()


class Turns:
    def __init__(self, settle: float = SETTLE_SECONDS) -> None:
        self._settle = settle
        self._lines: weakref.WeakValueDictionary[str, _Line] = weakref.WeakValueDictionary()
        self._numbers = itertools.count()

    @asynccontextmanager
    async def of(self, chat: str, at: float) -> AsyncIterator[None]:
        """Enter when nothing is left in the chat that was said before `at`. What follows this without a pause keeps
        the order too."""
        line = self._lines.setdefault(chat, _Line())
        place = (at, next(self._numbers))
        insort(line.waiting, place)
        try:
            await asyncio.sleep(self._settle)
            async with line.moved:
                await line.moved.wait_for(lambda: line.waiting[0] == place)
                try:
                    yield
                finally:
                    line.waiting.remove(place)
                    line.moved.notify_all()
        finally:
            if place in line.waiting:  # cancelled; whoever is behind it is next
                line.waiting.remove(place)
                async with line.moved:
                    line.moved.notify_all()
