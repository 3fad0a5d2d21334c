"""Parsed times and their conversion to rules."""

import calendar
from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from dateutil.relativedelta import relativedelta
from msgspec import Struct
from msgspec.structs import replace

from gateway.schedule.times.changes import local, moment
from gateway.schedule.times.recurrence import MOST_INTERVAL, Dates, Timetable
from gateway.schedule.times.slots import MOST_YEARS, YEAR
from gateway.schedule.times.vocabulary import DAY
from gateway.store.rule import SHORTEST, BadRule, Every, Once, Recurrence, Rule, half_understood

_HOUR, _MINUTE = 3600, 60
_WEEK, _MONTHS, _SHORTEST_MONTH, _LONGEST_MONTH = 7, 12, 28, 31
_LEAP_YEARS = 9
"""Years in which every date occurs at least once."""
_LAST_YEAR = 9000
_NOON = 12
_SMALL_HOURS = frozenset({0, 1, 2, 3, 4, 12})
"""Hours of a twelve-hour clock that, in the evening or at night, belong to the next day."""


Days = tuple[date, ...]
"""The days that may be meant, nearest first."""


class After(Struct, frozen=True):
    """A time from now: months and days by the calendar, then seconds."""

    days: int
    seconds: float
    months: int = 0

    @classmethod
    def sum(cls, lengths: Sequence[tuple[float, int]]) -> "After | None":
        """Add amounts with their units in seconds, 0 for months; None if there are none. Raises BadRule."""
        months = sum(amount for amount, unit in lengths if not unit)
        if months != int(months):
            raise BadRule("rule_not_understood")
        if not any(amount or unit for amount, unit in lengths):
            return None
        days, seconds = 0, 0.0
        for amount, unit in lengths:
            if unit >= DAY and amount == int(amount):
                days += int(amount) * (unit // DAY)
            else:
                seconds += amount * unit
        return cls(days, seconds, int(months))


class Interval(Struct, frozen=True):
    seconds: float


class Date(Struct, frozen=True):
    """A date; without a year, the next one."""

    year: int | None
    month: int
    day: int
    weekday: int | None = None
    """As it is written beside the date."""

    def days(self, today: date) -> Days:
        """Return the days that may be meant. Raises BadRule."""
        if (self.year or 0) > _LAST_YEAR:
            raise BadRule("rule_too_far", years=MOST_YEARS)
        years = range(today.year, today.year + _LEAP_YEARS) if self.year is None else [self.year]
        days = tuple(date(year, self.month, self.day) for year in years if _exists(year, self.month, self.day))
        first = next((each for each in days if each >= today), None)
        if first and self.weekday not in (None, first.weekday()):
            raise BadRule("rule_other_weekday")
        return days


class At(Struct, frozen=True):
    """Times of a day, or of the dates of a recurrence."""

    day: Days | Dates | None
    """None if no day is named: today or tomorrow, whichever has the time first."""
    times: tuple[time, ...]
    until: Days | None = None


def ahead(today: date, days: int) -> Days:
    """Return the day so many days from today. Raises BadRule."""
    if days > MOST_YEARS * YEAR // DAY:
        raise BadRule("rule_too_far", years=MOST_YEARS)
    return (today + timedelta(days=days),)


def weekdays_ahead(today: date, number: int, weeks: int | None, *, is_next: bool) -> Days:
    """Return the next days with this weekday from Monday = 0, or that of the week `weeks` ahead.

    Args:
        is_next: True to exclude today.
    """
    if weeks is not None:
        return (today + timedelta(days=number - today.weekday() + _WEEK * weeks),)
    first = today + timedelta(days=(number - today.weekday()) % _WEEK)
    coming = first, first + timedelta(days=_WEEK)
    return tuple(day for day in coming if day > today) if is_next else coming


def coming_month_days(today: date, day: int, months: int | None = None) -> Days:
    """Return this day of the month `months` ahead; if None, of each month of a year that has it."""
    numbers = range(_MONTHS + 1) if months is None else [months]
    firsts = [today.replace(day=1) + relativedelta(months=number) for number in numbers]
    return tuple(first.replace(day=day) for first in firsts if _exists(first.year, first.month, day))


def days_of_month(days: set[int]) -> Dates:
    """Return these days of every month. Raises BadRule."""
    if not all(1 <= day <= _LONGEST_MONTH for day in days):
        raise BadRule("bad_date")
    return Dates("MONTHLY", days=tuple(sorted(days)))


def yearly(month: int, day: int) -> Dates:
    """Return this date of every year. Raises BadRule."""
    if not (1 <= month <= _MONTHS and 1 <= day <= _LONGEST_MONTH):
        raise BadRule("bad_date")
    return Dates("YEARLY", months=(month,), days=(day,))


def without(dates: Dates, weekdays: set[int], words: str) -> Dates:
    """Return the dates but for some weekdays. Raises BadRule, which quotes `words`, if that is not possible."""
    left = {*(dates.weekdays or range(_WEEK))} - weekdays
    if not weekdays or not left or dates.is_open or dates.every not in ("DAILY", "WEEKLY") or dates.interval > 1:
        raise half_understood(words)
    return replace(dates, every="WEEKLY", weekdays=tuple(sorted(left)))


def within(seconds: float, first: time, last: time) -> tuple[time, ...]:
    """Return the times from `first` to `last` with this interval. Raises BadRule."""
    start, end = (at.hour * _HOUR + at.minute * _MINUTE for at in (first, last))
    step = int(seconds)
    if start >= end or step != seconds or step < SHORTEST or step % _MINUTE:
        raise BadRule("rule_which_time")
    return tuple(time(at // _HOUR, at % _HOUR // _MINUTE) for at in range(start, end + 1, step))


def in_part(part: str, times: tuple[time, ...], *, again: bool, is_am: bool) -> tuple[time, ...]:
    """Apply a part of the day to times. Raises BadRule.

    Args:
        again: For daily rules, where the day of the small hours does not matter.
        is_am: If the last of the times is said to be before noon, which only a morning or the small hours are.
    """
    part = part.lower()
    if is_am and (part == "afternoon" or (part != "morning" and times[-1].hour not in _SMALL_HOURS)):
        raise BadRule("rule_which_time")
    return tuple(_one_in_part(part, at, again=again) for at in times)


def _one_in_part(part: str, at: time, *, again: bool) -> time:
    """Apply a part of the day to a time, so that 8 in the evening is 20:00."""
    if part == "morning":
        if at.hour >= _NOON:
            raise BadRule("rule_which_time")
        return at
    if part != "afternoon" and at.hour in _SMALL_HOURS:
        if part != "night" or not again:
            raise BadRule("rule_which_midnight" if at.hour in (0, _NOON) else "rule_which_time")
        return at.replace(hour=at.hour % _NOON)
    return at.replace(hour=at.hour + _NOON) if at.hour < _NOON else at


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
        case At(day=day):
            if isinstance(day, Dates):
                return _recurring(day, meant, zone, now)
            if len(meant.times) > 1:
                raise BadRule("rule_one_at_a_time")
            today = local(zone, now).date()
            days = (today, today + timedelta(days=1)) if day is None else day
            return Once(at=float(_once_at(days, meant.times[0], zone, now)))


def _once_after(meant: After, zone: ZoneInfo, now: float) -> Once:
    if (meant.days + meant.months * _LONGEST_MONTH) * DAY + meant.seconds > MOST_YEARS * YEAR:
        raise BadRule("rule_too_far", years=MOST_YEARS)
    shown = local(zone, now)
    later = shown + relativedelta(months=meant.months, days=meant.days)
    start = now if later == shown else moment(zone, later)
    return Once(at=start + meant.seconds)


def _recurring(dates: Dates, meant: At, zone: ZoneInfo, now: float) -> Recurrence:
    """Return the rule. Dates at intervals are counted from the first one to come."""
    if not 1 <= dates.interval <= MOST_INTERVAL:
        raise BadRule("rule_too_seldom" if dates.interval else "rule_too_often")
    shown = local(zone, now)
    times = tuple(sorted({*meant.times}))
    if meant.until is not None:
        until = next((day for day in meant.until if day >= shown.date()), None)
        if until is None:
            raise BadRule("bad_date")
        dates = replace(dates, until=until)
    if dates.is_open:
        is_today = times[-1] > shown.time()
        dates = _on_day_of(dates, shown.date() if is_today else shown.date() + timedelta(days=1))
    if dates.interval > 1:
        coming = replace(dates, interval=1).since(shown.date())
        start = next((day for day in coming if datetime.combine(day, times[-1]) > shown), None)
        if start is None:
            raise BadRule("rule_past" if dates.until else "bad_date")
        dates = replace(dates, start=start)
    return Recurrence(text=Timetable(((dates, times),)).text)


def _on_day_of(dates: Dates, first: date) -> Dates:
    """Return the dates with the day of the first one. Raises BadRule if not every month has it."""
    if dates.every == "WEEKLY":
        return replace(dates, weekdays=(first.weekday(),))
    is_last = not _exists(first.year, first.month, first.day + 1)
    if first.day > _SHORTEST_MONTH and not is_last:
        raise BadRule("rule_which_day")
    return replace(dates, days=(-1 if first.day > _SHORTEST_MONTH else first.day,))


def _once_at(days: Days, wanted: time, zone: ZoneInfo, now: float) -> int:
    found = [at for day in days if (at := moment(zone, datetime.combine(day, wanted))) > now]
    if not found:
        raise BadRule("rule_past" if days else "bad_date")
    return found[0]


def _exists(year: int, month: int, day: int) -> bool:
    return year >= 1 and 1 <= month <= _MONTHS and 1 <= day <= calendar.monthrange(year, month)[1]
