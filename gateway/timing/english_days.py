"""Parses days in English: single ones, and those of recurrences."""

import re
from dataclasses import replace

from gateway.timing.english_times import AND, NOON, NUMBERS, amount_of, pattern
from gateway.timing.lists import MONTHS, SHORT, WEEKDAYS
from gateway.timing.meant import Ahead, Date, MonthDay, SingleDay, Weekday, days_of_month, without, yearly
from gateway.timing.reader import Reader
from gateway.timing.recurrence import WORKING_DAYS, Dates
from gateway.timing.rule import BadRule

_SHORT_WEEKDAYS = [name[:SHORT].lower() for name in WEEKDAYS["en"]]
_SHORT_MONTHS = [name[:SHORT].lower() for name in MONTHS["en"]]
_COUNTED = ("first", "second", "third", "fourth", "fifth")
_WEEKDAY = (
    r"(mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:r|rs|rsday)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?)s?\b\.?"
)
_MONTH = rf"({'|'.join(f'{name[:SHORT]}(?:{name[SHORT:]})?' for name in MONTHS['en'])}|sept)\b\.?"
_ORDINAL = r"(\d{1,2})(?:st|nd|rd|th)?"

EVERY = pattern(r"every\b|each\b")
_EVERY_DAY = pattern(r"(?:(?:every|each)\s*day|daily)\b")
_EVERY_WEEKDAY = pattern(r"(?:(?:every|each|on)\s+)?(?:weekdays?|workdays?|(?:working|business) days?)\b")
_EVERY_WEEKEND = pattern(r"(?:(?:every|each|on)\s+)?weekends?\b")
_EVERY_YEAR = pattern(r"(?:every\s+year|yearly|annually)\b|every(?=\s+(?:\d|[a-z]{3,9}\s+\d))")
_EVERY_MONTH = pattern(r"(?:every\s+month|monthly)\b(?:\s+on\b)?(?:\s+the\b)?")
_WEEKLY = pattern(r"(?:every\s+week|weekly)(?:\s+on\b)?(?=\s)")
_EVERY_FEW = pattern(
    rf"(?:every|each)\s+(?:(other)|(\d{{1,3}}|{'|'.join(NUMBERS)}))\s+"
    r"(?:(day|week|month|year)s?\b(?:\s+on\b)?(?:\s+the\b)?|(?=[a-z]+day\b|(?:mon|tue|wed|thu|fri|sat|sun)\b))"
    r"|(?:fortnightly|every\s+fortnight)\b(?:\s+on\b)?()"
)
_EXCEPT = pattern(r"(?:except|excluding|but\s+not)\b(?:\s+on\b)?(?=\s)")
_OFTEN_A_DAY = pattern(r"(once|twice|(?:three|four|five|six)\s+times)\s+(?:a|per|each|every)\s+day\b")
_ON_THE = pattern(r"(?:(?:on|every|each)\s+)?(?:the\b)?")
_OF_EVERY_MONTH = pattern(r"(?:day\s+)?of\s+(?:every|each|the)\s+month\b")
_LAST_DAY = pattern(r"last(?:\s+day)?(?!\w)")
_WORKING_DAY = pattern(rf"({'|'.join(_COUNTED)}|last)\s+(?:(?:working|business)\s+day|workday|weekday)\b")
_COUNTED_WEEKDAY = pattern(rf"({'|'.join(_COUNTED)}|last|[1-5](?:st|nd|rd|th))\s+{_WEEKDAY}")
_EVERY_FIRST_OR_LAST = pattern(r"every(?=\s+(?:first|last)\b)")
_DAY_OF_MONTH = pattern(rf"{_ORDINAL}(?![\w:.])")
_NAMED = pattern(_WEEKDAY)
_TO_WEEKDAY = pattern(rf"(?:[-–—]|to\b|through\b|till\b|until\b)\s*{_WEEKDAY}")
_EACH_WEEKDAY = pattern(r"(?:on\s+)?(?=(?:mon|tues|wednes|thurs|fri|satur|sun)days\b)")
_WEEKDAY_RANGE = pattern(rf"(?:on\s+)?(?={_WEEKDAY}\s*(?:[-–—]|to\b|through\b)\s*{_WEEKDAY})")
_NAMED_DAY = pattern(rf"(?:on\s+|(next)\s+|this\s+)?{_WEEKDAY}(?!['’])")
_AHEAD = pattern(r"(the\s+)?(?:day\s+after\s+(tomorrow)|(tomorrow)|(today))\b(?!['’])")
_DOTTED = pattern(r"(?:on\s+)?(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4,5})(?!\w)")
_ISO = pattern(r"(?:on\s+)?(\d{4,5})-(\d{1,2})-(\d{1,2})(?:T(?=\d)|(?!\w))")
_DAY_MONTH = pattern(
    rf"(?:on\s+)?(?:the\s+)?(?:{_WEEKDAY},?\s+)?{_ORDINAL}\s+(?:of\s+)?{_MONTH}(?:,?\s+(\d{{4,5}}))?(?![\w:])"
)
_MONTH_DAY = pattern(rf"(?:on\s+)?(?:{_WEEKDAY},?\s+)?{_MONTH}\s+{_ORDINAL}(?:,?\s+(\d{{4,5}}))?(?![\w:])")
_SLASHED = pattern(r"(?:on\s+)?(\d{1,2})/(\d{1,2})/(\d{4})(?!\w)")
_DAY_OF_NEXT_MONTH = pattern(
    rf"next\s+month\s+on\s+the\s+{_ORDINAL}(?![\w:.])|(?:on\s+)?the\s+{_ORDINAL}\s+of\s+next\s+month\b"
)
_ON_THE_DAY = pattern(r"on\s+the\s+(\d{1,2})(?:st|nd|rd|th)(?![\w:.])(?!\s+of\b)")


