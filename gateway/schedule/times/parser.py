"""Parses times at the beginning of a text, with the patterns of one language."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import date, time
from enum import Enum
from typing import TypeVar

from gateway.schedule.times.parsed_time import (
    After,
    At,
    Date,
    Days,
    Interval,
    Meant,
    ahead,
    coming_month_days,
    days_of_month,
    in_part,
    weekdays_ahead,
    within,
    without,
    yearly,
)
from gateway.schedule.times.recurrence import WORKING_DAYS, Dates
from gateway.schedule.times.vocabulary import DAY, WEEK, days_ahead, length_of, month, number, ordinal, weekday, whole
from gateway.store.rule import BadRule

_GAP = re.compile(r"[\s,，]*")
_MONTHS = 12
_NOON = 12

Read = TypeVar("Read")


@dataclass(frozen=True)
class Words:
    """The patterns of a language, by the name of what they match. What a language has no word for is left out."""

    patterns: Mapping[str, re.Pattern[str]]
    dates: tuple[re.Pattern[str], ...]
    """Forms of a date, with the groups `day`, `month` and `year`."""
    read_time: Callable[["Parser"], time | None]
    """Parses one time of day."""


class Half(Enum):
    """How a time of day says which half of the day it means."""

    NAMED = "named"
    SHORT = "short"
    """As in `5:30`, which may be in either half; `05:30` and `17:30` may not."""
    BARE = "bare"
    """As in `at 5`."""


class Parser:
    """Reads a text piece by piece. A method that returns None may have read some of it, hence `attempt`."""

    def __init__(self, text: str, words: Words, today: date) -> None:
        self._text = text
        self._words = words
        self._today = today
        self._at = 0
        self.half = Half.NAMED
        """That of the last time of day that was read."""

    @property
    def rest(self) -> str:
        return self._text[self._at :]

    def read(self) -> Meant | None:
        """Parse a time; returns None if the text does not begin with one. Raises BadRule for an impossible one."""
        self.take("lead")
        readings: tuple[Callable[[], Meant | None], ...] = (
            *(self._after, self._part_first, self._interval, self._window_first, self._day_first, self._time_first),
        )
        return next((meant for reading in readings if (meant := self.attempt(reading))), None)

    def read_day(self) -> Days | Dates | None:
        dates = self.attempt(self._dates)
        return self._without(dates) if dates else self.attempt(self._single_day)

    def take(self, name: str) -> re.Match[str] | None:
        """Skip blanks and commas, and consume what the pattern of this name matches."""
        pattern = self._words.patterns.get(name)
        return self.take_match(pattern) if pattern else None

    def take_match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
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

    # Lengths of time

    def _after(self) -> Meant | None:
        if found := self.take("shorthand"):
            return After.sum([length_of(each) for each in self._words.patterns["length"].finditer(found[0])])
        meant = After.sum(self._lengths(months=True)) if self.take("in") else None
        if meant is None or not self.take("later"):
            return None
        times = None if meant.seconds or meant.months else self._times()
        return At(ahead(self._today, meant.days), times) if times else meant

    def _lengths(self, *, months: bool) -> list[tuple[float, int]]:
        """Return amounts with their units in seconds, 0 for months."""
        found: list[tuple[float, int]] = []
        if months and (some := self.take("months")):
            found.append((number(some["number"]) * (_MONTHS if some["unit"][0].lower() in "y年" else 1), 0))
        while length := self.take("length"):
            found.append(length_of(length))
        return found

    def _interval(self) -> Interval | At | None:
        if found := self.take("hourly"):
            return self._continued(Interval(60 if found["minute"] else 3600))
        every = None if self.attempt(self._intervals) else self.take("every")
        if every is None:
            return None
        if self.take("hour_and_a_half"):
            return Interval(5400)
        length = Interval(2 * DAY) if self.take("other_day") else self._length(is_between=every[0].endswith("隔"))
        return None if length is None or self.attempt(self._weekday) else self._continued(length)

    def _length(self, *, is_between: bool) -> Interval | None:
        """Return an interval. `每隔一天` is every other day; usage differs for larger numbers, which raise BadRule."""
        lengths = self._lengths(months=False)
        if not lengths:
            return None
        amount, unit = lengths[0]
        if is_between and unit >= DAY:
            if amount != 1:
                days = int(amount * unit // DAY)
                raise BadRule("rule_which_days", count=days, more=days + unit // DAY)
            return Interval(2 * unit)
        return Interval(sum(amount * unit for amount, unit in lengths))

    def _continued(self, length: Interval) -> Interval | At:
        """Return the interval, or what its times of day or its hours make of it."""
        if times := self.attempt(self._times):
            if length.seconds % DAY:
                raise BadRule("rule_days_or_times")
            return self._at_times(Dates(interval=int(length.seconds // DAY)), times)
        return self.attempt(lambda: self._in_window(length.seconds)) or length

    # Hours of a day within which an interval is due

    def _in_window(self, every: float) -> At | None:
        if every >= DAY:
            return None
        day = self.attempt(self._dates)
        hours = self._hours()
        if hours is None:
            return None
        day = day or self.attempt(self._dates) or Dates()
        return At(self._without(day), within(every, *hours), self._until())

    def _window_first(self) -> At | None:
        """Parse days or hours before their interval: `on weekdays every hour from 9 to 17`, `工作日9点到18点每小时`."""
        day = self.attempt(self._dates)
        hours = self.attempt(self._hours)
        found = self._interval() if day or hours else None
        if hours and isinstance(found, Interval):
            return At(day or Dates(), within(found.seconds, *hours), self._until())
        if day and not hours and isinstance(found, At) and found.day == Dates():
            return replace(found, day=day)
        return None

    def _hours(self) -> tuple[time, time] | None:
        first = self._hour() if self.take("from") else None
        last = self._hour() if first and self.take("to") else None
        return (first, last) if first and last else None

    def _hour(self) -> time | None:
        """Parse a time of day in which `9` is 9:00."""
        if at := self.attempt(lambda: self._words.read_time(self)):
            return at
        found = self.take("window_hour")
        return time(int(found[0])) if found else None

    # Days with times

    def _part_first(self) -> At | None:
        if found := self.take("this_part"):
            self._no_midnight()
            return At((self._today,), self._in_part(found, self._needed_times()))
        found = self.take("every_part")
        return At(Dates(), self._in_part(found, self._needed_times(), again=True)) if found else None

    def _day_first(self) -> At | None:
        day = self.read_day()
        if day is None:
            return None
        part = self.take("part")
        if not isinstance(day, Dates):
            self._no_midnight()
        until = self._until() if isinstance(day, Dates) else None
        times = self._needed_times()
        part = part or self.take("part_behind")
        return self._at_times(day, self._in_part(part, times, again=day == Dates()), until)

    def _time_first(self) -> At | None:
        midnight = self.take("midnight")
        times = (self.clock(0, 0, midnight[0]),) if midnight else self._times()
        if times is None or self.take("chinese_goes_on"):
            return None
        if this := self.take("this_part"):
            return At((self._today,), self._in_part(this, times))
        part = self.take("part_behind")
        day = self.read_day() if self.take("day_behind") else None
        part = part or self.take("part_behind" if day is None else "part")
        if midnight and not isinstance(day, Dates) and day is not None:
            raise BadRule("rule_which_midnight")
        return self._at_times(day, self._in_part(part, times, again=day == Dates()))

    def _in_part(self, part: re.Match[str] | None, times: tuple[time, ...], *, again: bool = False) -> tuple[time, ...]:
        """Apply a part of the day, if one was read; `tonight` is the evening."""
        if part is None:
            return times
        self.half = Half.NAMED
        return in_part(part["part"] or "evening", times, again=again)

    def _at_times(self, day: Days | Dates | None, times: tuple[time, ...], until: Days | None = None) -> At:
        """Add what may follow the times of a recurrence."""
        if not isinstance(day, Dates):
            return At(day, times)
        return At(self._without(day), times, self._until() if until is None else until)

    def _no_midnight(self) -> None:
        """Refuse midnight of a single day, as it may be the first moment or the last."""
        if self.take("midnight"):
            raise BadRule("rule_which_midnight")

    def _needed_times(self) -> tuple[time, ...]:
        times = self._times()
        if times is None:
            raise BadRule("rule_no_time")
        return times

    def _times(self) -> tuple[time, ...] | None:
        times: list[time] = []
        while found := self.attempt(lambda: self._next_time(is_first=not times)):
            times.append(found)
        return tuple(times) or None

    def _next_time(self, *, is_first: bool) -> time | None:
        return self._words.read_time(self) if is_first or self.take("separator") else None

    def _until(self) -> Days | None:
        """Parse the last day of a recurrence."""
        day = self.attempt(lambda: self._single_day() if self.take("until") else None)
        if day is not None:
            self.take("until_end")
        return day

    def _without(self, dates: Dates) -> Dates:
        """Leave out weekdays, as in `every day except sundays`."""
        rest = self.rest
        if self.take("except") is None:
            return dates
        out = self._weekdays({5, 6} if self.take("weekend") else set())
        self.take("except_end")
        return without(dates, out, rest)

    # Recurring days

    def _dates(self) -> Dates | None:
        if self.take("every_day"):
            return Dates()
        if self.take("every_weekday"):
            return Dates("WEEKLY", weekdays=WORKING_DAYS)
        if self.take("every_weekend"):
            return Dates("WEEKLY", weekdays=(5, 6))
        forms = (self._every_year, self._intervals, self._every_month, self._every_week)
        return next((dates for form in forms if (dates := self.attempt(form))), None)

    def _every_year(self) -> Dates | None:
        day = self._date() if self.take("every_year") else None
        return yearly(day.month, day.day) if day and day.year is None else None

    def _intervals(self) -> Dates | None:
        """Parse days of every so many weeks, months or years."""
        found = self.take("every_few")
        count = whole(found["number"] or "two") if found else 0
        if found is None or not count:
            return None
        dates: Dates | None = None
        match (found["unit"] or "week")[0].lower():
            case "d":
                return None
            case "m" | "月":
                dates = self._in_month()
            case "y" | "年":
                day = self._date()
                dates = yearly(day.month, day.day) if day else None
            case _:
                dates = self._on_weekdays()
        return replace(dates, interval=count) if dates else None

    def _every_month(self) -> Dates | None:
        if self.take("every_month"):
            return self._in_month()
        if dates := self.attempt(lambda: self._in_month() if self.take("every_first_or_last") else None):
            self.take("of_every_month")
            return dates
        dates = self._in_month() if self.take("on_the") else None
        return dates if dates and self.take("of_every_month") else None

    def _every_week(self) -> Dates | None:
        return self._on_weekdays() if self.take("weekly") else None

    def _on_weekdays(self) -> Dates | None:
        days = self._weekdays(set())
        return Dates("WEEKLY", weekdays=tuple(sorted(days))) if days else None

    def _in_month(self) -> Dates | None:
        if found := self.take("working_day"):
            return Dates("MONTHLY", weekdays=WORKING_DAYS, position=ordinal(found["which"]))
        if found := self.take("counted_weekday"):
            return Dates("MONTHLY", nth=((weekday(found["weekday"]), ordinal(found["which"])),))
        if self.take("last_day"):
            return Dates("MONTHLY", days=(-1,))
        days: set[int] = set()
        while found := self.take("next_day_of_month" if days else "day_of_month"):
            days.add(whole(found["day"]))
        return days_of_month(days) if days else None

    def _weekdays(self, days: set[int]) -> set[int]:
        """Add the weekdays of a list, in which there may be ranges."""
        while found := self.take("next_weekday" if days else "weekday"):
            first = weekday(found["weekday"])
            last = self.take("to_weekday")
            length = (weekday(last["weekday"]) - first) % WEEK if last else 0
            days |= {(first + ahead) % WEEK for ahead in range(length + 1)}
        return days

    # Single days

    def _single_day(self) -> Days | None:
        if found := self.take("days_ahead"):
            return ahead(self._today, days_ahead(found["ahead"]))
        if found := self.take("day_of_next_month"):
            months = found["ahead"].count("下") if "ahead" in found.groupdict() else 1
            return coming_month_days(self._today, whole(found["day"]), months)
        if found := self.take("on_the_day"):
            return coming_month_days(self._today, int(found["day"]))
        day = self.attempt(self._date)
        return day.days(self._today) if day else self._weekday()

    def _weekday(self) -> Days | None:
        found = self.take("named_day")
        if found is None:
            return None
        which, number = (found["ahead"] or "").lower(), weekday(found["weekday"])
        return weekdays_ahead(self._today, number, which.count("下") or None, is_next=which == "next")

    def _date(self) -> Date | None:
        found = next((found for form in self._words.dates if (found := self.take_match(form))), None)
        if found is None:
            return None
        day, number_of_month = whole(found["day"]), month(found["month"])
        if "/" in found[0]:
            day, number_of_month = _slashed(day, number_of_month)
        return Date(int(found["year"]) if found["year"] else None, number_of_month, day)


def _slashed(first: int, second: int) -> tuple[int, int]:
    """Return day and month of a date with slashes. Raises BadRule if either may come first."""
    if first != second and max(first, second) <= _MONTHS:
        raise BadRule("rule_which_date")
    return (first, second) if first > _MONTHS or first == second else (second, first)


def half_of(hour: str | None) -> Half:
    """Return what an hour before minutes, as in `5:30`, says of the half of the day; None: the text names it."""
    return Half.SHORT if hour and re.fullmatch("[1-9]|1[01]", hour) else Half.NAMED
