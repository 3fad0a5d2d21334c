"""The pace of all calls together, which the SDK learns of only by being refused."""

import asyncio
import time
from collections import deque

CALLS, SECONDS = 45, 1.0
"""Discord allows 50 in a second, answers to interactions left out; the rest is for the SDK's own second tries."""


class Pace:
    """First come, first served; no stretch of a second has more calls than that."""

    def __init__(self) -> None:
        self._made: deque[float] = deque(maxlen=CALLS)
        self._line = asyncio.Lock()

    @property
    def is_full(self) -> bool:
        """Whether a call would have to wait."""
        full = len(self._made) == CALLS and self._made[0] + SECONDS > time.monotonic()
        return full or self._line.locked()

    async def wait(self) -> None:
        """Return when a call may be made; it counts."""
        async with self._line:
            if len(self._made) == CALLS:
                await asyncio.sleep(self._made[0] + SECONDS - time.monotonic())
            self._made.append(time.monotonic())
