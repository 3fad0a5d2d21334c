"""Parses times at the beginning of a text, with the patterns of one language."""

import re
from collections.abc import Callable
from datetime import time
from itertools import pairwise

from msgspec.structs import replace

from gateway.schedule.times.days import DayReader
from gateway.schedule.times.parsed_time import (
    After,
    At,
    Days,
    Interval,
    Meant,
    ahead,
    in_part,
    within,
)
from gateway.schedule.times.reader import Half
from gateway.schedule.times.recurrence import Dates
from gateway.schedule.times.vocabulary import DAY, length_of, number, whole
from gateway.store.rule import BadRule

_GAP = re.compile(r"[\s,，]*")
_MONTHS = 12
_NOON = 12


class Parser(DayReader):
    """Reads a time: `in 20 minutes`, `every hour from 9 to 17`, `tomorrow at 9:00`."""

    def read(self) -> Meant | None:
        """Parse a time; returns None if the text does not begin with one. Raises BadRule for an impossible one."""
        self.take("lead")
        readings: tuple[Callable[[], Meant | None], ...] = (
            *(self._after, self._part_first, self._interval, self._window_first, self._day_first, self._time_first),
        )
        return next((meant for reading in readings if (meant := self.attempt(reading))), None)

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
        every = None if self.attempt(self.few_periods) else self.take("every")
        if every is None:
            return None
        if self.take("hour_and_a_half"):
            return Interval(5400)
        length = Interval(2 * DAY) if self.take("other_day") else self._length(is_between=every[0].endswith("隔"))
        return None if length is None or self.attempt(self.named_day) else self._continued(length)

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
        day = self.attempt(self.dates)
        hours = self._hours()
        if hours is None:
            return None
        day = day or self.attempt(self.dates) or Dates()
        return At(self.left_of(day), within(every, *hours), self._until())

    def _window_first(self) -> At | None:
        """Parse days or hours before their interval: `on weekdays every hour from 9 to 17`, `工作日9点到18点每小时`."""
        day = self.attempt(self.dates)
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
            return self._period_first()
        part = self.take("part")
        if not isinstance(day, Dates):
            self._no_midnight()
        until = self._until() if isinstance(day, Dates) else None
        times = (isinstance(day, Dates) and self.attempt(self._row_of_hours)) or self._needed_times()
        part = part or self.take("part_behind")
        return self._at_times(day, self._in_part(part, times, again=day == Dates()), until)

    def _period_first(self) -> At | None:
        """Parse a period directly before its times: `monthly at 9:00`, but not `monthly report at 9:00`."""
        begins_with_every = self._is_every()
        every = self.attempt(self.period)
        if every is None:
            return None
        part = self.take("part")
        times = self._times()
        if times is None and begins_with_every:
            raise BadRule("rule_no_time")
        return self._at_times(every, self._in_part(part or self.take("part_behind"), times)) if times else None

    def _period_behind(self) -> Dates | None:
        return self.period() if self._is_every() else None

    def _is_every(self) -> bool:
        return self._words.patterns["every"].match(self.rest.lstrip(" ,，")) is not None

    def _time_first(self) -> At | None:
        midnight = self.take("midnight")
        times = (self.clock(0, 0, midnight[0]),) if midnight else self._times()
        if times is None or self.take("chinese_goes_on"):
            return None
        if this := self.take("this_part"):
            return At((self._today,), self._in_part(this, times))
        part = self.take("part_behind")
        day = (self.read_day() or self.attempt(self._period_behind)) if self.take("day_behind") else None
        part = part or self.take("part_behind" if day is None else "part")
        if midnight and not isinstance(day, Dates) and day is not None:
            raise BadRule("rule_which_midnight")
        return self._at_times(day, self._in_part(part, times, again=day == Dates()))

    def _in_part(self, part: re.Match[str] | None, times: tuple[time, ...], *, again: bool = False) -> tuple[time, ...]:
        """Apply a part of the day, if one was read; `tonight` is the evening."""
        if part is None:
            return times
        is_am, self.half = self.half is Half.AM, Half.NAMED
        return in_part(part["part"] or "evening", times, again=again, is_am=is_am)

    def _at_times(self, day: Days | Dates | None, times: tuple[time, ...], until: Days | None = None) -> At:
        """Add what may follow the times of a recurrence."""
        if not isinstance(day, Dates):
            return At(day, times)
        if self.often not in (None, len(times)):
            raise BadRule("rule_how_often", count=self.often or 0)
        return At(self.left_of(day), times, self._until() if until is None else until)

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
        first = self.attempt(lambda: self._words.read_time(self))
        return self._with_others(first) if first else None

    def _row_of_hours(self) -> tuple[time, ...] | None:
        """Parse times of day of which the first is a bare number, as in `every day 9, 12 and 17`."""
        found = self.take("first_of_hours")
        times = self._with_others(self._bare_hour(found["hour"], found[0])) if found else ()
        return times if len(times) > 1 else None

    def _with_others(self, first: time) -> tuple[time, ...]:
        """Add the times that follow, of which some may be bare numbers, as in `at 9, 12 and 17`."""
        found, is_listed = [(first, self.half)], False
        while True:
            if more := self.attempt(self._next_time):
                found.append((more, self.half))
            elif words := self.take("further_hour") or (self.take("last_hour") if is_listed else None):
                named = words.groupdict()
                is_listed = is_listed or bool(named.get("listed"))
                word = named.get("hour") or named.get("listed") or named.get("spelt") or words[0]
                found.append((self._bare_hour(word, words[0]), self.half))
            else:
                break
        for (one, half), (other, next_half) in pairwise(found):
            is_backwards = other <= one and Half.BARE in (half, next_half)
            is_pm_too = half is Half.BARE and next_half is Half.PM and one.hour <= other.hour - _NOON
            if is_backwards or is_pm_too:  # `3pm and 5`, `5 and 9 pm`
                raise BadRule("rule_which_time")
        return tuple(at for at, _ in found)

    def _bare_hour(self, word: str, shown: str) -> time:
        return self.clock(whole(word), 0, shown, Half.BARE)

    def _next_time(self) -> time | None:
        return self._words.read_time(self) if self.take("separator") else None

    def _until(self) -> Days | None:
        """Parse the last day of a recurrence."""
        day = self.attempt(lambda: self.single_day() if self.take("until") else None)
        if day is not None:
            self.take("until_end")
        return day
