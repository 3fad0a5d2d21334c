"""Keeps the last lines of the log in memory, as they were written: masked, for the admin pages."""

import re
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from itertools import count
from typing import TextIO

from msgspec import Struct

from agent_core.late_pattern import LatePattern

KEPT = 2_000
"""Lines."""
LONGEST = 2_000
"""Characters of a line."""
LEVELS = ("debug", "info", "warning", "error", "critical")
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_LEVEL = LatePattern(rf"level=({'|'.join(LEVELS)})|\[({'|'.join(LEVELS)})\s*\]|\"level\": ?\"({'|'.join(LEVELS)})\"")


class Line(Struct, frozen=True):
    """A line of the log."""

    number: int
    level: str
    """That of the line before if it names none, as lines of a traceback do."""
    text: str


class RecentLog:
    """The last lines of the log. Any thread may write."""

    def __init__(self) -> None:
        self._lines: deque[Line] = deque(maxlen=KEPT)
        self._numbers = count(1)
        self._level = "info"

    def take(self, text: str) -> None:
        """Take lines that are written to the log."""
        for each in _COLOUR.sub("", text).splitlines():
            if each.strip():
                found = _LEVEL.search(each)
                self._level = next(filter(None, found.groups()), self._level) if found else self._level
                self._lines.append(Line(next(self._numbers), self._level, each[:LONGEST]))

    def lines(self, *, after: int = 0, least: str = "debug", words: str = "", most: int = KEPT) -> Sequence[Line]:
        """Return the last lines after a number, of at least a level and with these words, oldest first."""
        rank, wanted = LEVELS.index(least), words.casefold()
        found = [
            each
            for each in list(self._lines)
            if each.number > after and LEVELS.index(each.level) >= rank and wanted in each.text.casefold()
        ]
        return found[-most:]


class Copied:
    """A stream of text whose lines are also kept."""

    def __init__(self, stream: TextIO, recent: RecentLog) -> None:
        self._stream = stream
        self._recent = recent

    def write(self, text: str) -> int:
        """Write to the stream, and keep the lines. What cannot be written, as to a full disk, stops nobody's work."""
        self._recent.take(text)
        with suppress(OSError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(OSError):
            self._stream.flush()


RECENT = RecentLog()
"""The one of this process, as the log is."""
