"""Rate limit over all calls. The SDK would learn of it only from refused calls."""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable

CALLS, SECONDS = 45, 1.0
"""Discord allows 50 calls per second, interaction responses excluded; the rest is for typing indicators and the SDK's
own retries."""
SIGNS = 3
"""Optional calls per second within these 50, with places of their own so that answers do not wait for them."""


class Pace:
    """Grants calls in order, at most `CALLS` in any period of `SECONDS`."""

    def __init__(
        self,
        now: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._now = now
        self._sleep = sleep
        self._made: deque[float] = deque(maxlen=CALLS)
        self._signs: deque[float] = deque(maxlen=SIGNS)
        self._line = asyncio.Lock()

    def take(self) -> bool:
        """Take an optional call if neither it nor another call has to wait; return True if so."""
        now = self._now()
        if self._line.locked() or _wait(self._made, now) > 0 or _wait(self._signs, now) > 0:
            return False
        self._signs.append(now)
        return True

    async def wait(self) -> None:
        """Wait until a call may be made, and count it."""
        async with self._line:
            if (left := _wait(self._made, self._now())) > 0:
                await self._sleep(left)
            self._made.append(self._now())


def _wait(made: deque[float], now: float) -> float:
    """Return the seconds until another call is allowed."""
    return made[0] + SECONDS - now if len(made) == made.maxlen else 0.0
