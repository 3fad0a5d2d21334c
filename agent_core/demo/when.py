"""Parsing of times in plain English and Chinese."""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta

MORNING, NOON, EVENING = 9, 12, 20
"""Hours: the first is the default of a day, the last of an evening."""
HOUR, DAY, WEEK = 60, 24 * 60, 7 * 24 * 60
"""Minutes."""
MOST_MINUTES = 5 * 365 * DAY


@dataclass(frozen=True)
class After:
    """Once, this many minutes from now."""

    minutes: int


@dataclass(frozen=True)
class Each:
    """Every this many minutes."""

    minutes: int


@dataclass(frozen=True)
class ByCron:
    """Repeatedly, by a cron expression."""

    expression: str


@dataclass(frozen=True)
class OnDay:
    """Once. The day is an ISO date, `0` for Sunday to `6`, `+1` for tomorrow, or empty for the next such time."""

    day: str
    hour: int
    minute: int

    def moment(self, now: datetime) -> str:
        """Return it as YYYY-MM-DDTHH:MM on the clock of `now`. Raises ValueError for a date that does not exist."""
        if re.fullmatch(r"[0-9]{4}-.+", self.day):
            at = datetime.fromisoformat(self.day).replace(tzinfo=now.tzinfo)
        elif self.day.startswith("+"):
            at = now + timedelta(days=int(self.day))
        else:
            at = now + timedelta(days=(int(self.day) - now.isoweekday()) % 7) if self.day else now
        at = at.replace(hour=self.hour, minute=self.minute, second=0, microsecond=0)
        if at <= now and not self.day.startswith("+") and "-" not in self.day:
            at += timedelta(days=7 if self.day else 1)
        return f"{at:%Y-%m-%dT%H:%M}"


When = After | Each | ByCron | OnDay

_ONES = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_NUMBER = rf"[0-9]{{1,4}}|{'|'.join(_ONES[1:])}|fifteen|twenty|thirty|an?|half an"
_SPOKEN = {
    **{word: number for number, word in enumerate(_ONES)},
    "fifteen": 15,
    "twenty": 20,
    "thirty": 30,
    "a": 1,
    "an": 1,
}
_UNIT = r"minutes?|mins?|m|hours?|hrs?|h|days?|d|weeks?|w"
_IN_UNIT = {"m": 1, "h": HOUR, "d": DAY, "w": WEEK}
_WEEKDAYS = ("sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday")
_A_DAY = "|".join(_WEEKDAYS)
_HAN = "〇一二三四五六七八九"
_HAN_NUMBER = r"[0-9]{1,4}|[一二两三四五六七八九十]{1,3}|半"
_HAN_UNIT = {"分钟": 1, "分": 1, "小时": HOUR, "钟头": HOUR, "天": DAY, "星期": WEEK, "周": WEEK}
_HAN_DAYS = "日一二三四五六"

