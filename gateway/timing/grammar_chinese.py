"""Parses times in Chinese at the beginning of a text."""

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import time

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
from gateway.timing.reader import Reader, clock_time
from gateway.timing.recurrence import WORKING_DAYS, Dates
from gateway.timing.rule import BadRule

_DIGITS = "零一二三四五六七八九"
_WEEKDAYS = "一二三四五六日"
_UNITS = {"秒": 1, "分": 60, "刻": 900, "时": 3600, "天": DAY, "周": 7 * DAY}
_AHEAD = {"今": 0, "明": 1, "后": 2, "大后": 3}
_NOON = 12
_MORNING = frozenset({"清晨", "早上", "早晨", "早"})
_AFTERNOON = frozenset({"下午", "傍晚", "晚上", "夜里", "晚"})
_SMALL_HOURS = {"夜里": 7, "晚上": 5, "晚": 5, "傍晚": 5}
"""Hours below these belong to another day, or are not called so."""
_LATEST_NOON = 3
"""`中午一点` is after noon, `中午十一点` before."""

_NUMBER = r"\d{1,9}|[一二两三四五六七八九]?十[一二三四五六七八九]?|[零一二两三四五六七八九]"
_LENGTH = re.compile(
    rf"(?P<half>半)\s*个?\s*(?P<halved>小时|钟头|天)"
    rf"|(?P<number>{_NUMBER})\s*个?\s*(?P<and_half>半)?\s*"
    r"(?P<unit>秒钟?|分钟?|刻钟?|小时|钟头|天|周|星期|礼拜)"
)
_MONTHS = re.compile(rf"(半)年|({_NUMBER})\s*(个月|年)")
_LATER = re.compile(r"之?后|以后|过后")
_PART = r"(?P<part>凌晨|清晨|早上|早晨|上午|中午|下午|傍晚|晚上|夜里|早|晚)"
_TIME = re.compile(
    rf"{_PART}?\s*(?:(?P<clock_hour>\d{{1,2}})[:：](?P<clock_minute>\d{{2}})(?!\d)"
    rf"|(?P<hour>{_NUMBER})\s*[点點时](?:钟|整)?"
    rf"(?:(?P<half>半)(?!个?小时|天)|(?P<quarters>[一三])刻|(?P<minutes>{_NUMBER})分(?!钟)|(?P<digits>[0-5]\d)(?!\d|\s*[个人次件分刻天小点]))?)"
)
_AT_NOON = re.compile(r"中午|正午")

_LEAD = re.compile(r"(?:请)?(?:提醒我|叫我|通知我)?\s*(?:在|于|过|再过)?")
_EVERY = re.compile(r"每(隔)?")
_HOURLY = re.compile(r"每个?(小时|钟头|分钟)")
_EVERY_DAY = re.compile(r"每天|每日|天天|每(?=[早晚])")
_EVERY_WEEKDAY = re.compile(r"(?:每个?)?工作日")
_EVERY_WEEKEND = re.compile(r"每个?周末")
_WEEK = r"(?:周|星期|礼拜)"
_EVERY_WEEK = re.compile(rf"每个?{_WEEK}([一二三四五六日天])(?:\s*[到至-]\s*{_WEEK}?([一二三四五六日天]))?")
_AND_WEEKDAY = re.compile(
    rf"[、和及与跟]?\s*每?{_WEEK}?([一二三四五六日天])(?=[、，,和及与跟\s\d早上下中晚凌清傍夜一二三四五六日天周星礼]|$)"
)
_EVERY_MONTH = re.compile(r"每个?月")
_WORKING_DAY = re.compile(r"的?(?:第([一二三四五])|最后一?)个?工作日")
_LAST_DAY = re.compile(r"的?最后一天")
_COUNTED_WEEKDAY = re.compile(rf"的?(?:第([一二三四五])|最后一)个?{_WEEK}([一二三四五六日天])")
_DAY_OF_MONTH = re.compile(rf"[、和及与跟]?\s*({_NUMBER})\s*[日号]")
_EVERY_YEAR = re.compile(r"每年")
_EVERY_FEW = re.compile(
    rf"每隔一个?{_WEEK}的?|隔{_WEEK}的?|每\s*(?P<number>{_NUMBER})\s*个?(?P<unit>周|星期|礼拜|月|年)的?"
)
_WEEKDAYS_OF_WEEK = re.compile(rf"(?:在)?{_WEEK}([一二三四五六日天])")
_OFTEN_A_DAY = re.compile(r"每[天日](?:一|[两二三四五六])次")
_EXCEPT = re.compile(r"除了|除")
_EXCEPT_DAY = re.compile(rf"[、和及与]?{_WEEK}([一二三四五六日天])")
_EXCEPT_END = re.compile(r"之?外|以外")
_WEEKEND = re.compile(r"周末")
_UNTIL = re.compile(r"直到|到|截止到?|至")
_UNTIL_END = re.compile(r"为止|止")
_FROM = re.compile(r"从")
_TO = re.compile(r"[到至~～-]")
_DAY_OF_NEXT_MONTH = re.compile(rf"(下下个?|下个?|这个?|本)月\s*({_NUMBER})\s*[日号]")
_DAYS_AHEAD = re.compile(r"(大后|今|明|后)(?:[天日]|(?=[早晚]))")
_WEEKDAY = re.compile(rf"(下下个?|下个?|这个?|本)?{_WEEK}([一二三四五六日天])")
_DATE = re.compile(
    rf"(?:(\d{{4,5}})\s*年\s*)?({_NUMBER})\s*月\s*({_NUMBER})\s*[日号]?(?:\s*[（(]?{_WEEK}[一二三四五六日天][）)]?)?"
)
_SEPARATOR = re.compile(r"[、和及与跟]")


