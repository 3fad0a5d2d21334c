"""Parses times in Chinese at the beginning of a text."""

import re
from collections.abc import Callable
from datetime import time

from gateway.timing.meant import DAY, After, Ahead, At, Date, Dates, Interval, Meant, Weekday, days_of_month
from gateway.timing.reader import Reader, clock_time
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
_LAST_WORKING_DAY = re.compile(r"的?最后一?个?工作日")
_LAST_DAY = re.compile(r"的?最后一天")
_COUNTED_WEEKDAY = re.compile(rf"的?(?:第([一二三四五])|最后一)个?{_WEEK}([一二三四五六日天])")
_DAY_OF_MONTH = re.compile(rf"[、和及与跟]?\s*({_NUMBER})\s*[日号]")
_EVERY_YEAR = re.compile(r"每年")
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


def _interval(reader: Reader) -> Interval | None:
    if found := reader.take(_HOURLY):
        return Interval(60 if found[1] == "分钟" else 3600)
    every = reader.take(_EVERY)
    if every is None:
        return None
    found = reader.take(_LENGTH)
    if found is None:
        return None
    if reader.attempt(_times):
        raise BadRule("rule_days_or_times")
    unit, amount = _length(found)
    if every[1] and unit >= DAY:
        return _with_days_between(amount, unit)
    return Interval(unit * amount)


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
    return At(day, times)


def read_day(reader: Reader) -> Ahead | Weekday | Date | Dates | None:
    """Parse a day without a time."""
    return reader.attempt(_dates) or reader.attempt(_day)


def _time_first(reader: Reader) -> At | None:
    times = _times(reader)
    return At(Ahead(None), times) if times else None


def _dates(reader: Reader) -> Dates | None:
    """Parse recurring days."""
    if reader.take(_EVERY_DAY):
        return Dates()
    if reader.take(_EVERY_WEEKDAY):
        return Dates(weekday="1-5")
    if reader.take(_EVERY_WEEKEND):
        return Dates(weekday="0,6")
    if reader.take(_EVERY_YEAR):
        date = reader.attempt(_date)
        return Dates(day=str(date.day), month=str(date.month)) if date else None
    if reader.take(_EVERY_MONTH):
        return _in_month(reader)
    return _named_weekdays(reader)


def _in_month(reader: Reader) -> Dates | None:
    if found := reader.take(_COUNTED_WEEKDAY):
        weekday = _cron_weekday(found[2])
        return Dates(weekday=f"{weekday}#{_DIGITS.index(found[1])}" if found[1] else f"{weekday}L")
    if reader.take(_LAST_WORKING_DAY):
        return Dates(day="LW")
    if reader.take(_LAST_DAY):
        return Dates(day="L")
    days: set[int] = set()
    while found := reader.take(_DAY_OF_MONTH):
        days.add(_number(found[1]))
    return Dates(day=days_of_month(days)) if days else None


def _named_weekdays(reader: Reader) -> Dates | None:
    found = reader.take(_EVERY_WEEK)
    if found is None:
        return None
    if found[2]:
        first, last = _weekday_number(found[1]), _weekday_number(found[2])
        if first > last:
            raise BadRule("rule_not_understood")
        days = {(number + 1) % len(_WEEKDAYS) for number in range(first, last + 1)}
    else:
        days = {_cron_weekday(found[1])}
        while found := reader.take(_AND_WEEKDAY):
            days.add(_cron_weekday(found[1]))
    return Dates(weekday=",".join(str(day) for day in sorted(days)))


def _day(reader: Reader) -> Ahead | Weekday | Date | None:
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


def _cron_weekday(name: str) -> int:
    """Return the weekday from Sunday = 0."""
    return (_weekday_number(name) + 1) % len(_WEEKDAYS)
