"""Words beside a time, which may change its meaning (`9:00 to 10:00`, `every 2 weeks monday`, `9点前`)."""

import re
from datetime import date

from agent_core.late_pattern import LatePattern
from gateway.schedule.times.chinese import CHINESE
from gateway.schedule.times.english import ENGLISH
from gateway.schedule.times.limits import FEAST, FEASTS
from gateway.schedule.times.lists import MONTHS, SHORT
from gateway.schedule.times.parser import Parser
from gateway.schedule.times.reader import Words
from gateway.schedule.times.vocabulary import SPELT
from gateway.schedule.times.zone_words import begins_with_zone
from gateway.store.rule import BadRule, half_understood

LANGUAGES = (ENGLISH, CHINESE)
LONGEST = 300
"""Characters; longer texts are not searched for a second time."""
_SOME_DAY = date(2026, 1, 1)
"""Today, where it only matters if a text is a time."""
_WORD = LatePattern(r"\S+")
_WORD_BEGINS = LatePattern(r"\A|(?<=[\s,.;:(])|(?=[^\x00-\x7f])|(?<=[^\x00-\x7f])")
_MOST_WORDS_OF_A_DAY = 4
_GAP = LatePattern(r"[\s,，]*")
_JOINER = LatePattern(
    r"(?:(?:and|or|then|again|but|not|to|till?|until|through|from|between|before|after|by|except|excluding|only|starting|beginning"
    r"|for|over|within|at|on|the|next|plus|also|as\s+well\s+as|along\s+with|once\s+more|both)\b|[-–—~～&+/|;；、和及与跟到至从]|或者?|以及|还有|再加?|加上?|另外|然后|除了?|直到|截止|不包括|仅限)\s*",
    re.IGNORECASE,
)
_MOST_JOINERS = 3
_NUMBER = LatePattern(r"\d{1,2}(?:st|nd|rd|th)?(?![^\s.,:：;!?])", re.IGNORECASE)
_NUMBER_BEHIND = LatePattern(r"[\s,，、/&+]*['’]?\d{1,2}(?!\d)")
_MONTH = "|".join(f"{name[:SHORT]}(?:{name[SHORT:]})?" for name in MONTHS["en"])
_ENDS_WITH_HOUR = LatePattern(rf"(?:\b(?:{_MONTH})\.?|(?<![:：.\d点點时])\d{{1,2}})\s*\Z", re.IGNORECASE)
_ENDS_WITH_HOURS = LatePattern(r"h(?:ou)?rs?\s*\Z", re.IGNORECASE)
_ENDS_WITH_CLOCK = LatePattern(r"(?<!\d)\d{4}(?:\s*(?:hours|hrs))?\Z", re.IGNORECASE)
_CLOCK_BEHIND = LatePattern(r"[\s,;|(/&+–—-]*(?:(?:and|or|to|till?|until|then|through|thru)\s+)?\d{2}", re.IGNORECASE)
_MINUTES_BEHIND = LatePattern(r"\s*[0-5]\d\b")
_ON_A_DAY = rf"on\s+(?:the\s+)?(?:{FEAST}|(?:[\w.]+['’]?s?\s+){{0,2}}(?:day|eve|birthday)\b)"
"""A day that only people can look up."""
_EARLIER = (
    rf"(?:remind\s+me\s+)?(?:\d{{1,3}}|half\s+an|an?|{SPELT})\s*(?:min(?:ute)?s?|hours?|hrs?|days?)\s+"
    r"(?:early|earlier|before(?:hand)?|in\s+advance|ahead|prior)\b"
)
_OTHER_DATES = (
    r"(?:on\s+)?(?:\d{4}[/.]\d{1,2}[/.]\d{1,2}|\d{1,2}-\d{1,2}-\d{2,4}|\d{1,2}(?:st|nd|rd|th))\b"
    rf"|(?:on\s+)?(?:\d{{1,2}}(?:{_MONTH})|(?:{_MONTH})\d{{1,2}})(?:\d{{2,4}})?\b"
    r"|(?:tmrw?|tmw|tomm?orr?ow|2morr?ow|tonite|2nite|2day|eod|cob|nye)\b"
    rf"|{FEASTS}\s+(?:day|eve)\b|(?-i:(?:[A-Z][\w.]+['’]?s?\s+){{1,2}}(?:Day|Eve))\b"
)
"""Dates in forms that nobody reads for sure, and slips of the pen."""
_PERIOD = LatePattern(
    rf"{_OTHER_DATES}|"
    r"(?:at\s*)?[:：]\d{2}\b|(?:this|next|coming)\s+(?:week|weekend|month|quarter|year)\b"
    rf"|{_ON_A_DAY}|{_EARLIER}|at\s+(?:a\s+)?(?:quarter|half)\s+(?:past|to)\b|the\s+(?:day|night|week)\s+(?:before|after)\b"
    r"|of\s+(?:next|this|the\s+following)\s+(?:week|month|year)\b|the\s+(?:following|next|same)\s+day\b"
    r"|(?:every|each)\s+(?:year|other|first|second|third|fourth|fifth|last|few|\d{1,2}(?:st|nd|rd|th))\b|annually\b"
    rf"|(?:in|on)\s+(?:{'|'.join(MONTHS['en'])}|spring|summer|autumn|winter)\b"
    rf"|(?:on\s+)?the\s+[a-z-]+\s+of\s+(?:{'|'.join(MONTHS['en'])})\b"
    r"|week\b|(?:this\s+)?coming\s+[a-z]+day\b|(?:\w+\s+)?(?:days?|weeks?|months?)\s+from\s+(?:today|tomorrow|[a-z]+day)\b",
    re.IGNORECASE,
)
"""A part of a time that no other pattern reads."""
_PART_BEHIND = LatePattern(r"(?:in\s+the\s+)?(?:morning|afternoon|evening|night)s?\s+(?:at\s+)?\d", re.IGNORECASE)
_ADJECTIVE = LatePattern(r"(?:daily|hourly|yearly|weekdays?|weekends?)\b(?!\s+(?:at\s+)?\d)", re.IGNORECASE)
"""As in `9:00 daily standup`."""
_ENGLISH = LatePattern(
    r"(?i:past\s+(?:every|each)|on\s+the\s+hour|in\s+the\s+(?:morning|afternoon|evening|night)|at\s+night)\b"
)
_OTHER_CHINESE_DATES = (
    r"\d{1,4}[/-]\d{1,2}(?:[/-]\d{1,4})?(?!\d)|在?(?:\d{1,2}|[二三]?十[一二三四五六七八九]?)[号日](?![线楼院门桌机码车床会馆厅台座间室游])"
    r"|[本这下上]*个?(?:[月年][底初末]|周末)|下+周(?![一二三四五六日天])|隔天|平安夜|五一|双十一|[母父]亲节|[腊正冬]月|初[一二三四五六七八九十]|生日那天"
)
_CHINESE = LatePattern(
    rf"{_OTHER_CHINESE_DATES}|"
    r"(?:持续|连续|为期)[\d一二两三四五六七八九十半]|[之以]?前(?![往台端])|[之以]后|后(?![勤台端])|过[\d一二三四五六七八九十]{1,3}分|左右|节假日|周末"
    r"|提[前早][\d一二两三四五六七八九十半几]|差(?:一刻|[\d一二两三五十]{1,2}分)|[零〇]\d|(?:开始|起)[，,\s]*每|每年|次日|第二天|[加减]\d|推迟\d|(?:连着|一连)[\d一二两三四五六七八九十几]|[（(]?[农阴旧]历|在?(?:圣诞|元旦|除夕|春节|元宵|清明|端午|中秋|国庆|情人节|劳动节)"
)
_AGAIN = LatePattern(r"\b(?:every|each)\b|每", re.IGNORECASE)
_LEADS_TO_A_TIME = LatePattern(
    r"(?:\b(?:from|to|till?|until|by|before|after|around|about|between|and|or|except|not|than|past|for|half|quarter|last"
    r"|next|this|first|second|third|fourth|fifth|other|biweekly|fortnightly|weekly|monthly|quarterly|yearly|yesterday"
    r"|tomorrow|today|tonight|\d{1,2}(?:st|nd|rd|th)(?:\s+of)?|\d{1,2}[./]\d{1,2}\S{0,5})|[-–—~&/]"
    rf"|\b{_ON_A_DAY}|\A{FEAST}|从|到|至|除了?|昨[天日晚]|前天|第.个?|最后一?个?|隔天|隔周|[单双])\s*\Z",
    re.IGNORECASE,
)


