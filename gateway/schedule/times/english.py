"""The forms of times in English."""

import re
from datetime import time

from agent_core.late_pattern import LatePattern
from gateway.schedule.times.lists import MONTHS, SHORT
from gateway.schedule.times.reader import Half, Reader, Words, half_of
from gateway.schedule.times.vocabulary import AMOUNT, SPELT, whole
from gateway.store.rule import BadRule

_NOON = 12
_DAY_NAME = "mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:r|rs|rsday)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?"
_WEEKDAY = rf"(?P<weekday>{_DAY_NAME})s?\b\.?"
_ANY_WEEKDAY = rf"(?:{_DAY_NAME})s?\b\.?"
_MONTH = rf"(?P<month>{'|'.join(f'{name[:SHORT]}(?:{name[SHORT:]})?' for name in MONTHS['en'])}|sept)\b\.?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?:,?\s+(?P<year>\d{4,5}))?"
_WHICH = "first|second|third|fourth|fifth|last"
_PART = r"(?P<part>morning|afternoon|evening|night)\b"
_AND = r"(?:(?:and\b|&)[\s,]*)?"
_NEXT = r",?\s*(?:and\b|&)|[,/]"
_UNIT = (
    r"(?P<unit>fortnights?|s|m|h|d|w)(?:(?<=s)(?:ecs?|econds?)|(?<=m)(?:ins?|inutes?)|(?<=h)(?:rs?|ours?)|(?<=d)ays?|(?<=w)eeks?)?"
    r"(?![a-z])"
)
_PERIOD = "(?:week|month|quarter|fortnight)"
_HOUR = (
    r"(?:1?\d|2[0-4]|0\d)(?![\w%]|[/.:-]\d"
    r"|\s*(?:[ap]\.?m|seconds?|secs?|min(?:ute)?s?|hours?|hrs?|days?|weeks?|times)\b)"
)
_HALF = r"(?:\s*([ap])\.?m\b\.?)?"
_TOMORROW = "tomorrow|tmrw?|tmw|2morrow"
_CLOCK = r"([01]\d|2[0-3])([0-5]\d)"
_HOURS = rf"{_CLOCK}\s*(?:hours|hrs)\b(?!\s+(?:later|before|after|of|ago|from)\b)"
_NO_MORE = r"(?!\w|[.:,/–—-]\d|\s*[ap]\.?m\b)"
_PATTERNS = {
    "lead": r"(?:please\b)?\s*(?:remind\s+me\b|remind\b|me\b)",
    "shorthand": r"(?:\d{1,9}[smhd])+(?!\w)",
    "in": r"in\b|after\b|(?=\w[\w\s,.]{1,40}\bfrom\s+now\b)",
    "later": r"(?:(?:['’]s?\s+)?time\b|from\s+now\b)?",
    "months": rf"(?:and\s+)?{AMOUNT}(?P<unit>month|year)s?\b",
    "length": rf"(?:and\s+)?{AMOUNT}(?P<before>and\s+a\s+half\s+)?{_UNIT}(?P<half>\s*and\s+a\s+half\b)?",
    "hourly": r"hourly\b|every\s+(?:hour(?!\s+and\s+a\s+half)|(?P<minute>minute))\b",
    "every": r"every\b|each\b",
    "hour_and_a_half": r"hour\s+and\s+a\s+half\b",
    "other_day": r"other\s+day\b",
    "from": r"(?:from|between)\s+(?=\d|noon|midday)",
    "to": r"(?:to|till|until|and|[-–—])\s*(?:at\s+)?(?=\d|noon|midday)",
    "window_hour": r"(?:1?\d|2[0-3]|0\d)(?![\w:.]\d|\w)",
    "separator": r"(?:(?:and\s+then|and|then)\b|&)?",
    "first_of_hours": rf"(?P<hour>{_HOUR})(?=(?:\s*,\s*{_HOUR})*\s*,?\s*(?:and\b|&)\s*{_HOUR})",
    "further_hour": rf"(?:and\b|&)\s*(?:(?P<hour>{_HOUR})|(?P<spelt>{SPELT})\b(?!['’-]))"
    rf"|(?P<listed>{_HOUR})(?=\s*,?\s*(?:and\b|&)\s*(?:at\s+)?\d|\s*,\s*(?:at\s+)?\d)",
    "last_hour": _HOUR,
    "until": r"(?:until|till|up\s+to)\b(?=\s)",
    "except": rf"(?:except|excluding|but\s+not|but(?=\s+(?:on\s+)?{_ANY_WEEKDAY}))\b(?:\s+on\b)?(?=\s)",
    "chinese_goes_on": r"(?=[到至])",
    # parts of the day
    "this_part": rf"(?:toni(?:ght|te)\b|this\s+{_PART})(?!['’])",
    "every_part": rf"(?:every|each)\s+{_PART}",
    "part": rf"(?:in\s+the\s+)?{_PART}",
    "part_behind": rf"(?:in\s+the|at)\s+{_PART}",
    "midnight": r"(?:at\s+)?midnight\b",
    # recurring days
    "every_day": r"(?:(?:every|each)\s*day|daily)\b"
    r"|(?P<often>once|twice|(?:three|four|five|six)(?=\s+times))(?:\s+times)?\s+(?:a|per|each|every)\s+day\b",
    "every_weekday": r"(?:(?:every|each|on)\s+)?(?:weekdays?|workdays?|(?:working|business) days?)\b",
    "every_weekend": r"(?:(?:every|each|on)\s+)?weekends?\b",
    "weekend": r"(?:(?:every|each|on)\s+)?weekends?\b",
    "every_year": r"(?:every\s+year|yearly|annually)\b|every(?=\s+(?:\d|[a-z]{3,9}\s+\d))",
    "every_month": r"(?:every\s+month|monthly|once\s+(?:a|per)\s+month)\b(?:\s+on\b)?(?:\s+the\b)?",
    "every_few": rf"(?:(?:every|each)\s+(?:other|(?P<number>\d{{1,3}}|{SPELT}))\s+"
    r"(?:(?P<unit>day|week|month|year)s?\b(?:\s+on\b)?(?:\s+the\b)?|(?=[a-z]+day\b|(?:mon|tue|wed|thu|fri|sat|sun)\b))"
    r"|(?:fortnightly|every\s+fortnight)\b(?:\s+on\b)?)",
    "period": rf"(?:(?:every|each)\s+(?:(?P<number>other|\d{{1,3}}|{SPELT})\s+)?"
    rf"(?={_PERIOD}s?\b(?!\s+(?:of\s+an?\s+)?hour))|(?={_PERIOD}ly\b))(?P<unit>{_PERIOD})(?:s|ly)?",
    "weekly": r"(?:every\s+week|weekly|once\s+(?:a|per)\s+week)(?:\s+on\b)?(?=\s)|every\b|each\b"
    r"|(?:on\s+)?(?=(?:mon|tues|wednes|thurs|fri|satur|sun)days\b)"
    rf"|(?:on\s+)?(?={_ANY_WEEKDAY}\s*(?:[-–—]|to\b|through\b|{_NEXT})\s*{_ANY_WEEKDAY})",
    "weekday": _WEEKDAY,
    "next_weekday": rf"(?:{_NEXT})?[\s,]*{_WEEKDAY}",
    "to_weekday": rf"(?:[-–—]|to\b|through\b|till\b|until\b)\s*{_WEEKDAY}",
    "every_first_or_last": r"every(?=\s+(?:first|last)\b|\s+\d{1,2}(?:st|nd|rd|th)\s*(?:,|and\b|at\b|\d))",
    "on_the": r"(?:(?:on|every|each)\s+)?(?:the\b)?",
    "of_every_month": r"(?:day\s+)?of\s+(?:every|each|the)\s+month\b",
    "first_day": r"first(?:\s+day(?!\w)|(?=\s+of\s))",
    "last_day": r"last(?:\s+day)?(?!\w)",
    "working_day": rf"(?P<which>{_WHICH})\s+(?:(?:working|business)\s+day|workday|weekday)\b",
    "counted_weekday": rf"(?P<which>{_WHICH}|[1-5](?:st|nd|rd|th))\s+{_WEEKDAY}",
    "day_of_month": rf"{_DAY}(?!\w|[:.]\d)",
    "next_day_of_month": rf"{_AND}{_DAY}(?!\w|[:.]\d)",
    # single days
    "days_ahead": rf"(?:the\s+)?(?P<ahead>day\s+after\s+(?:{_TOMORROW})|{_TOMORROW}|today)\b(?!['’])",
    "day_of_next_month": r"(?:next\s+month\s+on\s+the\s+|(?:on\s+)?the\s+(?=\w+\s+of\s+next\s+month\b))"
    rf"{_DAY}(?:\s+of\s+next\s+month\b|(?!\w|[:.]\d))",
    "on_the_day": r"on\s+the\s+(?P<day>\d{1,2})(?:st|nd|rd|th)(?!\w|[:.]\d)(?!\s+of\b)",
    "named_day": rf"(?:on\s+|(?P<ahead>next)\s+|this\s+)?{_WEEKDAY}(?!['’])",
    "day_behind": "",
    # times of day
    "time": rf"(?:at\s+)?(\d{{1,2}})[:.：](\d{{2}})(?!\d|:\d|\.\s?(?:at\s+)?\d){_HALF}"
    r"|(?:at\s+)?(\d{1,2})\s*([ap])\.?m\b\.?",
    "compact": rf"at\s+(?:(?=0){_CLOCK}{_NO_MORE}|{_HOURS}{_NO_MORE}"
    rf"|(\d{{1,2}})h([0-5]\d){_NO_MORE}|(\d{{1,2}})h()(?!\s*[,/&]?\s*\d){_NO_MORE})",
    "past": r"(?:at\s+)?(half(?=\s+past)|(?:a\s+)?quarter|(?<=at\s)(?:five|ten|twenty)"
    r"|(?:five|ten|twenty|[0-5]?\d)(?=\s+(?:minutes\s+)?past))"
    rf"(?:\s+minutes)?\s+(past|after|to|till)\s+(\d{{1,2}}|{SPELT})(?![\w:.]\d|\w){_HALF}",
    "hour": r"(?:at\s+)?(\d{1,2})\s*o['’]?clock\b|at\s+(\d{1,2})(?![\w:.]\d|\w)|(\d{1,2})(?=\s+toni(?:ght|te)\b)",
    "spelt_hour": rf"at\s+({SPELT})\b(?:\s+(fifteen|thirty|forty-five)\b|\s*o['’]?clock\b)?{_HALF}",
    "named_time": r"(?:at\s+)?(?:12\s+)?(noon|midday|midnight)\b",
}
_DATES = (
    r"(?:on\s+)?(?P<year>\d{4,5})-(?P<month>\d{1,2})-(?P<day>\d{1,2})(?:T(?=\d)|(?!\w))",
    r"(?:on\s+)?(?P<day>\d{1,2})\.\s?(?P<month>\d{1,2})\.\s?(?P<year>\d{4,5})(?!\w)",
    r"(?:on\s+)?(?P<day>\d{1,2})/(?P<month>\d{1,2})/(?P<year>\d{4})(?!\w)",
    rf"(?:on\s+)?(?:the\s+)?(?:{_WEEKDAY},?\s+)?{_DAY}\s+(?:of\s+)?{_MONTH}{_YEAR}(?!\w|:\d)",
    rf"(?:on\s+)?(?:{_WEEKDAY},?\s+)?{_MONTH}\s+{_DAY}{_YEAR}(?!\w|:\d)",
)


