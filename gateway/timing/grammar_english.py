"""Parses times in English at the beginning of a text."""

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import time

from gateway.timing.lists import MONTHS, SHORT, WEEKDAYS
from gateway.timing.meant import (
    DAY,
    After,
    Ahead,
    At,
    Date,
    Interval,
    Meant,
    MonthDay,
    SingleDay,
    Weekday,
    days_of_month,
    within,
    without,
    yearly,
)
from gateway.timing.reader import Reader, clock_time, said
from gateway.timing.recurrence import WORKING_DAYS, Dates
from gateway.timing.rule import BadRule

_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_TENS = {"fifteen": 15.0, "twenty": 20.0, "thirty": 30.0, "forty": 40.0, "fifty": 50.0, "sixty": 60.0, "ninety": 90.0}
_HALF = {"half an": 0.5, "half a": 0.5, "a half": 0.5, "half": 0.5}
_WORDS = {"a": 1.0, "an": 1.0} | _HALF | _TENS | {word: n + 1.0 for n, word in enumerate(_NUMBERS)}
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": DAY, "w": 7 * DAY}
_SHORT_WEEKDAYS = [name[:SHORT].lower() for name in WEEKDAYS["en"]]
_SHORT_MONTHS = [name[:SHORT].lower() for name in MONTHS["en"]]
_COUNTED = ("first", "second", "third", "fourth", "fifth")
_NOON = 12
_SMALL_HOURS = frozenset({0, 1, 2, 3, 4, 12})
"""Hours of a twelve-hour clock that, in the evening or at night, belong to the next day."""


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE)


_AMOUNT = rf"(\d{{1,9}}(?:\.\d{{1,3}})?|(?:a\s+half|half(?:\s+an?)?|an?|{'|'.join((*_NUMBERS, *_TENS))})(?=\s))\s*"
"""A number in letters is followed by white space, so that `and` does not contain `an d`."""
_UNIT = (
    r"(s|m|h|d|w)(?:(?<=s)(?:ecs?|econds?)|(?<=m)(?:ins?|inutes?)|(?<=h)(?:rs?|ours?)|(?<=d)ays?|(?<=w)eeks?)?(?![a-z])"
)
LENGTH = _pattern(rf"(?:and\s+)?{_AMOUNT}{_UNIT}")
_MONTHS_LATER = _pattern(rf"(?:and\s+)?{_AMOUNT}(month|year)s?\b")
_HOUR_AND_A_HALF = _pattern(r"hour\s+and\s+a\s+half\b")
_AND_A_HALF = _pattern(r"and\s+a\s+half\b")
_SHORTHAND = _pattern(r"(?:\d{1,9}[smhd])+(?!\w)")
_WEEKDAY = (
    r"(mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:r|rs|rsday)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?)s?\b\.?"
)
_MONTH = rf"({'|'.join(f'{name[:SHORT]}(?:{name[SHORT:]})?' for name in MONTHS['en'])}|sept)\b\.?"
_ORDINAL = r"(\d{1,2})(?:st|nd|rd|th)?"

