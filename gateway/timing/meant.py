"""Parsed times and their conversion to rules."""

import calendar
from collections.abc import Collection
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from gateway.timing.changes import local, moment
from gateway.timing.rule import SHORTEST, BadRule, Cron, Every, Once, Rule
from gateway.timing.slots import MOST_YEARS, YEAR

DAY = 86_400
_WEEK, _MONTHS, _LONGEST_MONTH = 7, 12, 31
_LEAP_YEARS = 9
"""Years in which every date occurs at least once."""
_LAST_YEAR = 9000


@dataclass(frozen=True)
class After:
    """A time from now: months and days by the calendar, then seconds."""

    days: int
    seconds: float
    months: int = 0


@dataclass(frozen=True)
class Interval:
    seconds: float


@dataclass(frozen=True)
class Ahead:
    """The day `days` from today; if None, today or tomorrow, whichever has the time first."""

    days: int | None


@dataclass(frozen=True)
class Weekday:
    """A weekday from Monday = 0: the next one, or that of the week `weeks` ahead."""

    number: int
    weeks: int | None = None
    is_next: bool = False
    """True to exclude today."""


@dataclass(frozen=True)
class Date:
    """A date; without a year, the next one."""

    year: int | None
    month: int
    day: int


@dataclass(frozen=True)
class Dates:
    """Recurring days, as fields of a cron expression."""

    day: str = "*"
    month: str = "*"
    weekday: str = "*"


@dataclass(frozen=True)
class At:
    day: Ahead | Weekday | Date | Dates
    times: tuple[time, ...]


def days_of_month(days: Collection[int]) -> str:
    """Return the day field of a cron expression. Raises BadRule."""
    if not all(1 <= day <= _LONGEST_MONTH for day in days):
        raise BadRule("bad_date")
    return ",".join(str(day) for day in sorted({*days}))


Meant = After | Interval | At


def rule_of(meant: Meant, zone: ZoneInfo, now: float) -> Rule:
    """Return the rule for a parsed time. Raises BadRule."""
    match meant:
        case After():
            return _once_after(meant, zone, now)
        case Interval():
            if meant.seconds < SHORTEST:
                raise BadRule("rule_too_often")
            if meant.seconds > YEAR:
                raise BadRule("rule_too_seldom")
            return Every(seconds=round(meant.seconds), since=now)
        case At(day=Dates() as dates):
            return _cron(dates, meant.times)
        case At():
            if len(meant.times) > 1:
                raise BadRule("rule_one_at_a_time")
            return Once(at=float(_once_at(meant, zone, now)))


def _once_after(meant: After, zone: ZoneInfo, now: float) -> Once:
    if (meant.days + meant.months * _LONGEST_MONTH) * DAY + meant.seconds > MOST_YEARS * YEAR:
        raise BadRule("rule_too_far", years=MOST_YEARS)
    shown = local(zone, now)
    later = _months_later(shown, meant.months) + timedelta(days=meant.days)
    start = now if later == shown else moment(zone, later)
    return Once(at=start + meant.seconds)


def _months_later(shown: datetime, months: int) -> datetime:
    """Add months, moving to the last day of a shorter month."""
    years, month = divmod(shown.month - 1 + months, _MONTHS)
    year, month = shown.year + years, month + 1
    return shown.replace(year=year, month=month, day=min(shown.day, calendar.monthrange(year, month)[1]))


def _cron(dates: Dates, times: tuple[time, ...]) -> Cron:
    """Return a cron rule. A cron line combines all its hours with all its minutes, so not every list of times fits."""
    hours, minutes = sorted({at.hour for at in times}), sorted({at.minute for at in times})
    if len(hours) * len(minutes) != len({*times}):
        raise BadRule("rule_one_at_a_time")
    fields = (*(",".join(map(str, numbers)) for numbers in (minutes, hours)), dates.day, dates.month, dates.weekday)
    return Cron(expression=" ".join(fields))


def _once_at(meant: At, zone: ZoneInfo, now: float) -> int:
    (wanted,) = meant.times
    today = local(zone, now).date()
    days = _days(meant, today)
    found = [at for day in days if (at := moment(zone, datetime.combine(day, wanted))) > now]
    if not found:
        raise BadRule("rule_past" if days else "bad_date")
    return found[0]


def _days(meant: At, today: date) -> list[date]:
    """Return the days that may be meant, nearest first."""
    match meant.day:
        case Ahead(days=None):
            return [today, today + timedelta(days=1)]
        case Ahead(days=int(days)):
            return [today + timedelta(days=days)]
        case Weekday(number=number, weeks=None):
            first = today + timedelta(days=(number - today.weekday()) % _WEEK)
            coming = [first, first + timedelta(days=_WEEK)]
            return [day for day in coming if day > today] if meant.day.is_next else coming
        case Weekday(number=number, weeks=int(weeks)):
            return [today + timedelta(days=number - today.weekday() + _WEEK * weeks)]
        case Date(year=None, month=month, day=day):
            years = range(today.year, today.year + _LEAP_YEARS)
            return [date(year, month, day) for year in years if _exists(year, month, day)]
        case Date(year=int(year), month=month, day=day):
            if year > _LAST_YEAR:
                raise BadRule("rule_too_far", years=MOST_YEARS)
            return [date(year, month, day)] if _exists(year, month, day) else []
        case _:
            raise TypeError(meant)


def _exists(year: int, month: int, day: int) -> bool:
    return year >= 1 and 1 <= month <= _MONTHS and 1 <= day <= calendar.monthrange(year, month)[1]
