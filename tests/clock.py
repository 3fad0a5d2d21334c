"""The clocks of `parley.testing`, by the name that our own tests have for them, and one more."""

from agent_core.clock import SystemClock
from parley.testing.clocks import FakeClock, HandClock, OffsetClock

__all__ = ["FakeClock", "HandClock", "Hasty", "OffsetClock"]


class Hasty(SystemClock):
    """The system clock, but a wait of just this many seconds is over at once: a limit is reached."""

    def __init__(self, limit: float) -> None:
        self._limit = limit

    async def sleep(self, seconds: float) -> None:
        await super().sleep(0.01 if seconds == self._limit else seconds)
