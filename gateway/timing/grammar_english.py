"""Parses times in English at the beginning of a text."""

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import time

from gateway.timing.english_days import EVERY, read_dates, read_day, read_exceptions, read_intervals, read_single_day
from gateway.timing.english_times import AMOUNT, amount_of, in_part, pattern, read_hour, read_times
from gateway.timing.meant import DAY, After, Ahead, At, Interval, Meant, SingleDay, within
from gateway.timing.reader import Reader
from gateway.timing.recurrence import Dates
from gateway.timing.rule import BadRule

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": DAY, "w": 7 * DAY}
_UNIT = (
    r"(s|m|h|d|w)(?:(?<=s)(?:ecs?|econds?)|(?<=m)(?:ins?|inutes?)|(?<=h)(?:rs?|ours?)|(?<=d)ays?|(?<=w)eeks?)?(?![a-z])"
)
LENGTH = pattern(rf"(?:and\s+)?{AMOUNT}{_UNIT}")
_MONTHS_LATER = pattern(rf"(?:and\s+)?{AMOUNT}(month|year)s?\b")
_HOUR_AND_A_HALF = pattern(r"hour\s+and\s+a\s+half\b")
_AND_A_HALF = pattern(r"and\s+a\s+half\b")
_SHORTHAND = pattern(r"(?:\d{1,9}[smhd])+(?!\w)")
_LEAD = pattern(r"(?:please\b)?\s*(?:remind\b)?\s*me\b")
_IN = pattern(r"in\b|after\b")
_OTHER_DAY = pattern(r"other\s+day\b")
_PART = r"(morning|afternoon|evening|night)\b"
_THIS_PART = pattern(rf"(?:tonight\b|this\s+{_PART})(?!['’])")
_EVERY_PART = pattern(rf"(?:every|each)\s+{_PART}")
_HOURLY = pattern(r"hourly\b|every\s+(hour(?!\s+and\s+a\s+half)|minute)\b")
_UNTIL = pattern(r"(?:until|till|up\s+to)\b(?=\s)")
_CHINESE_GOES_ON = re.compile(r"(?=[到至])")
_WINDOW = pattern(r"(?:from|between)\s+(?=\d|noon|midday)")
_WINDOW_END = pattern(r"(?:to|till|until|and|[-–—])\s*(?:at\s+)?(?=\d|noon|midday)")
_PART_OF_DAY = pattern(rf"(?:in\s+the\s+)?{_PART}")
_PART_BEHIND = pattern(rf"(?:in\s+the|at)\s+{_PART}")
_MIDNIGHT = pattern(r"(?:at\s+)?midnight\b")


def read(reader: Reader) -> Meant | None:
    """Parse a time; returns None if the text does not begin with one. Raises BadRule for an impossible one."""
    reader.take(_LEAD)
    readings: tuple[Callable[[Reader], Meant | None], ...] = (_after, _part_first, _interval, _day_first, _time_first)
    return next((meant for reading in readings if (meant := reader.attempt(reading))), None)


def _after(reader: Reader) -> Meant | None:
    if reader.take(_IN) is None:
        shorthand = reader.take(_SHORTHAND)
        return _later(Reader(shorthand[0])) if shorthand else None
    meant = _later(reader)
    if meant is None or meant.seconds or meant.months:
        return meant
    times = read_times(reader)
    return At(Ahead(meant.days), times) if times else meant