def check_behind(read: str, rest: str, *, any_day: bool) -> None:
    """Raise BadRule if the text after a time continues it.

    Args:
        read: The text of the time.
        any_day: No day was named with the time, so a day at the end of the text may belong to it.
    """
    gap = _GAP.match(rest)
    start = gap.end() if gap else 0
    if rest[:1].isalnum() and f"{read[-1:]}{rest[:1]}".isascii():  # `1h30`
        raise half_understood(rest)
    if _ENDS_WITH_HOUR.search(read) and _NUMBER_BEHIND.match(rest):  # `at 9/17`, `at 9 17`
        raise half_understood(rest[start:])
    if _ENDS_WITH_CLOCK.search(read) and _CLOCK_BEHIND.match(rest):  # `0900 to 1000`
        raise half_understood(rest[start:])
    if _ENDS_WITH_HOURS.search(read) and _MINUTES_BEHIND.match(rest):  # `in 1 hour 30`
        raise half_understood(rest[start:])
    if goes_on(rest[start:].lstrip("(（")):
        raise half_understood(rest[start:])
    if any_day and not rest[start:].startswith((":", "：")):
        for word in [*_WORD.finditer(rest)][-_MOST_WORDS_OF_A_DAY:]:
            if _is_day(rest[word.start() :]):
                raise half_understood(rest[word.start() :])


