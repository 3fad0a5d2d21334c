"""Parses amounts and times of day in English."""

import re
from datetime import time

from gateway.timing.reader import Reader, clock_time, said
from gateway.timing.rule import BadRule

NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_TENS = {"fifteen": 15.0, "twenty": 20.0, "thirty": 30.0, "forty": 40.0, "fifty": 50.0, "sixty": 60.0, "ninety": 90.0}
_HALF = {"half an": 0.5, "half a": 0.5, "a half": 0.5, "half": 0.5}
_WORDS = {"a": 1.0, "an": 1.0} | _HALF | _TENS | {word: n + 1.0 for n, word in enumerate(NUMBERS)}
_SPELT_MINUTES = {"": 0, "fifteen": 15, "thirty": 30, "forty-five": 45}
NOON = 12
_SMALL_HOURS = frozenset({0, 1, 2, 3, 4, 12})
"""Hours of a twelve-hour clock that, in the evening or at night, belong to the next day."""


def pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE)


AMOUNT = rf"(\d{{1,9}}(?:\.\d{{1,3}})?|(?:a\s+half|half(?:\s+an?)?|an?|{'|'.join((*NUMBERS, *_TENS))})(?=\s))\s*"
"""A number in letters is followed by white space, so that `and` does not contain `an d`."""
_WINDOW_HOUR = pattern(r"(\d{1,2})(?![\w:.]\d|\w)")
AND = pattern(r"and\b|&")
_PAST = pattern(
    rf"(?:at\s+)?(half\s+past|quarter\s+past|(?:a\s+)?quarter\s+to)\s+(\d{{1,2}}|{'|'.join(NUMBERS)})(?![\w:.]\d|\w)(?:\s*([ap])\.?m\b\.?)?"
)
_TIME = pattern(
    r"(?:at\s+)?(\d{1,2})[:.：](\d{2})(?!\d|:\d|\.\s?\d)(?:\s*([ap])\.?m\b\.?)?|(?:at\s+)?(\d{1,2})\s*([ap])\.?m\b\.?"
)
_HOUR = pattern(r"(?:at\s+)?(\d{1,2})\s*o['’]?clock\b|at\s+(\d{1,2})(?![\w:.]\d|\w)|(\d{1,2})(?=\s+tonight\b)")
_SPELT_HOUR = pattern(rf"at\s+({'|'.join(NUMBERS)})\b(?:\s+(fifteen|thirty|forty-five)\b|\s*o['’]?clock\b)?")
_NAMED_TIME = pattern(r"(?:at\s+)?(?:12\s+)?(noon|midday|midnight)\b")


def amount_of(text: str) -> float:
    word = " ".join(text.lower().split())
    return _WORDS[word] if word in _WORDS else float(word)


def read_hour(reader: Reader) -> time | None:
    """Parse a time of day in which `9` is 9:00."""
    if at := reader.attempt(lambda reader: _one_of_times(reader, first=True)):
        return at
    found = reader.take(_WINDOW_HOUR)
    return clock_time(int(found[1]), 0, found[0]) if found else None


def in_part(part: str, times: tuple[time, ...], *, again: bool = False) -> tuple[time, ...]:
    """Apply a part of the day to times. `again`: for daily rules, where the day of the small hours does not matter."""
    return tuple(_one_in_part(part.lower(), at, again=again) for at in times)


def _one_in_part(part: str, at: time, *, again: bool) -> time:
    """Apply a part of the day to a time, so that 8 in the evening is 20:00."""
    if part == "morning":
        if at.hour >= NOON:
            raise BadRule("rule_which_time")
        return at
    if part != "afternoon" and at.hour in _SMALL_HOURS:
        if part != "night" or not again:
            raise BadRule("rule_which_midnight" if at.hour in (0, NOON) else "rule_which_time")
        return at.replace(hour=at.hour % NOON)
    return at.replace(hour=at.hour + NOON) if at.hour < NOON else at


def read_times(reader: Reader) -> tuple[time, ...] | None:
    times: list[time] = []
    while found := reader.attempt(lambda reader: _one_of_times(reader, first=not times)):
        times.append(found)
    return tuple(times) or None


def _one_of_times(reader: Reader, *, first: bool) -> time | None:
    if not first:
        reader.take(AND)
    if found := reader.take(_TIME):
        hour, minute, half, short, short_half = found.groups()
        return _time(int(hour or short), int(minute or 0), half or short_half, found[0])
    if found := reader.take(_PAST):
        return _past(found[1].lower(), int(amount_of(found[2])), found[3], found[0])
    if found := reader.take(_HOUR):
        return _time(int(found[1] or found[2] or found[3]), 0, None, found[0])
    if found := reader.take(_SPELT_HOUR):
        return time(int(amount_of(found[1])), _SPELT_MINUTES[(found[2] or "").lower()])
    found = reader.take(_NAMED_TIME)
    return time(0 if found[1].lower() == "midnight" else NOON) if found else None


def _past(part: str, hour: int, half: str | None, shown: str) -> time:
    """Return a time such as `half past five`."""
    if part.endswith("past"):
        return _time(hour, 30 if part.startswith("half") else 15, half, shown)
    return _time((hour - 2) % NOON + 1 if hour <= NOON else hour - 1, 45, half, shown)


def _time(hour: int, minute: int, half: str | None, shown: str) -> time:
    if half is None:
        return clock_time(hour, minute, shown)
    if not 1 <= hour <= NOON:
        raise BadRule("bad_time", time=said(shown))
    return clock_time(hour % NOON + (NOON if half.lower() == "p" else 0), minute, shown)