_LEAD = _pattern(r"(?:please\b)?\s*(?:remind\b)?\s*me\b")
_IN = _pattern(r"in\b|after\b")
_EVERY = _pattern(r"every\b|each\b")
_OTHER_DAY = _pattern(r"other\s+day\b")
_EVERY_DAY = _pattern(r"(?:(?:every|each)\s*day|daily)\b")
_PART = r"(morning|afternoon|evening|night)\b"
_THIS_PART = _pattern(rf"(?:tonight\b|this\s+{_PART})(?!['’])")
_EVERY_PART = _pattern(rf"(?:every|each)\s+{_PART}")
_EVERY_WEEKDAY = _pattern(r"(?:(?:every|each|on)\s+)?(?:weekdays?|workdays?|(?:working|business) days?)\b")
_EVERY_WEEKEND = _pattern(r"(?:(?:every|each|on)\s+)?weekends?\b")
_HOURLY = _pattern(r"hourly\b|every\s+(hour(?!\s+and\s+a\s+half)|minute)\b")
_EVERY_YEAR = _pattern(r"(?:every\s+year|yearly|annually)\b|every(?=\s+(?:\d|[a-z]{3,9}\s+\d))")
_EVERY_MONTH = _pattern(r"(?:every\s+month|monthly)\b(?:\s+on\b)?(?:\s+the\b)?")
_WEEKLY = _pattern(r"(?:every\s+week|weekly)(?:\s+on\b)?(?=\s)")
_EVERY_FEW = _pattern(
    rf"(?:every|each)\s+(?:(other)|(\d{{1,3}}|{'|'.join(_NUMBERS)}))\s+"
    r"(?:(day|week|month|year)s?\b(?:\s+on\b)?(?:\s+the\b)?|(?=[a-z]+day\b|(?:mon|tue|wed|thu|fri|sat|sun)\b))"
    r"|(?:fortnightly|every\s+fortnight)\b(?:\s+on\b)?()"
)
_EXCEPT = _pattern(r"(?:except|excluding|but\s+not)\b(?:\s+on\b)?(?=\s)")
_UNTIL = _pattern(r"(?:until|till|up\s+to)\b(?=\s)")
_CHINESE_GOES_ON = re.compile(r"(?=[到至])")
_WINDOW = _pattern(r"(?:from|between)\s+(?=\d|noon|midday)")
_WINDOW_END = _pattern(r"(?:to|till|until|and|[-–—])\s*(?:at\s+)?(?=\d|noon|midday)")
_WINDOW_HOUR = _pattern(r"(\d{1,2})(?![\w:.]\d|\w)")
_OFTEN_A_DAY = _pattern(r"(once|twice|(?:three|four|five|six)\s+times)\s+(?:a|per|each|every)\s+day\b")
_ON_THE = _pattern(r"(?:(?:on|every|each)\s+)?(?:the\b)?")
_OF_EVERY_MONTH = _pattern(r"(?:day\s+)?of\s+(?:every|each|the)\s+month\b")
_OF_MONTHS = _pattern(rf"of\s+(?=(?:{'|'.join(_SHORT_MONTHS)}))")
_LAST_DAY = _pattern(r"last(?:\s+day)?(?!\w)")
_WORKING_DAY = _pattern(rf"({'|'.join(_COUNTED)}|last)\s+(?:(?:working|business)\s+day|workday|weekday)\b")
_COUNTED_WEEKDAY = _pattern(rf"({'|'.join(_COUNTED)}|last|[1-5](?:st|nd|rd|th))\s+{_WEEKDAY}")
_EVERY_FIRST_OR_LAST = _pattern(r"every(?=\s+(?:first|last)\b)")
_DAY_OF_MONTH = _pattern(rf"{_ORDINAL}(?![\w:.])")
_AND = _pattern(r"and\b|&")
_NAMED = _pattern(_WEEKDAY)
_TO_WEEKDAY = _pattern(rf"(?:[-–—]|to\b|through\b|till\b|until\b)\s*{_WEEKDAY}")
_EACH_WEEKDAY = _pattern(r"(?:on\s+)?(?=(?:mon|tues|wednes|thurs|fri|satur|sun)days\b)")
_WEEKDAY_RANGE = _pattern(rf"(?:on\s+)?(?={_WEEKDAY}\s*(?:[-–—]|to\b|through\b)\s*{_WEEKDAY})")
_NAMED_DAY = _pattern(rf"(?:on\s+|(next)\s+|this\s+)?{_WEEKDAY}(?!['’])")
_PART_OF_DAY = _pattern(rf"(?:in\s+the\s+)?{_PART}")
_PART_BEHIND = _pattern(rf"(?:in\s+the|at)\s+{_PART}")
_MIDNIGHT = _pattern(r"(?:at\s+)?midnight\b")
_AHEAD = _pattern(r"(the\s+)?(?:day\s+after\s+(tomorrow)|(tomorrow)|(today))\b(?!['’])")
_DOTTED = _pattern(r"(?:on\s+)?(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4,5})(?!\w)")
_ISO = _pattern(r"(?:on\s+)?(\d{4,5})-(\d{1,2})-(\d{1,2})(?:T(?=\d)|(?!\w))")
_DAY_MONTH = _pattern(
    rf"(?:on\s+)?(?:the\s+)?(?:{_WEEKDAY},?\s+)?{_ORDINAL}\s+(?:of\s+)?{_MONTH}(?:,?\s+(\d{{4,5}}))?(?![\w:])"
)
_MONTH_DAY = _pattern(rf"(?:on\s+)?(?:{_WEEKDAY},?\s+)?{_MONTH}\s+{_ORDINAL}(?:,?\s+(\d{{4,5}}))?(?![\w:])")
_SLASHED = _pattern(r"(?:on\s+)?(\d{1,2})/(\d{1,2})/(\d{4})(?!\w)")
_DAY_OF_NEXT_MONTH = _pattern(
    rf"next\s+month\s+on\s+the\s+{_ORDINAL}(?![\w:.])|(?:on\s+)?the\s+{_ORDINAL}\s+of\s+next\s+month\b"
)
_ON_THE_DAY = _pattern(r"on\s+the\s+(\d{1,2})(?:st|nd|rd|th)(?![\w:.])(?!\s+of\b)")
_PAST = _pattern(
    rf"(?:at\s+)?(half\s+past|quarter\s+past|(?:a\s+)?quarter\s+to)\s+(\d{{1,2}}|{'|'.join(_NUMBERS)})(?![\w:.]\d|\w)(?:\s*([ap])\.?m\b\.?)?"
)
_TIME = _pattern(
    r"(?:at\s+)?(\d{1,2})[:.：](\d{2})(?!\d|:\d|\.\s?\d)(?:\s*([ap])\.?m\b\.?)?|(?:at\s+)?(\d{1,2})\s*([ap])\.?m\b\.?"
)
_HOUR = _pattern(r"(?:at\s+)?(\d{1,2})\s*o['’]?clock\b|at\s+(\d{1,2})(?![\w:.]\d|\w)|(\d{1,2})(?=\s+tonight\b)")
_SPELT_HOUR = _pattern(rf"at\s+({'|'.join(_NUMBERS)})\b(?:\s*o['’]?clock\b)?")
_NAMED_TIME = _pattern(r"(?:at\s+)?(?:12\s+)?(noon|midday|midnight)\b")


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
    times = _times(reader)
    return At(Ahead(meant.days), times) if times else meant