def read_exceptions(reader: Reader, dates: Dates) -> Dates:
    """Return the dates without weekdays that are left out, as in `every day except sundays`."""
    rest = reader.rest
    if reader.take(_EXCEPT) is None:
        return dates
    return without(dates, {5, 6} if reader.take(_EVERY_WEEKEND) else _weekday_list(reader), rest)


def read_day(reader: Reader) -> SingleDay | Dates | None:
    dates = reader.attempt(read_dates)
    return read_exceptions(reader, dates) if dates else reader.attempt(read_single_day)


def read_dates(reader: Reader) -> Dates | None:
    """Parse recurring days."""
    if reader.take(_EVERY_DAY) or reader.take(_OFTEN_A_DAY):
        return Dates()
    if reader.take(_EVERY_WEEKDAY):
        return Dates("WEEKLY", weekdays=WORKING_DAYS)
    if reader.take(_EVERY_WEEKEND):
        return Dates("WEEKLY", weekdays=(5, 6))
    forms = (_dates_of_years, read_intervals, _dates_of_months, _named_weekdays)
    return next((dates for form in forms if (dates := reader.attempt(form))), None)


def _dates_of_years(reader: Reader) -> Dates | None:
    if reader.take(_EVERY_YEAR) is None:
        return None
    date = reader.attempt(_date)
    return yearly(date.month, date.day) if date and date.year is None else None


def read_intervals(reader: Reader) -> Dates | None:
    """Parse days of every so many weeks, months or years."""
    found = reader.take(_EVERY_FEW)
    if found is None:
        return None
    number = int(amount_of(found[2])) if found[2] else 2
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
    if not any(map(reader.take, (_WEEKLY, EVERY, _EACH_WEEKDAY, _WEEKDAY_RANGE))):
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
        reader.take(AND)
    return reader.take(pattern)


def read_single_day(reader: Reader) -> SingleDay | None:
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
    if first != second and max(first, second) <= NOON:
        raise BadRule("rule_which_date")
    return Date(year, second, first) if first > NOON or first == second else Date(year, first, second)