# Patterns are compiled on first use.
_AFTER = rf"\b(?:in|after)\s+({_NUMBER})\s*({_UNIT})\b(?:\s+from now)?"
_HAN_AFTER = rf"(?:过|等)?({_HAN_NUMBER})\s*个?(半)?(分钟|小时|钟头|天|星期|周)(?:钟?(?:之|以)?后)"
_EACH = rf"\b(?:every|each)\s+(?:({_NUMBER})\s*)?(minutes?|mins?|m|hours?|hrs?|h)\b"
_HAN_EACH = rf"每隔?({_HAN_NUMBER})?\s*个?(分钟|小时|钟头)"
_TIME = (
    r"\b(?:at|@)\s*(?P<at>[0-9]{1,2})(?:[:.](?P<past>[0-9]{2}))?\s*(?P<half>am|pm)?\b(?:\s*o'?clock)?"
    rf"|\b(?:at\s+)?(?P<word>{'|'.join(_ONES[1:])})(?:\s+(?P<tens>fifteen|thirty))?\s*(?P<wordhalf>am|pm|o'?clock)"
    rf"|\bat\s+(?P<bare>{'|'.join(_ONES[1:])})(?:\s+(?P<baretens>fifteen|thirty))?\b"
    r"|\b(?P<plain>[0-9]{1,2}):(?P<minutes>[0-9]{2})\s*(?P<plainhalf>am|pm)?\b"
    r"|\b(?P<short>[0-9]{1,2})\s*(?P<shorthalf>am|pm)\b|\b(?:at\s+)?(?P<named>noon|midnight)\b"
)
_HAN_TIME = (
    r"(?P<part>早上|上午|清晨|中午|下午|傍晚|晚上|夜里)?\s*(?P<hour>[0-9]{1,2}|[一二两三四五六七八九十]{1,3})\s*"
    r"(?:[点时](?:钟|整)?|[:：])\s*(?P<minute>半|一刻|[0-9]{1,2}|[一二三四五][十]?[一二三四五六七八九]?)?\s*分?"
)
_DAYS = (
    r"\b(?P<every>every|each|on)\s+"
    rf"(?P<which>day|weekdays?|work(?:ing )?days?|morning|evening|night|week|month|(?:{_A_DAY})s?)\b"
    rf"|\b(?P<daily>daily|weekly|monthly)\b|\b(?P<rel>today|tonight|tomorrow)\b"
    rf"|\b(?:on\s+|next\s+)*(?P<on>{_A_DAY})\b|\b(?:on\s+)?(?P<date>[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}})\b"
)
_HAN_DAY = (
    r"每个?(?:工作日|周一到周五)|工作日|每[天日晚]|每个?(?:早上|晚上)|每个?(?:周|星期|礼拜)(?P<weekly>[一二三四五六日天])"
    r"|每个?月(?P<monthly>[0-9]{1,2})[号日]|(?P<rel>今天|今晚|明天|明早|明晚|后天)"
    r"|下?个?(?:周|星期|礼拜)(?P<on>[一二三四五六日天])|(?P<date>[0-9]{4}-[0-9]{2}-[0-9]{2})"
)


def read_when(text: str) -> tuple[When | None, str]:
    """Return the time and the remaining words; None if they name no time."""
    for pattern, make in ((_AFTER, _after), (_HAN_AFTER, _han_after), (_EACH, _each), (_HAN_EACH, _han_each)):
        if found := re.search(pattern, text, re.IGNORECASE):
            return make(found), _without(text, found)
    for days, times, read in ((_DAYS, _TIME, _clocked), (_HAN_DAY, _HAN_TIME, _han_clocked)):
        day = re.search(days, text, re.IGNORECASE)
        rest = _without(text, day) if day else text
        time = re.search(times, rest, re.IGNORECASE)
        if day or time:
            return read(day, time), _without(rest, time) if time else rest
    return None, text


def _without(text: str, found: re.Match[str]) -> str:
    return f"{text[: found.start()]} {text[found.end() :]}"


def _minutes(number: int, unit: int) -> int:
    return min(number * unit, MOST_MINUTES)


def _after(found: re.Match[str]) -> When:
    return After(_spoken(found))


def _each(found: re.Match[str]) -> When:
    return Each(_spoken(found))


def _spoken(found: re.Match[str]) -> int:
    number, unit = (found[1] or "1").lower(), _IN_UNIT[found[2][0].lower()]
    return unit // 2 if number == "half an" else _minutes(_SPOKEN.get(number) or int(number), unit)


