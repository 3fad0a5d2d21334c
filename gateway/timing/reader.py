"""Reads a text piece by piece from its beginning."""

import re
from collections.abc import Callable
from datetime import time
from typing import TypeVar

from gateway.timing.rule import BadRule

_GAP = re.compile(r"[\s,，]*")
_LAST_HOUR, _LAST_MINUTE = 23, 59
_LONGEST = 30
"""Characters that are quoted."""

Read = TypeVar("Read")


class Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    @property
    def rest(self) -> str:
        return self._text[self._at :]

    def take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Skip blanks and commas, and consume a match of the pattern if there is one."""
        gap = _GAP.match(self._text, self._at)
        found = pattern.match(self._text, gap.end() if gap else self._at)
        if found:
            self._at = found.end()
        return found

    def attempt(self, read: Callable[["Reader"], Read]) -> Read:
        """Apply a reading function; if it returns None, nothing is consumed."""
        began = self._at
        found = read(self)
        if found is None:
            self._at = began
        return found


def clock_time(hour: int, minute: int, shown: str) -> time:
    """Return a time of day. Raises BadRule if there is no such time."""
    if hour > _LAST_HOUR or minute > _LAST_MINUTE:
        raise BadRule("bad_time", time=said(shown))
    return time(hour, minute)


def said(shown: str) -> str:
    """Return a time as the user wrote it."""
    return shown.strip().removeprefix("at").strip()


def half_understood(words: str) -> BadRule:
    """Return the refusal that quotes these words."""
    short = " ".join(words.replace("`", "").split())
    return BadRule("rule_half_understood", words=short if len(short) <= _LONGEST else f"{short[:_LONGEST]}…")
