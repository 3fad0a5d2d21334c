"""Time and ids as injected dependencies, so that tests and replays are deterministic."""

import asyncio
import os
import time
from collections.abc import Callable
from typing import Protocol

from msgspec import Struct, field

NewId = Callable[[], str]
"""Returns an identifier that is unique."""


class Clock(Protocol):
    """Source of time."""

    def time(self) -> float:
        """Return seconds since the epoch, UTC; may jump."""

    def monotonic(self) -> float:
        """Return seconds that never go backwards; for timeouts and durations."""

    async def sleep(self, seconds: float) -> None:
        """Wait for that many seconds."""


class SystemClock:
    monotonic = staticmethod(time.monotonic)
    time = staticmethod(time.time)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


def new_id() -> str:
    """Return 32 random hex digits."""
    return os.urandom(16).hex()


class Runtime(Struct, frozen=True):
    """The time and the ids that a run uses."""

    clock: Clock = field(default_factory=SystemClock)
    new_id: NewId = new_id