def _han_after(found: re.Match[str]) -> When:
    unit = _HAN_UNIT[found[3]]
    return After(unit // 2 if found[1] == "半" else _minutes(_han(found[1]), unit) + (unit // 2 if found[2] else 0))


def _han_each(found: re.Match[str]) -> When:
    unit = _HAN_UNIT[found[2]]
    return Each(unit // 2 if found[1] == "半" else _minutes(_han(found[1] or "一"), unit))


def _han(number: str) -> int:
    """Return a Chinese number up to ninety-nine."""
    if number.isascii():
        return int(number)
    tens, ten, ones = number.replace("两", "二").rpartition("十")
    return (_HAN.find(tens) if tens else 1) * 10 * bool(ten) + max(0, _HAN.find(ones) if ones else 0)


def _clocked(day: re.Match[str] | None, time: re.Match[str] | None) -> When | None:
    return _wall(_days_of(day), *_time_of(time))


def _han_clocked(day: re.Match[str] | None, time: re.Match[str] | None) -> When | None:
    return _wall(_han_days_of(day), *_han_time_of(time, day))


def _wall(days: str, hour: int, minute: int) -> When | None:
    """Return the time. `days` is a day of `OnDay` or cron's last three fields; None for an invalid time of day."""
    if hour >= 2 * NOON or minute >= HOUR:
        return None
    return ByCron(f"{minute} {hour} {days}") if " " in days else OnDay(days, hour, minute)


def _days_of(found: re.Match[str] | None) -> str:
    if found is None:
        return ""
    if found["daily"]:
        return {"daily": "* * *", "weekly": "* * 1", "monthly": "1 * *"}[found["daily"].lower()]
    if found["rel"]:
        return "+1" if found["rel"].lower() == "tomorrow" else "+0"
    if found["date"]:
        return found["date"]
    weekday = (found["on"] or found["which"]).lower()
    if weekday.removesuffix("s") in _WEEKDAYS:
        number = str(_WEEKDAYS.index(weekday.removesuffix("s")))
        again = found["every"] and (found["every"].lower() != "on" or weekday.endswith("s"))
        return f"* * {number}" if again else number
    kinds = {"weekday": "* * 1-5", "workday": "* * 1-5", "working day": "* * 1-5", "week": "* * 1", "month": "1 * *"}
    return kinds.get(weekday.removesuffix("s"), "* * *")


def _time_of(found: re.Match[str] | None) -> tuple[int, int]:
    if found is None:
        return MORNING, 0
    group = found.groupdict(default="")
    if group["named"]:
        return (NOON if group["named"].lower() == "noon" else 0), 0
    digits = group["at"] or group["plain"] or group["short"]
    hour = int(digits) if digits else _SPOKEN[(group["word"] or group["bare"]).lower()]
    tens = (group["tens"] or group["baretens"]).lower()
    minute = int(group["past"] or group["minutes"] or _SPOKEN.get(tens, 0))
    half = (group["half"] or group["plainhalf"] or group["shorthalf"] or group["wordhalf"]).lower()
    return _half(hour, is_late=half == "pm", is_early=half == "am"), minute


def _half(hour: int, *, is_late: bool, is_early: bool) -> int:
    if is_late and hour < NOON:
        return hour + NOON
    return 0 if is_early and hour == NOON else hour


def _han_days_of(found: re.Match[str] | None) -> str:
    if found is None:
        return ""
    if found["rel"]:
        return {"今": "+0", "明": "+1", "后": "+2"}[found["rel"][0]]
    if found["date"]:
        return found["date"]
    if found["monthly"]:
        return f"{found['monthly']} * *"
    if weekday := found["weekly"] or found["on"]:
        number = str(_HAN_DAYS.index(weekday.replace("天", "日")))
        return f"* * {number}" if found["weekly"] else number
    return "* * 1-5" if "工作日" in found[0] or "周一到" in found[0] else "* * *"


def _han_time_of(found: re.Match[str] | None, day: re.Match[str] | None) -> tuple[int, int]:
    part = ((found["part"] if found else "") or "") + (day[0] if day else "")
    is_late = any(late in part for late in ("下午", "傍晚", "晚", "夜"))
    if found is None:
        return (EVENING if is_late else MORNING), 0
    past = found["minute"] or "0"
    minute = {"半": 30, "一刻": 15}.get(past)
    return _half(_han(found["hour"]), is_late=is_late, is_early=False), _han(past) if minute is None else minute
