"""Clocks for tests: one that never waits, and one that is moved by hand."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from agent_core.clock import SystemClock


class OffsetClock(SystemClock):
    """The system clock plus `ahead` seconds; sleeps are real."""

    def __init__(self, ahead: float = 0.0) -> None:
        self.ahead = ahead

    @classmethod
    def at(cls, moment: float) -> "OffsetClock":
        """Return a clock that starts at this moment, in seconds since the epoch."""
        return cls(moment - time.time())

    def time(self) -> float:
        return super().time() + self.ahead


class FakeClock:
    """Clock on which sleeping moves the time on at once and lets other tasks run.

    A task that sleeps in a loop, such as a typing indicator, advances it without end while others wait for the disk, so
    that a limit on their time is reached at random. A whole Parley is therefore not started with it: give that an
    `OffsetClock`, or a `HandClock` that the test moves.
    """

    def __init__(self) -> None:
        self.now = 1_000.0
        self.slept: list[float] = []

    def time(self) -> float:
        return self.now

    def monotonic(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds
        await asyncio.sleep(0)


@dataclass
class _Sleeper:
    until: float
    woken: asyncio.Event = field(default_factory=asyncio.Event)


class HandClock(FakeClock):
    """Clock on which sleepers wait until `advance` has moved the time far enough."""

    def __init__(self) -> None:
        super().__init__()
        self._sleepers: list[_Sleeper] = []
        self._came = asyncio.Event()

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        sleeper = _Sleeper(self.now + seconds)
        self._sleepers.append(sleeper)
        self._came.set()
        try:
            await sleeper.woken.wait()
        finally:
            self._sleepers.remove(sleeper)

    async def advance(self, seconds: float) -> None:
        """Move on from one sleeper to the next, waiting before each step until a task sleeps again."""
        until = self.now + seconds
        while self.now < until:
            async with asyncio.timeout(30):
                first = await self._first_asleep()
            self.now = min(until, max(self.now, first.until))
            if first.until <= until:
                first.woken.set()

    @asynccontextmanager
    async def going_on(self) -> AsyncIterator[None]:
        """Meanwhile it moves on by itself from one sleeper to the next, as often as somebody sleeps."""
        moving = asyncio.create_task(self._go_on())
        try:
            yield
        finally:
            moving.cancel()

    async def _go_on(self) -> None:
        while True:
            first = await self._first_asleep()
            self.now = max(self.now, first.until)
            first.woken.set()

    async def _first_asleep(self) -> _Sleeper:
        """Return the sleeper to wake first, once all other tasks have run."""
        while True:
            for _ in range(20):
                await asyncio.sleep(0)
            if sleepers := [sleeper for sleeper in self._sleepers if not sleeper.woken.is_set()]:
                return min(sleepers, key=lambda sleeper: sleeper.until)
            self._came.clear()
            await self._came.wait()