def _read_time(reader: Reader) -> time | None:
    if found := reader.take("time"):
        hour, minute, half, short, short_half = found.groups()
        return _time(reader, int(hour or short), int(minute or 0), half or short_half, found[0], half_of(hour))
    if found := reader.take("compact"):
        hour, minute = [each for each in found.groups() if each is not None]
        at = reader.clock(int(hour), int(minute or 0), found[0])
        reader.half = Half.AM if hour[0] == "0" else Half.NAMED  # nobody writes `0630` for the evening
        return at
    if found := reader.take("past"):
        return _past(reader, found)
    if found := reader.take("hour"):
        return _time(reader, int(found[1] or found[2] or found[3]), 0, None, found[0], Half.BARE)
    if found := reader.take("spelt_hour"):
        return _time(reader, whole(found[1]), whole(found[2] or "0"), found[3], found[0], Half.BARE)
    found = reader.take("named_time")
    return reader.clock(0 if found[1].lower() == "midnight" else _NOON, 0, found[0]) if found else None


def _past(reader: Reader, found: re.Match[str]) -> time:
    """Return a time such as `half past five` or `ten to six`."""
    words, hour, half = found[1].lower(), whole(found[3]), found[4]
    minutes = 30 if words == "half" else 15 if words.endswith("quarter") else whole(words)
    if found[2].lower() in ("past", "after"):
        return _time(reader, hour, minutes, half, found[0], Half.BARE)
    before = (hour - 2) % _NOON + 1 if hour <= _NOON else hour - 1
    return _time(reader, before, 60 - minutes, half, found[0], Half.BARE)


def _time(reader: Reader, hour: int, minute: int, half: str | None, shown: str, clock: Half) -> time:
    """Return a time; `half`: `a` or `p` if the text says so."""
    if half is None:
        return reader.clock(hour, minute, shown, clock)
    if not 1 <= hour <= _NOON:
        raise BadRule("bad_time", time=shown.strip().removeprefix("at").strip())
    at = reader.clock(hour % _NOON + (_NOON if half.lower() == "p" else 0), minute, shown)
    reader.half = Half.PM if half.lower() == "p" else Half.AM
    return at


ENGLISH = Words(
    {name: LatePattern(text, re.IGNORECASE) for name, text in _PATTERNS.items()},
    tuple(LatePattern(form, re.IGNORECASE) for form in _DATES),
    _read_time,
)
