"""Describes a cron expression in words.

The description is derived from cronsim's interpretation, so it says what will happen, even where a day of the month and
a weekday are both named (either or both may have to match).
"""

from collections.abc import Collection, Iterator

from cronsim import CronSim

from gateway.texts.say import Language, say
from gateway.timing.changes import naive
from gateway.timing.cron import understood
from gateway.timing.lists import MONTHS, WEEKDAYS, day_of_month, listed, ranges

MOST_TIMES = 6
"""Times of a day that are listed one by one."""
_HOUR, _DAY, _DAYS, _MONTHS, _WEEK = 60, 24, 31, 12, 7
_WORKING_DAYS = frozenset(range(5))
_SPECIAL_DAYS = {CronSim.LAST: "last_day", CronSim.LAST_WEEKDAY: "last_working_day"}
_COUNTED = {1: "first_one", 2: "second_one", 3: "third_one", 4: "fourth_one", 5: "fifth_one", CronSim.LAST: "last_one"}

_Weekday = tuple[int, int]
"""The weekday from Monday = 0, and which one of the month; 0 for every one."""


def cron_words(expression: str, language: Language) -> str:
    """Return a description such as `every weekday at 09:00`. Raises ValueError for an invalid expression."""
    line = understood(expression, naive(0))
    dates, condition = _dates(line, language)
    if len(line.minutes) * len(line.hours) <= MOST_TIMES:
        times = [f"{hour:02}:{minute:02}" for hour in sorted(line.hours) for minute in sorted(line.minutes)]
        words = say("dates_at_times", language, dates=dates, times=listed(times, language))
    elif dates == say("every_day", language):
        words = _often(line.minutes, line.hours, language)
    else:
        words = say("dates_and_times", language, dates=dates, times=_often(line.minutes, line.hours, language))
    return say("only_if", language, words=words, weekdays=condition) if condition else words


def _often(minutes: Collection[int], hours: Collection[int], language: Language) -> str:
    if len(minutes) == 1:
        return _every_hour(min(minutes), sorted(hours), language)
    step = _step(minutes, _HOUR)
    if step is None:
        named = ranges([*minutes], [f":{minute:02}" for minute in range(_HOUR)], language)
        often = say("at_minutes", language, minutes=named)
    else:
        often = say("every_minute", language) if step == 1 else say("every_minutes_by_clock", language, count=step)
    if len(hours) == _DAY:
        return often if step else say("of_every_hour", language, often=often)
    named = ranges([*hours], [str(hour) for hour in range(_DAY)], language)
    return say("in_hours", language, often=often, hours=named)


def _every_hour(minute: int, hours: list[int], language: Language) -> str:
    first, last = f"{hours[0]:02}:{minute:02}", f"{hours[-1]:02}:{minute:02}"
    step = _step(hours, _DAY)
    if step:
        return say("every_full_hours", language, count=step, first=first) if step > 1 else _hourly(minute, language)
    if hours[-1] - hours[0] == len(hours) - 1:
        return say("every_hour_between", language, first=first, last=last)
    return say("at_times", language, times=listed([f"{hour:02}:{minute:02}" for hour in hours], language))


def _hourly(minute: int, language: Language) -> str:
    return say("every_hour_at", language, minute=f":{minute:02}") if minute else say("every_full_hour", language)


def _step(numbers: Collection[int], size: int) -> int | None:
    """Return the step if the numbers start at zero and divide `size` evenly, else None."""
    step, rest = divmod(size, len(numbers))
    return step if rest == 0 and set(numbers) == set(range(0, size, step)) else None


def _dates(line: CronSim, language: Language) -> tuple[str, str]:
    """Return the days in words, and the weekdays that restrict them."""
    days, weekdays = line.days, sorted({*_weekdays(line)})
    all_days, all_weekdays = days >= {*range(1, _DAYS + 1)}, {*weekdays} >= {(day, 0) for day in range(_WEEK)}
    months = "" if len(line.months) == _MONTHS else ranges([*line.months], ("", *MONTHS[language]), language)
    if (all_days and all_weekdays) or (not line.day_and and (all_days or all_weekdays)):
        return _in_months(say("every_day", language), months, language), ""
    if all_days:
        return _on_weekdays(weekdays, months, language), ""
    on_days = _on_days(line, months, language)
    if all_weekdays:
        return on_days, ""
    if line.day_and:
        return on_days, listed([_weekday(day, language) for day in weekdays], language)
    return say("either", language, days=on_days, weekdays=_on_weekdays(weekdays, months, language)), ""


def _weekdays(line: CronSim) -> Iterator[_Weekday]:
    for day in line.weekdays:
        number, which = day if isinstance(day, tuple) else (day, 0)
        yield (number - 1) % _WEEK, which


def _weekday(day: _Weekday, language: Language) -> str:
    number, which = day
    name = WEEKDAYS[language][number]
    return say(_COUNTED[which], language, weekday=name) if which else name


def _on_weekdays(weekdays: list[_Weekday], months: str, language: Language) -> str:
    every = [number for number, which in weekdays if not which]
    counted = [_weekday(day, language) for day in weekdays if day[1]]
    parts: list[str] = []
    if {*every} == _WORKING_DAYS:
        parts.append(_in_months(say("every_weekday", language), months, language))
    elif every:
        named = listed([WEEKDAYS[language][number] for number in every], language)
        parts.append(_in_months(say("every_named", language, weekdays=named), months, language))
    if counted:
        parts.append(_of_months(listed(counted, language), months, language))
    return parts[0] if len(parts) == 1 else say("either", language, days=parts[0], weekdays=parts[1])


def _on_days(line: CronSim, months: str, language: Language) -> str:
    days = [day for day in line.days if day > 0]
    if len(line.months) == 1 and len(days) == len(line.days) == 1:
        return say("every_year", language, day=days[0], month=months)
    names = ["", *(day_of_month(day, language) for day in range(1, _DAYS + 1))]
    named = [ranges(days, names, language)] if days else []
    named += [say(_SPECIAL_DAYS[day], language) for day in sorted(line.days) if day < 0]
    return _of_months(listed(named, language), months, language)


def _in_months(days: str, months: str, language: Language) -> str:
    return say("days_in_months", language, days=days, months=months) if months else days


def _of_months(days: str, months: str, language: Language) -> str:
    if months:
        return say("days_of_months", language, days=days, months=months)
    return say("days_of_every_month", language, days=days)
