"""How often a method may be called: so many a minute, and some at once after a rest."""

import asyncio
import time


class Pace:
    """Calls pass in the order in which they come."""

    def __init__(self, per_minute: float, burst: int) -> None:
        self._interval = 60.0 / per_minute
        self._tolerance = self._interval * (burst - 1)
        self._due = 0.0
        """When the next call would be due, had all been evenly spread."""
        self._held_until = 0.0

    def hold(self, seconds: float) -> None:
        """We were told to wait: nobody calls before that, nor do all at once then."""
        self._held_until = max(self._held_until, time.monotonic() + seconds)
        self._due = max(self._due, self._held_until + self._tolerance)

    def take(self) -> bool:
        """Take a call if one may pass right now."""
        now = time.monotonic()
        if self._due - self._tolerance > now:
            return False
        self._due = max(self._due, now) + self._interval
        return True

    async def wait(self) -> None:
        """Take the next call, and return when it may pass."""
        now = time.monotonic()
        passes = max(now, self._due - self._tolerance)
        self._due = max(self._due, now) + self._interval
        if passes > now:
            await asyncio.sleep(passes - now)
        held = self._held_until - time.monotonic()
        if held > 0:
            await asyncio.sleep(held)
