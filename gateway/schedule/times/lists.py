"""Names of days and months, and lists in words."""

from collections.abc import Sequence
from datetime import date
from itertools import groupby

from gateway.texts.say import Language, say

WEEKDAYS: dict[Language, tuple[str, ...]] = {
    "en": ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
    "zh": ("周一", "周二", "周三", "周四", "周五", "周六", "周日"),
}
"""From Monday on."""
MONTHS: dict[Language, tuple[str, ...]] = {
    "en": (
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ),
    "zh": tuple(f"{number}月" for number in range(1, 13)),
}
SHORT = 3
"""Letters of an abbreviated English name."""
_FEWEST_IN_A_RANGE = 3
_TEENS = range(11, 14)
_ENDINGS = {1: "st", 2: "nd", 3: "rd"}


def date_words(day: date, language: Language, *, year: bool) -> str:
    """Return a date, such as `Mon 23 Nov`."""
    weekday = WEEKDAYS[language][day.weekday()]
    month = MONTHS[language][day.month - 1]
    if language == "zh":
        return f"{f'{day.year}年' if year else ''}{month}{day.day}日 {weekday}"
    return f"{weekday[:SHORT]} {day.day} {month[:SHORT]}{f' {day.year}' if year else ''}"


def listed(parts: Sequence[str], language: Language) -> str:
    """Join parts as `a, b and c`."""
    if language == "zh":
        return "、".join(parts)
    return " and ".join(filter(None, [", ".join(parts[:-1]), parts[-1]]))


def day_of_month(day: int, language: Language) -> str:
    """Return the day of a month, such as `1st`."""
    if language == "zh":
        return f"{day}日"
    return f"{day}{'th' if day in _TEENS else _ENDINGS.get(day % 10, 'th')}"


def ranges(numbers: Sequence[int], names: Sequence[str], language: Language) -> str:
    """Return the names sorted by number, with three or more in a row as a range."""
    parts: list[str] = []
    for _, row in groupby(enumerate(sorted(numbers)), key=lambda pair: pair[1] - pair[0]):
        run = [number for _, number in row]
        if len(run) < _FEWEST_IN_A_RANGE:
            parts += [names[number] for number in run]
        else:
            parts.append(say("from_to", language, first=names[run[0]], last=names[run[-1]]))
    return listed(parts, language)
