"""Waits between tries, which grow while nothing succeeds."""

import asyncio
import random

FIRST_WAIT = 0.5
LONGEST_WAIT = 3.0
"""Seconds: short enough to be back within 5 s of the network."""


class Backoff:
    """Waits that double, with jitter, until something succeeds."""

    def __init__(self) -> None:
        self._next = FIRST_WAIT

    def reset(self) -> None:
        self._next = FIRST_WAIT

    async def wait(self, at_least: float = 0.0) -> None:
        seconds = max(at_least, self._next)
        self._next = min(2 * self._next, LONGEST_WAIT)
        await asyncio.sleep(seconds * random.uniform(1.0, 1.3))  # noqa: S311