def read(reader: Reader) -> Meant | None:
    """Parse a time; returns None if the text does not begin with one. Raises BadRule for an impossible one."""
    reader.take(_LEAD)
    readings: tuple[Callable[[Reader], Meant | None], ...] = (_after, _interval, _day_first, _time_first)
    return next((meant for reading in readings if (meant := reader.attempt(reading))), None)


def _after(reader: Reader) -> Meant | None:
    days, seconds, months = 0, 0.0, _months(reader)
    some = months > 0
    while found := reader.take(_LENGTH):
        some = True
        unit, amount = _length(found)
        if unit >= DAY and amount == int(amount):
            days += int(amount) * (unit // DAY)
        else:
            seconds += unit * amount
    if not some or not reader.take(_LATER):
        return None
    times = None if seconds or months else _times(reader)
    return At(Ahead(days), times) if times else After(days, seconds, months)


def _months(reader: Reader) -> int:
    found = reader.take(_MONTHS)
    if found is None:
        return 0
    return 6 if found[1] else _number(found[2]) * (12 if found[3] == "年" else 1)


def _length(found: re.Match[str]) -> tuple[int, float]:
    """Return the unit in seconds and the amount."""
    if found["half"]:
        return (DAY if found["halved"] == "天" else 3600), 0.5
    name = found["unit"]
    unit = _UNITS.get(name[0]) or (3600 if name in ("小时", "钟头") else _UNITS["周"])
    return unit, _number(found["number"]) + (0.5 if found["and_half"] else 0)


def _interval(reader: Reader) -> Interval | At | None:
    if window := reader.attempt(_window_first):
        return window
    if found := reader.take(_HOURLY):
        length = Interval(60 if found[1] == "分钟" else 3600)
        return reader.attempt(lambda reader: _in_window(reader, Dates(), length)) or length
    every = None if reader.attempt(_at_intervals) else reader.take(_EVERY)
    if every is None:
        return None
    found = reader.take(_LENGTH)
    if found is None or reader.attempt(_weekday):
        return None
    unit, amount = _length(found)
    length = _with_days_between(amount, unit) if every[1] and unit >= DAY else Interval(unit * amount)
    if times := reader.attempt(_times):
        if length.seconds % DAY:
            raise BadRule("rule_days_or_times")
        return _at(reader, Dates(interval=int(length.seconds // DAY)), times)
    return reader.attempt(lambda reader: _in_window(reader, Dates(), length)) or length


def _window_first(reader: Reader) -> At | None:
    """Parse hours before their interval, as in `工作日9点到18点每小时`."""
    day = reader.attempt(_dates) or Dates()
    hours = _hours(reader)
    length = _interval(reader) if hours and not _begins_window(reader) else None
    if hours is None or not isinstance(length, Interval):
        return None
    return At(day, within(length.seconds, *hours), _until(reader))


def _begins_window(reader: Reader) -> bool:
    return reader.attempt(_hours) is not None


def _in_window(reader: Reader, day: Dates, length: Interval) -> At | None:
    """Parse the hours of a day within which an interval is due."""
    hours = _hours(reader)
    return At(day, within(length.seconds, *hours), _until(reader)) if hours else None


def _hours(reader: Reader) -> tuple[time, time] | None:
    reader.take(_FROM)
    first = _one_of_times(reader, first=True)
    last = _one_of_times(reader, first=True) if first and reader.take(_TO) else None
    return (first, last) if first and last else None


def _at(reader: Reader, day: SingleDay | Dates, times: tuple[time, ...]) -> At:
    """Add what may follow the times of a recurrence."""
    return At(_without(reader, day), times, _until(reader)) if isinstance(day, Dates) else At(day, times)


def _until(reader: Reader) -> SingleDay | None:
    """Parse the last day of a recurrence."""
    day = reader.attempt(lambda reader: _day(reader) if reader.take(_UNTIL) else None)
    if day:
        reader.take(_UNTIL_END)
    return day


def _without(reader: Reader, dates: Dates) -> Dates:
    """Leave out weekdays, as in `每天除了周日`."""
    rest = reader.rest
    if reader.take(_EXCEPT) is None:
        return dates
    out = {5, 6} if reader.take(_WEEKEND) else set()
    while found := reader.take(_EXCEPT_DAY):
        out.add(_weekday_number(found[1]))
    reader.take(_EXCEPT_END)
    return without(dates, out, rest)


def _with_days_between(amount: float, unit: int) -> Interval:
    """`每隔一天` means every other day; for larger numbers usage differs. Raises BadRule for those."""
    if amount != 1:
        days = int(amount * unit // DAY)
        raise BadRule("rule_which_days", count=days, more=days + unit // DAY)
    return Interval(2 * unit)


def _day_first(reader: Reader) -> At | None:
    day = read_day(reader)
    if day is None:
        return None
    times = _times(reader)
    if times is None:
        raise BadRule("rule_no_time")
    return _at(reader, day, times)


def read_day(reader: Reader) -> SingleDay | Dates | None:
    """Parse a day without a time."""
    dates = reader.attempt(_dates)
    return _without(reader, dates) if dates else reader.attempt(_day)


def _time_first(reader: Reader) -> At | None:
    times = _times(reader)
    return At(Ahead(None), times) if times else None


def _dates(reader: Reader) -> Dates | None:
    """Parse recurring days."""
    if reader.take(_OFTEN_A_DAY) or reader.take(_EVERY_DAY):
        return Dates()
    if reader.take(_EVERY_WEEKDAY):
        return Dates("WEEKLY", weekdays=WORKING_DAYS)
    if reader.take(_EVERY_WEEKEND):
        return Dates("WEEKLY", weekdays=(5, 6))
    if reader.take(_EVERY_YEAR):
        date = reader.attempt(_date)
        return yearly(date.month, date.day) if date else None
    if dates := reader.attempt(_at_intervals):
        return dates
    return _in_month(reader) if reader.take(_EVERY_MONTH) else _named_weekdays(reader)


def _at_intervals(reader: Reader) -> Dates | None:
    """Parse days of every so many weeks, months or years."""
    found = reader.take(_EVERY_FEW)
    if found is None:
        return None
    number = _number(found["number"]) if found["number"] else 2
    dates: Dates | None = None
    if found["unit"] == "月":
        dates = _in_month(reader)
    elif found["unit"] == "年":
        date = reader.attempt(_date)
        dates = yearly(date.month, date.day) if date else None
    elif first := reader.take(_WEEKDAYS_OF_WEEK):
        dates = Dates("WEEKLY", weekdays=tuple(sorted(_more_weekdays(reader, first[1]))))
    return replace(dates, interval=number) if dates and number else None


def _in_month(reader: Reader) -> Dates | None:
    if found := reader.take(_COUNTED_WEEKDAY):
        return Dates("MONTHLY", nth=((_weekday_number(found[2]), _which(found[1])),))
    if found := reader.take(_WORKING_DAY):
        return Dates("MONTHLY", weekdays=WORKING_DAYS, position=_which(found[1]))
    if reader.take(_LAST_DAY):
        return Dates("MONTHLY", days=(-1,))
    days: set[int] = set()
    while found := reader.take(_DAY_OF_MONTH):
        days.add(_number(found[1]))
    return days_of_month(days) if days else None


def _which(number: str | None) -> int:
    return _DIGITS.index(number) if number else -1


def _named_weekdays(reader: Reader) -> Dates | None:
    found = reader.take(_EVERY_WEEK)
    if found is None:
        return None
    if found[2]:
        first, last = _weekday_number(found[1]), _weekday_number(found[2])
        if first > last:
            raise BadRule("rule_not_understood")
        return Dates("WEEKLY", weekdays=tuple(range(first, last + 1)))
    return Dates("WEEKLY", weekdays=tuple(sorted(_more_weekdays(reader, found[1]))))


def _more_weekdays(reader: Reader, first: str) -> set[int]:
    days = {_weekday_number(first)}
    while found := reader.take(_AND_WEEKDAY):
        days.add(_weekday_number(found[1]))
    return days


def _day(reader: Reader) -> SingleDay | None:
    if found := reader.take(_DAY_OF_NEXT_MONTH):
        return MonthDay(_number(found[2]), found[1].count("下"))
    if found := reader.take(_DAYS_AHEAD):
        return Ahead(_AHEAD[found[1]])
    weekday = reader.attempt(_weekday)
    return weekday or reader.attempt(_date)


def _weekday(reader: Reader) -> Weekday | None:
    found = reader.take(_WEEKDAY)
    if found is None:
        return None
    return Weekday(_weekday_number(found[2]), (found[1] or "").count("下") or None)


def _date(reader: Reader) -> Date | None:
    found = reader.take(_DATE)
    return Date(int(found[1]) if found[1] else None, _number(found[2]), _number(found[3])) if found else None


def _times(reader: Reader) -> tuple[time, ...] | None:
    times: list[time] = []
    while found := reader.attempt(lambda reader: _one_of_times(reader, first=not times)):
        times.append(found)
    return tuple(times) or None


def _one_of_times(reader: Reader, *, first: bool) -> time | None:
    if not first and not reader.take(_SEPARATOR):
        return None
    found = reader.take(_TIME)
    if found is None:
        return time(_NOON) if reader.take(_AT_NOON) else None
    hour, part = _number(found["clock_hour"] or found["hour"]), found["part"]
    if found["half"]:
        minute = 30
    elif found["quarters"]:
        minute = 15 * _number(found["quarters"])
    else:
        minute = _number(found["clock_minute"] or found["minutes"] or found["digits"] or "0")
    return clock_time(_hour(hour, part), minute, found[0])


def _hour(hour: int, part: str | None) -> int:
    _check_part(hour, part)
    if (part in _AFTERNOON and 1 <= hour < _NOON) or (part == "中午" and 1 <= hour <= _LATEST_NOON):
        return hour + _NOON
    if part in _AFTERNOON and hour == _NOON and part != "下午":
        raise BadRule("rule_which_midnight")
    return 0 if part == "凌晨" and hour == _NOON else hour


def _check_part(hour: int, part: str | None) -> None:
    """Raise BadRule if the hour is not in that part of the day, or is ambiguous between two days."""
    if part in _MORNING and hour >= _NOON:
        raise BadRule("rule_which_time")
    if part in _SMALL_HOURS and (0 < hour < _SMALL_HOURS[part] or _NOON < hour < _NOON + 5):
        raise BadRule("rule_which_time")


def _number(text: str) -> int:
    """Parse a number such as `12`, `十二`, `二十` or `两`."""
    if text.isdecimal():
        return int(text)
    tens, ten, ones = text.replace("两", "二").partition("十")
    if not ten:
        return _DIGITS.index(tens)
    return 10 * (_DIGITS.index(tens) if tens else 1) + (_DIGITS.index(ones) if ones else 0)


def _weekday_number(name: str) -> int:
    """Return the weekday from Monday = 0."""
    return _WEEKDAYS.index(name.replace("天", "日"))
