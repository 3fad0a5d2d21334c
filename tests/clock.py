"""The clocks of `parley.testing`, by the name that our own tests have for them, and two more."""

from collections.abc import Callable, Mapping

from agent_core.clock import SystemClock
from parley.testing.clocks import FakeClock, HandClock, OffsetClock
from tests.process import until

__all__ = ["FakeClock", "HandClock", "Hasty", "OffsetClock", "Patient"]


class Hasty(SystemClock):
    """The system clock, but a wait of just this many seconds is over at once: a limit is reached."""

    def __init__(self, limit: float) -> None:
        self._limit = limit

    async def sleep(self, seconds: float) -> None:
        await super().sleep(0.01 if seconds == self._limit else seconds)


class Patient(SystemClock):
    """The system clock, but a wait of just so many seconds begins only once something has happened, by the seconds.

    So a limit is not reached before what it is to end has come that far.
    """

    def __init__(self, happened: Mapping[float, Callable[[], object]]) -> None:
        self._happened = happened

    async def sleep(self, seconds: float) -> None:
        if seconds in self._happened:
            await until(self._happened[seconds])
        await super().sleep(seconds)
