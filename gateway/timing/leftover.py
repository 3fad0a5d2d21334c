"""Detects words about time that were not parsed.

Words beside a time may change its meaning (`9:00 to 10:00`, `every 2 weeks monday`, `9点前`). Instead of acting on half
of it, the text is refused and the user asked to say it plainly.
"""

import re
from types import ModuleType

from gateway.timing import english_days, grammar_chinese, grammar_english
from gateway.timing.reader import Reader, half_understood
from gateway.timing.rule import BadRule

_MOST_WORDS_OF_A_DAY = 4
_GAP = re.compile(r"[\s,，]*")
_WORD = re.compile(r"\S+")
_JOINER = re.compile(
    r"(?:(?:and|or|then|again|but|not|to|till?|until|through|from|between|before|after|by|except|excluding|only|starting|beginning"
    r"|for|over|within|at|on|the|next)\b|[-–—~～&、和及与跟到至从]|除了?|直到|截止|不包括|仅限)\s*",
    re.IGNORECASE,
)
_MOST_JOINERS = 3
_NUMBER = re.compile(r"\d{1,2}(?:st|nd|rd|th)?(?![^\s.,!?])", re.IGNORECASE)
_ADJECTIVE = re.compile(r"(?:daily|hourly|yearly|annually|weekdays?|weekends?)\b", re.IGNORECASE)
"""As in `9:00 daily standup`."""
_ENGLISH = re.compile(r"(?i:in\s+the\s+(?:morning|afternoon|evening|night)|at\s+night)\b")
_CHINESE = re.compile(r"[之以]?前(?![往台端])|[之以]后|后(?![勤台端])|左右|节假日|周末")
_ZONE = re.compile(
    r"[+-]\d{1,2}:?\d{2}\b|[A-Z]\w+/[A-Z]\w+|\(?(?:UTC|GMT|CES?T|EES?T|BST|IST|JST|MSK|AE[SD]T|SGT|HKT|[ECMP][SD]T)\b|(?:[A-Z]\w+\s+){1,2}time\b"
    r"|[（(]?(?:北京|东京|纽约|伦敦|巴黎|柏林|当地|美国|英国|日本|欧洲)\S{0,2}时间"
)
_AGAIN = re.compile(r"\b(?:every|each)\b|每", re.IGNORECASE)
_LEADS_TO_A_TIME = re.compile(
    r"(?:\b(?:from|to|till?|until|by|before|after|around|about|between|and|or|except|not|than|past|for|half|quarter|last"
    r"|next|this|first|second|third|fourth|fifth|other|biweekly|fortnightly|weekly|monthly|quarterly|yearly|yesterday"
    r"|tomorrow|today|tonight|\d{1,2}(?:st|nd|rd|th)(?:\s+of)?|\d{1,2}[./]\d{1,2}\S{0,5})|[-–—~&/]"
    r"|从|到|至|除了?|昨[天日晚]|前天|第.个?|最后一?个?|隔天|隔周|[单双])\s*\Z",
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
    if _goes_on(rest[start:]):
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


def _goes_on(text: str) -> bool:
    if any(pattern.match(text) for pattern in (_ENGLISH, _CHINESE, _ZONE)):
        return True
    if _ADJECTIVE.match(text):
        return False
    if is_time(text):
        return True
    for _ in range(_MOST_JOINERS):
        joined = _JOINER.match(text)
        if joined is None:
            break
        text = text[joined.end() :]
        if _NUMBER.match(text) or grammar_english.LENGTH.match(text) or _CHINESE.match(text) or is_time(text):
            return True
    return False


def is_time(text: str) -> bool:
    """Return True if the text begins with a time, possible or not."""
    return any(_reads(grammar, text) for grammar in (grammar_english, grammar_chinese))


def _reads(grammar: ModuleType, text: str) -> bool:
    try:
        return grammar.read(Reader(text)) is not None
    except BadRule:
        return True


def _is_day(text: str) -> bool:
    """Return True if the text is a day and nothing else."""
    for day in (english_days.read_day, grammar_chinese.read_day):
        reader = Reader(text)
        try:
            if day(reader) and not reader.rest.strip(" .!?。！？"):
                return True
        except BadRule:
            return True
    return False
