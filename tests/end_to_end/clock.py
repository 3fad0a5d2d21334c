"""A clock that a test sets while the program runs, through a file with the difference to the system clock."""

import time
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from agent_core.clock import SystemClock

FILE = "clock.txt"
"""Name of the file in the program's home; without it the time is the system's."""
SEEN_AFTER = 0.05
"""Seconds after which the program notices a new time."""


class MovedClock(SystemClock):
    """The program's clock. Durations are real, only the time of day is moved."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._ahead = 0.0
        self._read: float | None = None

    def time(self) -> float:
        now = self.monotonic()
        if self._read is None or now - self._read > SEEN_AFTER:
            self._read = now
            with suppress(OSError):  # no file can be opened: keep the last setting
                self._ahead = ahead(self._file)
        return super().time() + self._ahead


class Hands:
    """The test's side of the clock."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def move_to(self, local: str, zone: str = "Europe/Paris") -> None:
        """Set the clock to a time such as "2026-11-23 09:00"; it runs on from there."""
        self._set(datetime.fromisoformat(local).replace(tzinfo=ZoneInfo(zone)).timestamp() - time.time())

    def move(self, *, hours: float) -> None:
        """Move the clock forwards or backwards."""
        self._set(ahead(self._file) + hours * 3600)

    @property
    def now(self) -> float:
        return time.time() + ahead(self._file)

    def _set(self, seconds: float) -> None:
        """Write the file atomically."""
        written = self._file.with_suffix(".new")
        written.write_text(repr(seconds))
        written.replace(self._file)


def ahead(file: Path) -> float:
    """Return the seconds by which the clock is ahead of the system's."""
    return float(file.read_text()) if file.exists() else 0.0
