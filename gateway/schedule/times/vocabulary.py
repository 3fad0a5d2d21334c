"""Numbers, weekdays, months and units of time as they are written, in English and Chinese."""

import re
from typing import Literal

from gateway.schedule.times.lists import MONTHS, SHORT, WEEKDAYS

DAY = 86_400
WEEK = 7
QUARTER = 3
"""Months."""
_SMALL = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_TENS = {"fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "ninety": 90}
_HALVES = dict.fromkeys(("half an", "half a", "a half", "half", "半"), 0.5)
_ONE_OR_TWO = {"a": 1, "an": 1, "a couple": 2, "a couple of": 2}
_NUMBERS: dict[str, float] = (
    _TENS | _HALVES | _ONE_OR_TWO | {**{word: n for n, word in enumerate(_SMALL, 1)}, "forty-five": 45}
)
_ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "last": -1}
_DIGITS = "零一二三四五六七八九"
_CHINESE_WEEKDAYS = "一二三四五六日"
_UNITS = {"s秒": 1, "m分": 60, "刻": 900, "h小钟": 3600, "d天": DAY, "w周星礼": WEEK * DAY, "f": 2 * WEEK * DAY}
_SECONDS = {letter: length for letters, length in _UNITS.items() for letter in letters}
"""By the first letter of a unit."""
_AHEAD = {
    "today": 0,
    "tomorrow": 1,
    "tmr": 1,
    "tmrw": 1,
    "tmw": 1,
    "2morrow": 1,
    "day": 2,
    "今": 0,
    "明": 1,
    "后": 2,
    "大后": 3,
}
"""Days by the first word, as in `day after tomorrow`."""
_PERIODS: dict[str, tuple[Literal["WEEKLY", "MONTHLY"], int]] = {
    **dict.fromkeys("w周星礼", ("WEEKLY", 1)),
    "f": ("WEEKLY", 2),
    **dict.fromkeys("m月", ("MONTHLY", 1)),
    **dict.fromkeys("q季", ("MONTHLY", QUARTER)),
    "年": ("MONTHLY", 12),
}
"""By the first letter."""

SPELT = "|".join(_SMALL)
"""Numbers of hours in letters, as a pattern."""
_SOME = r"a\s+couple(?:\s+of)?|a\s+half|half(?:\s+an?)?|an?"
AMOUNT = rf"(?P<number>\d{{1,9}}(?:\.\d{{1,3}})?|(?:{_SOME}|{SPELT}|{'|'.join(_TENS)})(?=\s))\s*"
"""A number in letters is followed by white space, so that `and` does not contain `an d`."""
CHINESE_NUMBER = r"\d{1,9}|[一二两三四五六七八九]?十[一二三四五六七八九]?|[零一二两三四五六七八九]"


def number(text: str) -> float:
    """Parse a number such as `12`, `1.5`, `twelve`, `half an`, `十二` or `两`."""
    word = " ".join(text.lower().split())
    if word in _NUMBERS:
        return _NUMBERS[word]
    word = word.lstrip("零〇") or word
    tens, ten, ones = word.replace("两", "二").partition("十")
    if ten:
        return 10 * (_DIGITS.index(tens) if tens else 1) + (_DIGITS.index(ones) if ones else 0)
    return _DIGITS.index(tens) if tens in _DIGITS else float(word)


def whole(text: str) -> int:
    return int(number(text))


def ordinal(text: str | None) -> int:
    """Return a place in a month, such as 2 for `second` or `2nd`; -1 is the last."""
    word = (text or "last").lower()
    return _ORDINALS[word] if word in _ORDINALS else whole(word.rstrip("stndrh"))


def weekday(name: str) -> int:
    """Return the weekday from Monday = 0."""
    short = name[:SHORT].lower()
    names = [each[:SHORT].lower() for each in WEEKDAYS["en"]]
    return names.index(short) if short in names else _CHINESE_WEEKDAYS.index(name.replace("天", "日"))


def month(name: str) -> int:
    names = [each[:SHORT].lower() for each in MONTHS["en"]]
    short = name[:SHORT].lower()
    return names.index(short) + 1 if short in names else whole(name)


def seconds(unit: str) -> int:
    return _SECONDS[unit[0].lower()]


def period_of(unit: str) -> tuple[Literal["WEEKLY", "MONTHLY"], int]:
    """Return how many weeks or months a period has."""
    return _PERIODS[unit[0].lower()]


def times_a_day(word: str | None) -> int | None:
    """Return 2 for `twice` or `两`; None for no word."""
    return None if word is None else {"once": 1, "twice": 2}.get(word.lower()) or whole(word)


def length_of(length: re.Match[str]) -> tuple[float, int]:
    """Return a number of units, such as `2 hours and a half`, and the seconds of one."""
    has_half = length["half"] or length.groupdict().get("before")
    return number(length["number"]) + (0.5 if has_half else 0), seconds(length["unit"])


def days_ahead(word: str) -> int:
    return _AHEAD[word.split(maxsplit=1)[0].lower()]