def _later(reader: Reader) -> After | None:
    days, seconds, months = 0, 0.0, _months(reader)
    some = months > 0
    while found := reader.take(LENGTH):
        some = True
        amount, unit = amount_of(found[1]), _UNITS[found[2].lower()]
        amount += 0.5 if reader.take(_AND_A_HALF) else 0
        if unit >= DAY and amount == int(amount):
            days += int(amount) * (unit // DAY)
        else:
            seconds += amount * unit
    return After(days, seconds, months) if some else None


def _months(reader: Reader) -> int:
    found = reader.take(_MONTHS_LATER)
    months = amount_of(found[1]) * (12 if found[2].lower() == "year" else 1) if found else 0
    if months != int(months):
        raise BadRule("rule_not_understood")
    return int(months)


def _interval(reader: Reader) -> Interval | At | None:
    if found := reader.take(_HOURLY):
        length = Interval(60 if (found[1] or "").lower() == "minute" else 3600)
        return _continued(reader, length)
    if reader.attempt(read_intervals) or reader.take(EVERY) is None:
        return None
    if reader.take(_HOUR_AND_A_HALF):
        return Interval(5400)
    few = Interval(2 * DAY) if reader.take(_OTHER_DAY) else _length(reader)
    return _continued(reader, few) if few else None


def _continued(reader: Reader, length: Interval) -> Interval | At:
    if times := reader.attempt(read_times):
        return _at_times(reader, length.seconds, times)
    return reader.attempt(lambda reader: _in_window(reader, length.seconds)) or length


def _length(reader: Reader) -> Interval | None:
    length = _later(reader)
    return None if length is None or length.months else Interval(length.days * DAY + length.seconds)


def _at_times(reader: Reader, seconds: float, times: tuple[time, ...]) -> At:
    """Return a rule of every so many days with a time of day."""
    if seconds % DAY:
        raise BadRule("rule_days_or_times")
    dates = Dates(interval=int(seconds // DAY))
    return At(dates, times, _until(reader))


def _in_window(reader: Reader, seconds: float) -> At | None:
    """Parse the hours of a day within which an interval is due."""
    if seconds >= DAY:
        return None
    day = reader.attempt(read_dates)
    if reader.take(_WINDOW) is None or (first := read_hour(reader)) is None:
        return None
    if reader.take(_WINDOW_END) is None or (last := read_hour(reader)) is None:
        return None
    day = day or reader.attempt(read_dates) or Dates()
    return At(read_exceptions(reader, day), within(seconds, first, last), _until(reader))


def _until(reader: Reader) -> SingleDay | None:
    """Parse the last day of a recurrence."""
    return reader.attempt(lambda reader: read_single_day(reader) if reader.take(_UNTIL) else None)


def _part_first(reader: Reader) -> At | None:
    if found := reader.take(_THIS_PART):
        _no_midnight(reader)
        return At(Ahead(0), in_part(found[1] or "evening", _needed(reader)))
    found = reader.take(_EVERY_PART)
    return At(Dates(), in_part(found[1], _needed(reader), again=True)) if found else None


def _day_first(reader: Reader) -> At | None:
    day = read_day(reader)
    if day is None:
        return None
    part = reader.take(_PART_OF_DAY)
    if not isinstance(day, Dates):
        _no_midnight(reader)
    if isinstance(day, Dates) and (window := reader.attempt(lambda reader: _window_behind(reader, day))):
        return window
    until = _until(reader) if isinstance(day, Dates) else None
    times = _needed(reader)
    part = part or reader.take(_PART_BEHIND)
    times = in_part(part[1], times, again=day == Dates()) if part else times
    return _at(reader, day, times, until)


def _window_behind(reader: Reader, dates: Dates) -> At | None:
    """Parse an interval within hours behind its days, as in `on weekdays every hour from 9 to 17`."""
    found = _interval(reader)
    if not isinstance(found, At) or not isinstance(found.day, Dates) or found.day != Dates():
        return None
    return replace(found, day=dates)


def _at(reader: Reader, day: SingleDay | Dates, times: tuple[time, ...], until: SingleDay | None = None) -> At:
    """Add what may follow the times of a recurrence."""
    if not isinstance(day, Dates):
        return At(day, times)
    return At(read_exceptions(reader, day), times, until or _until(reader))


def _no_midnight(reader: Reader) -> None:
    """Refuse midnight of a single day, as it may be the first moment or the last."""
    if reader.take(_MIDNIGHT):
        raise BadRule("rule_which_midnight")


def _needed(reader: Reader) -> tuple[time, ...]:
    times = read_times(reader)
    if times is None:
        raise BadRule("rule_no_time")
    return times


def _time_first(reader: Reader) -> At | None:
    midnight = reader.take(_MIDNIGHT)
    times = (time(0),) if midnight else read_times(reader)
    if times is None or reader.take(_CHINESE_GOES_ON):
        return None
    if this := reader.take(_THIS_PART):
        return At(Ahead(0), in_part(this[1] or "evening", times))
    part = reader.take(_PART_BEHIND)
    day = read_day(reader) or Ahead(None)
    part = part or reader.take(_PART_OF_DAY if day != Ahead(None) else _PART_BEHIND)
    if midnight and not isinstance(day, Dates) and day != Ahead(None):
        raise BadRule("rule_which_midnight")
    return _at(reader, day, in_part(part[1], times, again=day == Dates()) if part else times)
