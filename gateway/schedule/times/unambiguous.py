"""Recognises times that can be read in only one way and need no confirmation. Without I/O."""

import re
from dataclasses import dataclass, replace
from zoneinfo import ZoneInfo

from gateway.schedule.times.grammar import When, is_time, parse_when
from gateway.store.rule import BadRule, Once

LONGEST = 300
"""Characters; longer texts are not searched for a second time."""
HALF_A_DAY = 12 * 3600.0

_HALF = re.compile(
    r"\d\s*[ap]\.?m\b|\b(?:morning|afternoon|evening|night|tonight|noon|midday|midnight)\b"
    r"|凌晨|清晨|早上|早晨|上午|中午|正午|下午|傍晚|晚上|夜里|早|晚",
    re.IGNORECASE,
)
"""Words that name the half of the day."""
_SPELT = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
_BARE_HOUR = re.compile(
    rf"\bat\s+(?:0?[1-9]|1[0-2]|{_SPELT})\b(?![:.：]\d)|\b(?:0?[1-9]|1[0-2])\s*o['’]?clock|\b(?:half|quarter)\s+(?:past|to)\b"
    r"|(?<!\d)(?:1[0-2]|0?[1-9]|十[一二]?|[一二两三四五六七八九])\s*[点點时](?!\d*小)",
    re.IGNORECASE,
)
"""An hour such as `at 5` or `三点` that does not name the half of the day."""
_SHORT_CLOCK = re.compile(r"(?<!\d)(?:[1-9]|1[01])[:：.]\d{2}(?!\d)")
"""`5:30` can mean either half of the day; `05:30` and `17:30` cannot."""
_LEAD = r"\s*(?:please\s+)?(?:remind\s+)?(?:me\s*)?(?:to\s*)?(?:请)?(?:提醒我|叫我|通知我)?(?:在|于)?\s*"
_HOUR = (
    rf"(?:at\s+)?(?:(?:half|quarter)\s+(?:past|to)\s+)?(?:\d{{1,2}}(?:[:：.]\d{{2}})?|{_SPELT})(?:\s*o['’]?clock)?"
    r"|(?:\d{1,2}|[一二两三四五六七八九十]{1,2})\s*[点點时](?:钟|整|半|[一三]刻)?"
)
_ONLY_AN_HOUR = re.compile(rf"{_LEAD}(?:{_HOUR}){_LEAD}[\s,，.:：;；]*", re.IGNORECASE)
_WORD_BEGINS = re.compile(r"\A|(?<=[\s,.;:(])|(?=[^\x00-\x7f])|(?<=[^\x00-\x7f])")


@dataclass(frozen=True)
class Reading:
    """The result of parsing a text."""

    when: When
    is_certain: bool
    """True if it names exactly one future moment and allows no other reading."""


def read_when(text: str, zone: ZoneInfo, now: float) -> Reading:
    """Parse a text. Raises BadRule.

    An hour without a day and a half of the day is taken as the one that comes sooner.
    """
    when = parse_when(text, zone, now)
    if not isinstance(when.rule, Once):
        return Reading(when, is_certain=False)
    read = text.replace(when.rest, " ", 1)
    is_loose = _is_loose(read, when.rule.at, now)
    if is_loose and _ONLY_AN_HOUR.fullmatch(read) and when.rule.at - HALF_A_DAY > now:
        when = replace(when, rule=Once(at=when.rule.at - HALF_A_DAY))
    return Reading(when, is_certain=not is_loose and bool(when.rest.strip()) and not _names_a_time(when.rest))


def certain_once(text: str, zone: ZoneInfo, now: float) -> tuple[Once, str] | None:
    """Return the single time that a text names and the rest of the text; None if there is any doubt."""
    try:
        found = read_when(text, zone, now)
    except BadRule:
        return None
    rule = found.when.rule
    return (rule, found.when.rest) if found.is_certain and isinstance(rule, Once) else None


def _is_loose(read: str, at: float, now: float) -> bool:
    if _HALF.search(read):
        return False
    if _BARE_HOUR.search(read):
        return True
    is_sooner_otherwise = _ONLY_AN_HOUR.fullmatch(read) is not None and at - HALF_A_DAY > now
    return is_sooner_otherwise and _SHORT_CLOCK.search(read) is not None


def _names_a_time(rest: str) -> bool:
    """Return True if the text may name another time, or is too long to tell."""
    if len(rest) > LONGEST:
        return True
    return any(is_time(rest[start.end() :]) for start in _WORD_BEGINS.finditer(rest))