def check_unread(text: str) -> None:
    """Raise BadRule if a text that was not understood begins like a recurring time."""
    if _AGAIN.match(text.strip()):
        raise half_understood(text)


def check_before(text: str) -> None:
    """Raise BadRule if the text before a time at the end belongs to it."""
    if found := _AGAIN.search(text) or _LEADS_TO_A_TIME.search(text):
        raise half_understood(text[found.start() :])


def goes_on(text: str) -> bool:
    if any(pattern.match(text) for pattern in (_ENGLISH, _CHINESE, _PERIOD)) or begins_with_zone(text):
        return True
    if _ADJECTIVE.match(text):
        return False
    if _is_time(text):
        return True
    for _ in range(_MOST_JOINERS):
        joined = _JOINER.match(text)
        if joined is None:
            break
        text = text[joined.end() :]
        if (
            _NUMBER.match(text)
            or _PART_BEHIND.match(text)
            or ENGLISH.patterns["length"].match(text)
            or _CHINESE.match(text)
            or _PERIOD.match(text)
            or _is_time(text)
        ):
            return True
    return False


def names_a_time(rest: str) -> bool:
    """Return True if the text may name another time, or is too long to tell."""
    if len(rest) > LONGEST:
        return True
    return any(_is_time(rest[start.end() :]) for start in _WORD_BEGINS.finditer(rest))


def _is_time(text: str) -> bool:
    """Return True if the text begins with a time, possible or not."""
    return any(_is_read(words, text) for words in LANGUAGES)


def _is_day(text: str) -> bool:
    """Return True if the text is a day and nothing else."""
    for words in LANGUAGES:
        parser = Parser(text, words, _SOME_DAY)
        try:
            if parser.read_day() is not None and not parser.rest.strip(" .!?。！？"):
                return True
        except BadRule:
            return True
    return False


def _is_read(words: Words, text: str) -> bool:
    try:
        return Parser(text, words, _SOME_DAY).read() is not None
    except BadRule:
        return True
