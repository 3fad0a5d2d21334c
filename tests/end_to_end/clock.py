"""A clock that a test sets, and lets run faster, while the program runs, through a file that both read."""

import time
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Self
from zoneinfo import ZoneInfo

from agent_core.clock import SystemClock

FILE = "clock.txt"
"""Name of the file in the program's home; without it the time is the system's."""
SEEN_AFTER = 0.05
"""Seconds after which the program notices a new time."""
QUICK = 4.0
"""Times as fast as the system's clock a quick one runs."""
SLOW = 0.1
"""Times as fast as the system's clock a slow one runs."""


@dataclass(frozen=True)
class Setting:
    """A time and its pace, relative to the system's clock."""

    ahead: float = 0.0
    """Seconds ahead of the system's clock at `since`."""
    since: float = 0.0
    pace: float = 1.0

    @classmethod
    def read(cls, file: Path) -> Self:
        return cls(*map(float, file.read_text().split())) if file.exists() else cls()

    def write(self, file: Path) -> None:
        """Write the file atomically."""
        written = file.with_suffix(".new")
        written.write_text(f"{self.ahead!r} {self.since!r} {self.pace!r}")
        written.replace(file)

    def at(self, system: float) -> float:
        """Return the time when the system's clock shows this one."""
        return system + self.ahead + (system - self.since) * (self.pace - 1)


class MovedClock(SystemClock):
    """The program's clock: the time of day is moved, and all runs as fast as the file said at the start."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._setting = Setting.read(file)
        self._pace = self._setting.pace
        self._read = super().monotonic()

    def time(self) -> float:
        now = super().monotonic()
        if now - self._read > SEEN_AFTER:
            self._read = now
            with suppress(OSError):  # no file can be opened: keep the last setting
                self._setting = Setting.read(self._file)
        return self._setting.at(super().time())

    def monotonic(self) -> float:
        return super().monotonic() * self._pace

    async def sleep(self, seconds: float) -> None:
        await super().sleep(seconds / self._pace)


class Hands:
    """The test's side of the clock."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def move_to(self, local: str, zone: str = "Europe/Paris") -> None:
        """Set the clock to a time such as "2026-11-23 09:00"; it runs on from there."""
        self._set(datetime.fromisoformat(local).replace(tzinfo=ZoneInfo(zone)).timestamp())

    def move(self, *, hours: float) -> None:
        """Move the clock forwards or backwards."""
        self._set(self.now + hours * 3600)

    def run(self, pace: float) -> None:
        """Let the clock run so many times as fast as the system's, from the next start of the program on."""
        Setting(self.now - time.time(), time.time(), pace).write(self._file)

    @property
    def pace(self) -> float:
        """Its speed, relative to the system's clock."""
        return Setting.read(self._file).pace

    @property
    def now(self) -> float:
        return Setting.read(self._file).at(time.time())

    def _set(self, moment: float) -> None:
        now = time.time()
        replace(Setting.read(self._file), ahead=moment - now, since=now).write(self._file)
