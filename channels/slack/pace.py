"""Rate limit for one method: calls per minute, with a burst after a rest."""

import asyncio
import time


class Pace:
    """Grants calls in the order of their requests."""

    def __init__(self, per_minute: float, burst: int) -> None:
        self._interval = 60.0 / per_minute
        self._tolerance = self._interval * (burst - 1)
        self._due = 0.0
        """Time at which the next call would be due if all were evenly spread."""
        self._line = asyncio.Lock()

    def hold(self, seconds: float) -> None:
        """Wait as Slack asked, and allow no burst afterwards."""
        self._due = max(self._due, time.monotonic() + seconds + self._tolerance)

    def take(self) -> bool:
        """Take a call if it may be made right now and no other is waiting; return True if so."""
        if self._line.locked() or self._left() > 0:
            return False
        self._count()
        return True

    async def wait(self) -> None:
        """Wait until a call may be made, and count it."""
        async with self._line:
            while (left := self._left()) > 0:  # noqa: ASYNC110 (the time may move on while one sleeps)
                await asyncio.sleep(left)
            self._count()

    def _left(self) -> float:
        return self._due - self._tolerance - time.monotonic()

    def _count(self) -> None:
        self._due = max(self._due, time.monotonic()) + self._interval
