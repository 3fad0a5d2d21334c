"""Reads a text piece by piece, with the patterns of one language."""

import re
from collections.abc import Callable, Mapping
from datetime import date, time
from enum import Enum
from typing import TypeVar

from msgspec import Struct

from agent_core.late_pattern import LatePattern
from gateway.store.rule import BadRule

_GAP = LatePattern(r"[\s,，]*")
_NOON = 12

Read = TypeVar("Read")


class Words(Struct, frozen=True):
    """The patterns of a language, by the name of what they match. What a language has no word for is left out."""

    patterns: Mapping[str, LatePattern]
    dates: tuple[LatePattern, ...]
    """Forms of a date, with the groups `day`, `month` and `year`."""
    read_time: Callable[["Reader"], time | None]
    """Parses one time of day."""


class Half(Enum):
    """The way in which a time of day says which half of the day it means."""

    NAMED = "named"
    AM = "am"
    PM = "pm"
    SHORT = "short"
    """As in `5:30`, which may be in either half; `05:30` and `17:30` may not."""
    BARE = "bare"
    """As in `at 5`."""


class Reader:
    """Reads a text piece by piece. A method that returns None may have read some of it, hence `attempt`."""

    def __init__(self, text: str, words: Words, today: date) -> None:
        self._text = text
        self._words = words
        self._today = today
        self._at = 0
        self.half = Half.NAMED
        """That of the last time of day that was read."""
        self.often: int | None = None
        """The number of times a day, if the text says so."""

    @property
    def rest(self) -> str:
        return self._text[self._at :]

    def take(self, name: str) -> re.Match[str] | None:
        """Skip blanks and commas, and consume what the pattern of this name matches."""
        pattern = self._words.patterns.get(name)
        return self.take_match(pattern) if pattern else None

    def take_match(self, pattern: LatePattern) -> re.Match[str] | None:
        gap = _GAP.match(self._text, self._at)
        found = pattern.match(self._text, gap.end() if gap else self._at)
        if found and found[0]:
            self._at = found.end()
        return found

    def attempt(self, read: Callable[[], Read]) -> Read:
        """Call a reading method; if it returns None, nothing is consumed."""
        began = self._at, self.half
        found = read()
        if found is None:
            self._at, self.half = began
        return found

    def clock(self, hour: int, minute: int, shown: str, half: Half = Half.NAMED) -> time:
        """Return a time of day that the text names.

        Args:
            shown: What the user wrote. Raises BadRule, which quotes it, if there is no such time.
            half: How it says which half of the day it means; from 13:00 on that is clear.
        """
        self.half = half if 0 < hour <= _NOON else Half.NAMED
        try:
            return time(hour, minute)
        except ValueError as error:
            raise BadRule("bad_time", time=shown.strip().removeprefix("at").strip()) from error


def half_of(hour: str | None) -> Half:
    """Return what an hour before minutes, as in `5:30`, says of the half of the day; None: the text names it."""
    return Half.SHORT if hour and re.fullmatch("[1-9]|1[01]", hour) else Half.NAMED
