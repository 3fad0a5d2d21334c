"""Time and identity, handed in, so that tests and replays are deterministic."""

import asyncio
import os
import time
from collections.abc import Callable
from typing import Protocol

NewId = Callable[[], str]
"""Makes an identifier that no other call returns."""


class Clock(Protocol):
    """What the program may know about time."""

    def time(self) -> float:
        """Seconds since the epoch, UTC; may jump."""

    def monotonic(self) -> float:
        """Seconds that only grow; for timeouts and durations."""

    async def sleep(self, seconds: float) -> None:
        """Return after that many seconds."""


class SystemClock:
    """The machine's own clock."""

    def time(self) -> float:
        return time.time()

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


def new_id() -> str:
    """32 hex digits, random."""
    return os.urandom(16).hex()