def _later(reader: Reader) -> After | None:
    days, seconds, months = 0, 0.0, _months(reader)
    some = months > 0
    while found := reader.take(LENGTH):
        some = True
        amount, unit = _amount(found[1]), _UNITS[found[2].lower()]
        amount += 0.5 if reader.take(_AND_A_HALF) else 0
        if unit >= DAY and amount == int(amount):
            days += int(amount) * (unit // DAY)
        else:
            seconds += amount * unit
    return After(days, seconds, months) if some else None


def _months(reader: Reader) -> int:
    found = reader.take(_MONTHS_LATER)
    months = _amount(found[1]) * (12 if found[2].lower() == "year" else 1) if found else 0
    if months != int(months):
        raise BadRule("rule_not_understood")
    return int(months)


def _amount(text: str) -> float:
    word = " ".join(text.lower().split())
    return _WORDS[word] if word in _WORDS else float(word)


def _interval(reader: Reader) -> Interval | At | None:
    if found := reader.take(_HOURLY):
        length = Interval(60 if (found[1] or "").lower() == "minute" else 3600)
        return _continued(reader, length)
    if reader.attempt(_at_intervals) or reader.take(_EVERY) is None:
        return None
    if reader.take(_HOUR_AND_A_HALF):
        return Interval(5400)
    few = Interval(2 * DAY) if reader.take(_OTHER_DAY) else _length(reader)
    return _continued(reader, few) if few else None


def _continued(reader: Reader, length: Interval) -> Interval | At:
    if times := reader.attempt(_times):
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
    day = reader.attempt(_dates)
    if reader.take(_WINDOW) is None or (first := _hour(reader)) is None:
        return None
    if reader.take(_WINDOW_END) is None or (last := _hour(reader)) is None:
        return None
    day = day or reader.attempt(_dates) or Dates()
    return At(_without(reader, day), within(seconds, first, last), _until(reader))


def _hour(reader: Reader) -> time | None:
    """Parse a time of day in which `9` is 9:00."""
    if at := reader.attempt(lambda reader: _one_of_times(reader, first=True)):
        return at
    found = reader.take(_WINDOW_HOUR)
    return clock_time(int(found[1]), 0, found[0]) if found else None


def _until(reader: Reader) -> SingleDay | None:
    """Parse the last day of a recurrence."""
    return reader.attempt(lambda reader: _day(reader) if reader.take(_UNTIL) else None)


def _without(reader: Reader, dates: Dates) -> Dates:
    """Leave out weekdays, as in `every day except sundays`."""
    rest = reader.rest
    if reader.take(_EXCEPT) is None:
        return dates
    return without(dates, {5, 6} if reader.take(_EVERY_WEEKEND) else _weekday_list(reader), rest)


def _part_first(reader: Reader) -> At | None:
    if found := reader.take(_THIS_PART):
        _no_midnight(reader)
        return At(Ahead(0), _in_part(found[1] or "evening", _needed(reader)))
    found = reader.take(_EVERY_PART)
    return At(Dates(), _in_part(found[1], _needed(reader), again=True)) if found else None


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
    times = _in_part(part[1], times, again=day == Dates()) if part else times
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
    return At(_without(reader, day), times, until or _until(reader))


def _no_midnight(reader: Reader) -> None:
    """Refuse midnight of a single day, as it may be the first moment or the last."""
    if reader.take(_MIDNIGHT):
        raise BadRule("rule_which_midnight")


def _needed(reader: Reader) -> tuple[time, ...]:
    times = _times(reader)
    if times is None:
        raise BadRule("rule_no_time")
    return times


def _in_part(part: str, times: tuple[time, ...], *, again: bool = False) -> tuple[time, ...]:
    """Apply a part of the day to times. `again`: for daily rules, where the day of the small hours does not matter."""
    return tuple(_one_in_part(part.lower(), at, again=again) for at in times)


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


def _time_first(reader: Reader) -> At | None:
    midnight = reader.take(_MIDNIGHT)
    times = (time(0),) if midnight else _times(reader)
    if times is None or reader.take(_CHINESE_GOES_ON):
        return None
    if this := reader.take(_THIS_PART):
        return At(Ahead(0), _in_part(this[1] or "evening", times))
    part = reader.take(_PART_BEHIND)
    day = read_day(reader) or Ahead(None)
    part = part or reader.take(_PART_OF_DAY if day != Ahead(None) else _PART_BEHIND)
    if midnight and not isinstance(day, Dates) and day != Ahead(None):
        raise BadRule("rule_which_midnight")
    return _at(reader, day, _in_part(part[1], times, again=day == Dates()) if part else times)


def read_day(reader: Reader) -> SingleDay | Dates | None:
    dates = reader.attempt(_dates)
    return _without(reader, dates) if dates else reader.attempt(_day)


def _dates(reader: Reader) -> Dates | None:
    """Parse recurring days."""
    if reader.take(_EVERY_DAY) or reader.take(_OFTEN_A_DAY):
        return Dates()
    if reader.take(_EVERY_WEEKDAY):
        return Dates("WEEKLY", weekdays=WORKING_DAYS)
    if reader.take(_EVERY_WEEKEND):
        return Dates("WEEKLY", weekdays=(5, 6))
    forms = (_dates_of_years, _at_intervals, _dates_of_months, _named_weekdays)
    return next((dates for form in forms if (dates := reader.attempt(form))), None)


def _dates_of_years(reader: Reader) -> Dates | None:
    if reader.take(_EVERY_YEAR) is None:
        return None
    date = reader.attempt(_date)
    return yearly(date.month, date.day) if date and date.year is None else None


def _at_intervals(reader: Reader) -> Dates | None:
    """Parse days of every so many weeks, months or years."""
    found = reader.take(_EVERY_FEW)
    if found is None:
        return None
    number = int(_amount(found[2])) if found[2] else 2
    if not number:
        return None
    unit = (found[3] or "week").lower()
    dates: Dates | None = None
    if unit == "week":
        days = _weekday_list(reader)
        dates = Dates("WEEKLY", weekdays=tuple(sorted(days))) if days else None
    elif unit == "month":
        dates = _in_month(reader)
    elif unit == "year":
        date = reader.attempt(_date)
        dates = yearly(date.month, date.day) if date else None
    return replace(dates, interval=number) if dates else None


def _dates_of_months(reader: Reader) -> Dates | None:
    if reader.take(_EVERY_MONTH):
        return _in_month(reader)
    if dates := reader.attempt(lambda reader: _in_month(reader) if reader.take(_EVERY_FIRST_OR_LAST) else None):
        reader.take(_OF_EVERY_MONTH)
        return dates
    if reader.take(_ON_THE) is None:
        return None
    dates = _in_month(reader)
    return dates if dates and reader.take(_OF_EVERY_MONTH) else None


def _in_month(reader: Reader) -> Dates | None:
    if found := reader.take(_WORKING_DAY):
        return Dates("MONTHLY", weekdays=WORKING_DAYS, position=_which(found[1]))
    if found := reader.take(_COUNTED_WEEKDAY):
        return Dates("MONTHLY", nth=((_weekday_number(found[2]), _which(found[1])),))
    if reader.take(_LAST_DAY):
        return Dates("MONTHLY", days=(-1,))
    days: set[int] = set()
    while found := reader.attempt(lambda reader: _listed(reader, _DAY_OF_MONTH, first=not days)):
        days.add(int(found[1]))
    return days_of_month(days) if days else None


def _which(name: str) -> int:
    if name[0].isdigit():
        return int(name[0])
    return -1 if name.lower() == "last" else _COUNTED.index(name.lower()) + 1


def _named_weekdays(reader: Reader) -> Dates | None:
    if not any(map(reader.take, (_WEEKLY, _EVERY, _EACH_WEEKDAY, _WEEKDAY_RANGE))):
        return None
    days = _weekday_list(reader)
    return Dates("WEEKLY", weekdays=tuple(sorted(days))) if days else None


def _weekday_list(reader: Reader) -> set[int]:
    days: set[int] = set()
    while found := reader.attempt(lambda reader: _listed(reader, _NAMED, first=not days)):
        first = _weekday_number(found[1])
        last = reader.take(_TO_WEEKDAY)
        length = (_weekday_number(last[1]) - first) % len(_SHORT_WEEKDAYS) if last else 0
        days.update((first + ahead) % len(_SHORT_WEEKDAYS) for ahead in range(length + 1))
    return days


def _weekday_number(name: str) -> int:
    """Return the weekday from Monday = 0."""
    return _SHORT_WEEKDAYS.index(name[:SHORT].lower())


def _listed(reader: Reader, pattern: re.Pattern[str], *, first: bool) -> re.Match[str] | None:
    """Take an element of a list; all but the first may follow a comma or `and`."""
    if not first:
        reader.take(_AND)
    return reader.take(pattern)


def _day(reader: Reader) -> SingleDay | None:
    if found := reader.take(_AHEAD):
        return Ahead(2 if found[2] else 1 if found[3] else 0)
    if found := reader.take(_DAY_OF_NEXT_MONTH):
        return MonthDay(int(found[1] or found[2]), 1)
    if found := reader.take(_ON_THE_DAY):
        return MonthDay(int(found[1]))
    date = reader.attempt(_date)
    return date or reader.attempt(_weekday)


def _weekday(reader: Reader) -> Weekday | None:
    found = reader.take(_NAMED_DAY)
    return Weekday(_weekday_number(found[2]), is_next=bool(found[1])) if found else None


def _date(reader: Reader) -> Date | None:
    if found := reader.take(_ISO):
        return Date(int(found[1]), int(found[2]), int(found[3]))
    if found := reader.take(_DOTTED):
        return Date(int(found[3]), int(found[2]), int(found[1]))
    if found := reader.take(_SLASHED):
        return _slashed(int(found[1]), int(found[2]), int(found[3]))
    if found := reader.take(_DAY_MONTH):
        _, day, month, year = found.groups()
    elif found := reader.take(_MONTH_DAY):
        _, month, day, year = found.groups()
    else:
        return None
    return Date(int(year) if year else None, _SHORT_MONTHS.index(month[:SHORT].lower()) + 1, int(day))


def _slashed(first: int, second: int, year: int) -> Date:
    """Read a date with slashes. Raises BadRule if it may be either the day or the month that comes first."""
    if first != second and max(first, second) <= _NOON:
        raise BadRule("rule_which_date")
    return Date(year, second, first) if first > _NOON or first == second else Date(year, first, second)


def _times(reader: Reader) -> tuple[time, ...] | None:
    times: list[time] = []
    while found := reader.attempt(lambda reader: _one_of_times(reader, first=not times)):
        times.append(found)
    return tuple(times) or None


def _one_of_times(reader: Reader, *, first: bool) -> time | None:
    if not first:
        reader.take(_AND)
    if found := reader.take(_TIME):
        hour, minute, half, short, short_half = found.groups()
        return _time(int(hour or short), int(minute or 0), half or short_half, found[0])
    if found := reader.take(_PAST):
        return _past(found[1].lower(), int(_amount(found[2])), found[3], found[0])
    if found := reader.take(_HOUR):
        return _time(int(found[1] or found[2] or found[3]), 0, None, found[0])
    if found := reader.take(_SPELT_HOUR):
        return time(int(_amount(found[1])))
    found = reader.take(_NAMED_TIME)
    return time(0 if found[1].lower() == "midnight" else _NOON) if found else None


def _past(part: str, hour: int, half: str | None, shown: str) -> time:
    """Return a time such as `half past five`."""
    if part.endswith("past"):
        return _time(hour, 30 if part.startswith("half") else 15, half, shown)
    return _time((hour - 2) % _NOON + 1 if hour <= _NOON else hour - 1, 45, half, shown)


def _time(hour: int, minute: int, half: str | None, shown: str) -> time:
    if half is None:
        return clock_time(hour, minute, shown)
    if not 1 <= hour <= _NOON:
        raise BadRule("bad_time", time=said(shown))
    return clock_time(hour % _NOON + (_NOON if half.lower() == "p" else 0), minute, shown)
