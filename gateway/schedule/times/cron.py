"""Reads cron lines of five fields, as in Debian's cron (`1` is Monday, a day *or* a weekday)."""

import re
from datetime import time
from functools import lru_cache
from itertools import islice, product, takewhile

from cronsim import CronSim, CronSimError
from msgspec.structs import replace

from gateway.schedule.times.changes import naive
from gateway.schedule.times.recurrence import WORKING_DAYS, Dates, Timetable
from gateway.store.rule import BadRule, Cron, half_understood

LONGEST_CRON = 100
"""Characters."""

_FIELDS, _DAYS, _MONTHS, _WEEK, _FRIDAY = 5, 31, 12, 7, 4
_TROUBLES = {
    "minute": "bad_cron_minute",
    "hour": "bad_cron_hour",
    "day-of-month": "bad_cron_day",
    "month": "bad_cron_month",
    "day-of-week": "bad_cron_weekday",
}
"""Text keys by cronsim's names of the fields."""

_NICKNAMES = {
    "@hourly": "0 * * * *",
    **dict.fromkeys(("@daily", "@midnight"), "0 0 * * *"),
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    **dict.fromkeys(("@yearly", "@annually"), "0 0 1 1 *"),
}
_OTHER_NICKNAMES = frozenset({"@reboot", "@every"})
_WORD = re.compile(r"\S+")
_SIXTH = re.compile(
    r"\?|[\d*/,-]*\*[\d*/,-]*|(?:MON|TUE|WED|THU|FRI|SAT|SUN)(?:[-,#](?:MON|TUE|WED|THU|FRI|SAT|SUN|\d))*", re.ASCII
)
"""A further field, as in lines that begin with seconds."""
_NAMES = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mon|tue|wed|thu|fri|sat|sun"
_FORMS = [
    re.compile(field, re.ASCII | re.IGNORECASE)
    for field in (r"[\d*/,-]+", r"[\d*/,-]+", r"[\d*/,LW-]+", rf"(?:[\d*/,-]|{_NAMES})+", rf"(?:[\d*/,#L-]|{_NAMES})+")
]
_FEWEST_FIELDS = 2


def cron_in_front(text: str) -> tuple[Cron, str] | None:
    """Parse a cron expression or a nickname such as `@daily`. Raises BadRule for too few or too many fields."""
    if found := _nickname(text):
        return found
    words = [*islice(_WORD.finditer(text), len(_FORMS) + 1)]
    pairs = zip(words, _FORMS, strict=False)
    fields = [word for word, field in takewhile(lambda pair: pair[1].fullmatch(pair[0][0]), pairs)]
    if len(fields) < len(_FORMS):
        if len(fields) >= _FEWEST_FIELDS and any("*" in field[0] for field in fields):
            raise BadRule("bad_cron_fields", count=len(fields))
        return None
    rest = text[fields[-1].end() :]
    if len(words) > len(_FORMS) and _SIXTH.fullmatch(words[-1][0]):
        raise BadRule("bad_cron_fields", count=len(words))
    if _FORMS[0].fullmatch(rest.strip()):
        raise BadRule("bad_cron_fields", count=len(words))
    return Cron(expression=" ".join(field[0] for field in fields)), rest


def _nickname(text: str) -> tuple[Cron, str] | None:
    """Parse a nickname. Raises BadRule for one of another cron, which names no time."""
    found = _WORD.search(text)
    name = found[0].lower().rstrip(",:：") if found else ""
    if name in _OTHER_NICKNAMES:
        raise half_understood(name)
    expression = _NICKNAMES.get(name)
    if found is None or expression is None:
        return None
    return Cron(expression=expression), text[found.start() + len(name) :]


@lru_cache(maxsize=4096)
def by_cron(expression: str) -> Timetable:
    """Return the timetable of a cron line. Raises ValueError."""
    try:
        line = CronSim(expression, naive(0))
    except CronSimError as error:
        raise ValueError(str(error)) from error
    times = tuple(time(*pair) for pair in product(sorted(line.hours), sorted(line.minutes)))
    is_hourly = expression.startswith("*")
    return Timetable(tuple((dates, times) for dates in _dates(line)), is_hourly)


def _dates(line: CronSim) -> list[Dates]:
    months = () if len(line.months) == _MONTHS else tuple(sorted(line.months))
    days, weekdays = _days(line), _weekdays(line)
    if not days or not weekdays:
        found = (days or weekdays) if line.day_and else []
    elif line.day_and:
        found = [both for day in days for weekday in weekdays for both in _both(day, weekday)]
    else:
        found = [*days, *weekdays]
    return [_in_months(dates, months) for dates in found or [Dates()]]


def _days(line: CronSim) -> list[Dates]:
    """Return the dates by the days of the month; none if the line does not restrict them."""
    numbers = [day for day in line.days if day > 0]
    if len(numbers) == _DAYS:
        return []
    ends = [-1] if CronSim.LAST in line.days else []
    found = [Dates("MONTHLY", days=(*sorted(numbers), *ends))] if numbers or ends else []
    if CronSim.LAST_WEEKDAY in line.days:
        found.append(Dates("MONTHLY", weekdays=WORKING_DAYS, position=-1))
    return found


def _weekdays(line: CronSim) -> list[Dates]:
    every = sorted({(day - 1) % _WEEK for day in line.weekdays if isinstance(day, int)})
    if len(every) == _WEEK:
        return []
    counted = sorted({((day[0] - 1) % _WEEK, day[1]) for day in line.weekdays if isinstance(day, tuple)})
    nth = tuple((day, -1 if which == CronSim.LAST else which) for day, which in counted)
    found = [Dates("WEEKLY", weekdays=tuple(every))] if every else []
    return [*found, Dates("MONTHLY", nth=nth)] if nth else found


def _both(day: Dates, weekday: Dates) -> list[Dates]:
    """Return the dates on which both match."""
    if not day.position:
        return [replace(day, weekdays=weekday.weekdays, nth=weekday.nth)]
    # The last working day is the last day of the month, or the Friday one or two days before it.
    last = [replace(day, position=0, days=(-1,), weekdays=tuple({*WORKING_DAYS} & {*weekday.weekdays}))]
    friday = [replace(day, position=0, days=(-3, -2), weekdays=(_FRIDAY,))]
    return [*(last if last[0].weekdays else []), *(friday if _FRIDAY in weekday.weekdays else [])]


def _in_months(dates: Dates, months: tuple[int, ...]) -> Dates:
    every = "YEARLY" if months and dates.every == "MONTHLY" and not dates.position else dates.every
    return replace(dates, every=every, months=months)


def check_cron(expression: str) -> None:
    """Raise BadRule unless the expression has five valid fields."""
    fields = expression.split()
    if len(fields) != _FIELDS:
        raise BadRule("bad_cron_fields", count=len(fields))
    if len(expression) > LONGEST_CRON or not re.fullmatch(r"[0-9A-Za-z*/,#\- ]+", expression):
        raise BadRule("bad_cron")
    try:
        by_cron(expression)
    except ValueError as error:
        raise BadRule(_trouble(str(error).removeprefix("Bad "), fields)) from error


def _trouble(name: str, fields: list[str]) -> str:
    """Return the text key for a bad field; cronsim reports a date that no month has as a bad day."""
    if name == "day-of-month" and all(1 <= int(number) <= _DAYS for number in re.findall(r"\d+", fields[2])):
        return "rule_never"
    return _TROUBLES.get(name, "bad_cron")
