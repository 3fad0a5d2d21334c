"""Time for tests: one clock that never waits, one that is moved by hand."""

import asyncio
from dataclasses import dataclass, field


class FakeClock:
    """Sleeping moves it on at once, and lets others run."""

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
    """Sleepers wait until `advance` has moved it so far."""

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
        """Move on from one sleeper to the next; before each step, wait until somebody sleeps again."""
        until = self.now + seconds
        while self.now < until:
            first = min(await self._asleep(), key=lambda sleeper: sleeper.until)
            self.now = min(until, max(self.now, first.until))
            if first.until <= until:
                first.woken.set()

    async def _asleep(self) -> list[_Sleeper]:
        """Who sleeps once everybody who can has run."""
        async with asyncio.timeout(5):
            while True:
                for _ in range(20):
                    await asyncio.sleep(0)
                if sleepers := [sleeper for sleeper in self._sleepers if not sleeper.woken.is_set()]:
                    return sleepers
                self._came.clear()
                await self._came.wait()
