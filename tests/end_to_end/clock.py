"""A clock that a test sets while the program runs: a file says by how much it differs from the machine's."""

import time
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from agent_core.clock import SystemClock

FILE = "clock.txt"
"""In the folder in which the program is at home; where there is none, the time is the machine's."""
SEEN_AFTER = 0.05
"""Seconds that a new time may stay unseen."""


class MovedClock(SystemClock):
    """The program's. What it measures is real; only what time it is, is not."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._ahead = 0.0
        self._read: float | None = None

    def time(self) -> float:
        now = self.monotonic()
        if self._read is None or now - self._read > SEEN_AFTER:
            self._ahead, self._read = ahead(self._file), now
        return time.time() + self._ahead


class Hands:
    """The test's."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def move_to(self, local: str, zone: str = "Europe/Paris") -> None:
        """To a moment such as "2026-11-23 09:00"; from there it goes on."""
        self._set(datetime.fromisoformat(local).replace(tzinfo=ZoneInfo(zone)).timestamp() - time.time())

    def move(self, *, hours: float) -> None:
        """On, or back."""
        self._set(ahead(self._file) + hours * 3600)

    @property
    def now(self) -> float:
        return time.time() + ahead(self._file)

    def _set(self, seconds: float) -> None:
        """At once: nobody reads half a number."""
        written = self._file.with_suffix(".new")
        written.write_text(repr(seconds))
        written.replace(self._file)


def ahead(file: Path) -> float:
    """Seconds by which the clock is ahead of the machine's."""
    return float(file.read_text()) if file.exists() else 0.0
