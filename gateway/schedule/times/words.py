"""Rules and moments in words, for use within a sentence.

The description of a recurrence is derived from the dates and times themselves, so it says what will happen, even where
a cron line names a day of the month and a weekday (either or both may have to match).
"""

from collections.abc import Collection, Sequence
from datetime import time
from functools import reduce
from zoneinfo import ZoneInfo

from gateway.schedule.times.changes import local
from gateway.schedule.times.clock_change import ClockChange, Effect
from gateway.schedule.times.lists import MONTHS, WEEKDAYS, date_words, day_of_month, listed, ranges
from gateway.schedule.times.recurrence import WORKING_DAYS, Dates, Timetable
from gateway.schedule.times.slots import timetable
from gateway.store.rule import Cron, Every, Once, Recurrence, Rule
from gateway.texts.moments import NO_MOMENT, moment_at
from gateway.texts.say import Language, say

_INTERVALS = (
    (86_400, "", "every_days"),
    (3600, "every_hour", "every_hours"),
    (60, "every_minute", "every_minutes"),
    (1, "", "every_seconds"),
)
"""Seconds, and the text keys for one and for many. Days are shown as 24 hours, as they ignore clock changes."""
_CLOCKS = {
    Effect.STAYS: "clocks_change",
    Effect.MADE_UP: "clocks_go_forward",
    Effect.COMES_TWICE: "clocks_go_back",
}


def rule_words(rule: Rule, zone: ZoneInfo, language: Language) -> str:
    """Describe a rule, such as `every weekday at 09:00`; `parse_when` understands the text of rules by time of day."""
    match rule:
        case Once():
            shown = local(zone, rule.at)
            return say("once_at", language, day=date_words(shown, language, year=True), time=f"{shown:%H:%M}")
        case Every():
            return _interval(rule.seconds, language)
        case Cron() | Recurrence():
            return timetable_words(timetable(rule), language)


def slot_words(at: float, zone: ZoneInfo, language: Language, now: float) -> str:
    """Describe a moment, such as `Mon 23 Nov 09:00`, with the year if it is not the current one."""
    if moment_at(at, zone) is None:
        return NO_MOMENT
    shown = local(zone, at)
    return f"{date_words(shown, language, year=shown.year != local(zone, now).year)} {shown:%H:%M}"


def change_words(change: ClockChange, zone: ZoneInfo, language: Language, now: float) -> str:
    """Describe a clock change: `Clocks change on Sun 28 Mar 2027: 09:00 stays 09:00.`"""
    shown = local(zone, change.at - 1)  # at midnight, it is the day before whose hours are unusual
    day = date_words(shown, language, year=shown.year != local(zone, now).year)
    return say(_CLOCKS[change.effect], language, day=day, time=change.time, instead=change.instead)


def _interval(seconds: int, language: Language) -> str:
    for size, one, many in _INTERVALS:
        number, rest = divmod(seconds, size)
        if rest == 0 and (number > 1 or one):
            return say(many, language, count=number) if number > 1 else say(one, language)
    raise AssertionError


MOST_TIMES = 6
"""Times of a day that are listed one by one."""
_HOUR, _DAY, _DAYS = 60, 24, 31
_COUNTED = {1: "first_one", 2: "second_one", 3: "third_one", 4: "fourth_one", 5: "fifth_one", -1: "last_one"}
_EVERY = {"DAILY": "every_days", "WEEKLY": "every_weeks_on", "MONTHLY": "every_months_on", "YEARLY": "every_years_on"}


def timetable_words(timetable: Timetable, language: Language) -> str:
    """Return a description such as `every weekday at 09:00`."""
    alike: dict[tuple[time, ...], list[Dates]] = {}
    for dates, times in timetable.rows:
        alike.setdefault(times, []).append(dates)
    words = listed([_phrase(dates, times, language) for times, dates in alike.items()], language)
    until = next((dates.until for dates, _ in timetable.rows if dates.until), None)
    return say("until_day", language, words=words, day=date_words(until, language, year=True)) if until else words


def _phrase(rows: Sequence[Dates], times: tuple[time, ...], language: Language) -> str:
    if len(rows) == 1:
        words = _at_times(_dates(rows[0], language), times, language)
        return _conditioned(words, rows[0], language)
    parts = [_conditioned(_dates(dates, language), dates, language) for dates in rows]
    either = reduce(lambda days, more: say("either", language, days=days, weekdays=more), parts)
    return _at_times(either, times, language)


