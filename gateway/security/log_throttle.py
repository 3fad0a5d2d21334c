"""Limits how often a log line is written that outsiders can trigger at will."""

import time
from collections.abc import Callable

EVERY = 60.0
"""Default interval, in seconds."""


class LogThrottle:
    def __init__(self, every: float = EVERY, now: Callable[[], float] = time.monotonic) -> None:
        self._every = every
        self._now = now
        self._last: float | None = None

    def is_due(self) -> bool:
        """Return True if the line may be written now, and start the next interval."""
        now = self._now()
        if self._last is not None and now - self._last < self._every:
            return False
        self._last = now
        return True
