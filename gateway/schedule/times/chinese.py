"""The forms of times in Chinese."""

from datetime import time

from agent_core.late_pattern import LatePattern
from gateway.schedule.times.reader import Half, Reader, Words, half_of
from gateway.schedule.times.vocabulary import CHINESE_NUMBER, whole
from gateway.store.rule import BadRule

_NOON = 12
_MORNING = frozenset({"清晨", "早上", "早晨", "早"})
_AFTERNOON = frozenset({"下午", "傍晚", "晚上", "夜里", "晚"})
_SMALL_HOURS = {"夜里": 7, "晚上": 5, "晚": 5, "傍晚": 5}
"""Hours below these belong to another day, or are not called so."""
_LATEST_NOON = 3
"""`中午一点` is after noon, `中午十一点` before."""

_NUMBER = rf"(?P<number>{CHINESE_NUMBER})"
_AND = "[、和及与跟]"
_LEADS_TO_AN_HOUR = rf"(?=(?:\s*[、，,和及与]\s*(?:{CHINESE_NUMBER}))+\s*[点點时])"
_WEEK = "(?:周|星期|礼拜)"
_WEEKDAY = "(?P<weekday>[一二三四五六日天])"
_WHICH = "的?(?:第(?P<which>[一二三四五])|最后一?)个?"
_PART = "(?P<part>凌晨|清晨|早上|早晨|上午|中午|下午|傍晚|晚上|夜里|早|晚)"
_PATTERNS = {
    "lead": r"(?:请)?(?:提醒我|叫我|通知我)?\s*(?:在|于|过|再过)?",
    "in": "",
    "later": r"(?:之?后|以后|过后)的?",
    "months": rf"(?P<number>半(?=年)|{CHINESE_NUMBER})\s*(?P<unit>个月|年)",
    "length": rf"(?P<number>半(?=\s*个?\s*(?:小时|钟头|天))|{CHINESE_NUMBER})\s*个?\s*(?P<half>半)?\s*个?\s*"
    r"(?P<unit>秒钟?|分钟?|刻钟?|小时|钟头|天|周|星期|礼拜)",
    "hourly": r"每个?(?:小时|钟头|(?P<minute>分钟))",
    "every": "每隔?",
    "from": "从?",
    "to": "[到至~～-]",
    "separator": _AND,
    "first_of_hours": rf"(?P<hour>{CHINESE_NUMBER}){_LEADS_TO_AN_HOUR}",
    "further_hour": rf"[、和及与]?\s*(?P<listed>{CHINESE_NUMBER}){_LEADS_TO_AN_HOUR}",
    "until": r"直到|到|截止到?|至",
    "until_end": r"为止|止",
    "except": r"除了|除",
    "except_end": r"之?外|以外",
    # recurring days
    "every_day": r"每[天日](?P<often>[一两二三四五六])次|每天|每日|天天|每(?=[早晚])",
    "every_weekday": r"(?:每个?)?工作日(?:的?每[天日])?",
    "every_weekend": "每个?周末",
    "weekend": "周末",
    "every_year": "每年",
    "every_month": "每个?月",
    "every_few": rf"(?:每隔一个?{_WEEK}的?|隔{_WEEK}的?|每\s*{_NUMBER}\s*个?(?P<unit>周|星期|礼拜|月|年)的?)",
    "period": rf"(?=[每隔])每?\s*(?:(?P<number>隔一?|半(?=年)|{CHINESE_NUMBER})\s*)?个?"
    r"(?P<unit>周|星期|礼拜|月|季度?|(?<=半)年)",
    "weekly": rf"每个?(?={_WEEK})|(?={_WEEK}[一二三四五六日天]\s*[、，,和及与跟到至~～-]?\s*{_WEEK}[一二三四五六日天])",
    "weekday": rf"在?{_WEEK}{_WEEKDAY}",
    "next_weekday": rf"{_AND}?\s*(?:每?{_WEEK})?(?!天天){_WEEKDAY}"
    r"(?=[、，,和及与跟\s\d之以外到至早上下中晚凌清傍夜一二三四五六日天周星礼]|$)",
    "to_weekday": rf"[到至-]\s*{_WEEK}?{_WEEKDAY}(?:的?每[天日])?",
    "first_day": "的?第一天",
    "last_day": "的?最后一天",
    "working_day": f"{_WHICH}工作日",
    "counted_weekday": f"{_WHICH}{_WEEK}{_WEEKDAY}",
    "day_of_month": rf"(?P<day>{CHINESE_NUMBER})\s*[日号]",
    "next_day_of_month": rf"{_AND}?\s*(?P<day>{CHINESE_NUMBER})\s*[日号]",
    # single days
    "days_ahead": r"(?P<ahead>大后|今|明|后)(?:[天日]|(?=[早晚]))",
    "day_of_next_month": rf"(?P<ahead>下下个?|下个?|这个?|本)月\s*(?P<day>{CHINESE_NUMBER})\s*[日号]",
    "named_day": rf"(?P<ahead>下下个?|下个?|这个?|本)?{_WEEK}{_WEEKDAY}",
    # times of day
    "time": rf"{_PART}?\s*(?:(?P<clock_hour>\d{{1,2}})[:：](?P<clock_minute>\d{{2}})(?!\d)"
    rf"|(?P<hour>{CHINESE_NUMBER})\s*[点點时]钟?整?"
    rf"(?:(?P<half>半)(?!个?小时|天)|(?P<quarters>[一三])刻|(?P<minutes>[零〇]?(?:{CHINESE_NUMBER}))分(?!钟)"
    r"|(?P<digits>[0-5]\d|[二三四五]?十[一二三四五六七八九]?|[零〇][一二三四五六七八九])"
    r"(?![\d一二三四五六七八九十百千万]|\s*[个人次件分刻天小点号日月年周岁元块页层楼份位名公全]))?)",
    "noon": r"中午|正午",
}
_DATE = rf"(?:(?P<year>\d{{4,5}})\s*年\s*)?(?P<month>{CHINESE_NUMBER})\s*月\s*(?P<day>{CHINESE_NUMBER})\s*[日号]?"
_IN_BRACKETS = rf"(?:\s*[（(]?{_WEEK}{_WEEKDAY}[）)]?)?"


def _read_time(reader: Reader) -> time | None:
    found = reader.take("time")
    if found is None:
        return reader.clock(_NOON, 0, noon[0]) if (noon := reader.take("noon")) else None
    if found["half"]:
        minute = 30
    elif found["quarters"]:
        minute = 15 * whole(found["quarters"])
    else:
        minute = whole(found["clock_minute"] or found["minutes"] or found["digits"] or "0")
    hour, part = whole(found["clock_hour"] or found["hour"]), found["part"]
    shape = half_of(found["clock_hour"]) if found["clock_hour"] else Half.BARE
    return reader.clock(_hour(hour, part), minute, found[0], Half.NAMED if part else shape)


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


CHINESE = Words(
    {name: LatePattern(text) for name, text in _PATTERNS.items()}, (LatePattern(_DATE + _IN_BRACKETS),), _read_time
)