def _conditioned(words: str, dates: Dates, language: Language) -> str:
    """Add the weekdays on which the days of the month have to fall."""
    if not dates.days or not (dates.weekdays or dates.nth):
        return words
    named = [_weekday((day, 0), language) for day in dates.weekdays] + [_weekday(pair, language) for pair in dates.nth]
    return say("only_if", language, words=words, weekdays=listed(named, language))


# Times


def _at_times(dates: str, times: tuple[time, ...], language: Language) -> str:
    minutes, hours = {at.minute for at in times}, {at.hour for at in times}
    if len(times) <= MOST_TIMES or len(minutes) * len(hours) != len(times) or not (len(minutes) > 1 or _is_even(hours)):
        named = listed([f"{at:%H:%M}" for at in times], language)
        return say("dates_at_times", language, dates=dates, times=named)
    often = _often(minutes, hours, language)
    return often if dates == say("every_day", language) else say("dates_and_times", language, dates=dates, times=often)


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
    return say("every_hour_between", language, first=first, last=last)


def _is_even(hours: Collection[int]) -> bool:
    """Return True for hours in a row, or with the same step through the whole day."""
    return max(hours) - min(hours) == len(hours) - 1 or _step(hours, _DAY) is not None


def _hourly(minute: int, language: Language) -> str:
    return say("every_hour_at", language, minute=f":{minute:02}") if minute else say("every_full_hour", language)


def _step(numbers: Collection[int], size: int) -> int | None:
    """Return the step if the numbers start at zero and divide `size` evenly, else None."""
    step, rest = divmod(size, len(numbers))
    return step if rest == 0 and set(numbers) == set(range(0, size, step)) else None


# Dates


def _dates(dates: Dates, language: Language) -> str:
    if dates.interval > 1:
        return _at_intervals(dates, language)
    months = ranges(dates.months, ("", *MONTHS[language]), language) if dates.months else ""
    match dates.every:
        case "DAILY":
            return _in_months(say("every_day", language), months, language)
        case "WEEKLY":
            return _in_months(_every_weekday(dates, language), months, language)
        case _:
            if len(dates.months) == len(dates.days) == 1 and dates.days[0] > 0:
                return say("every_year", language, day=dates.days[0], month=months)
            return _of_months(_in_a_month(dates, language), months, language)


def _at_intervals(dates: Dates, language: Language) -> str:
    match dates.every:
        case "DAILY":
            on = ""
        case "WEEKLY":
            on = listed([WEEKDAYS[language][day] for day in dates.weekdays], language)
        case "MONTHLY":
            on = _in_a_month(dates, language)
        case "YEARLY":
            months = ranges(dates.months, ("", *MONTHS[language]), language)
            on = say("day_in_year", language, days=_in_a_month(dates, language), months=months)
    return say(_EVERY[dates.every], language, count=dates.interval, on=on)


def _every_weekday(dates: Dates, language: Language) -> str:
    if dates.weekdays == WORKING_DAYS:
        return say("every_weekday", language)
    return say("every_named", language, weekdays=listed([WEEKDAYS[language][day] for day in dates.weekdays], language))


def _in_a_month(dates: Dates, language: Language) -> str:
    """Return the days of a month, without the month."""
    if dates.position:
        return say(_COUNTED[dates.position], language, weekday=say("working_day", language))
    if not dates.days:
        return listed([_weekday(pair, language) for pair in dates.nth], language)
    names = ["", *(day_of_month(day, language) for day in range(1, _DAYS + 1))]
    named = [ranges(days, names, language)] if (days := [day for day in dates.days if day > 0]) else []
    named += [_from_the_end(-day, language) for day in dates.days if day < 0]
    return listed(named, language)


def _from_the_end(count: int, language: Language) -> str:
    if count == 1:
        return say("last_day", language)
    return say("day_from_the_end", language, day=count if language == "zh" else day_of_month(count, language))


def _weekday(day: tuple[int, int], language: Language) -> str:
    number, which = day
    name = WEEKDAYS[language][number]
    return say(_COUNTED[which], language, weekday=name) if which else name


def _in_months(days: str, months: str, language: Language) -> str:
    return say("days_in_months", language, days=days, months=months) if months else days


def _of_months(days: str, months: str, language: Language) -> str:
    if months:
        return say("days_of_months", language, days=days, months=months)
    return say("days_of_every_month", language, days=days)
