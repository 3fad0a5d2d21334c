"""Words that limit a recurrence and that no pattern of a time reads: `every day at 9 take pills for 3 weeks`.

They stand behind its time, or at either end of what is to be said.
"""

import re

from agent_core.late_pattern import LatePattern
from gateway.schedule.times.lists import MONTHS, SHORT
from gateway.schedule.times.vocabulary import AMOUNT, CHINESE_NUMBER, SPELT
from gateway.store.rule import Every, Once, Rule, half_understood

FEASTS = r"(?:christmas|xmas|thanksgiving|easter|halloween|new\s+year['’]?s?)"
FEAST = rf"{FEASTS}(?:\s+(?:day|eve))?\b"
_BESIDE_PERIODS = (
    r"from|on|in|at|for|the|my|next|this|last|first|end|start|beginning|middle|of|and|including|public|bank|school"
)
_MONTHS = "|".join(f"{name[:SHORT]}(?:{name[SHORT:]})?" for name in MONTHS["en"])
_PERIOD = (
    rf"(?:{FEAST}|(?:now|today|tomorrow|(?:further|next)\s+notice|\d{{1,2}}(?:st|nd|rd|th)?|\d{{4}}|days|weeks?|months?"
    r"|years?|summer|winter|spring|autumn|term|(?:birth|holi)days?|weekends?|weekdays?|sept"
    rf"|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|mon|tue|wed|thu|fri|sat|sun|{_MONTHS})\b(?!['’]))"
)
_PERIODS = rf"(?:[\s,.]+(?:(?:{_BESIDE_PERIODS})\s+)*{_PERIOD})+"
_BOUND = (
    r"until|till?|up\s+to|through|thru|starting|beginning|ending|as\s+of|effective|except(?:ing|\s+for)?|excluding"
    r"|apart\s+from|other\s+than|but\s+not|skip(?:ping)?"
)
_ENGLISH = (
    rf"\b(?:{_BOUND}){_PERIODS}|\bfor\s+(?:the\s+next\s+)?{AMOUNT}(?:days?|weeks?|fortnights?|months?|years?)\b"
    r"|\bon\s+(?:weekdays|weekends|work(?:ing\s+)?days)\b"
)
_PART_OF_DAY = r"(?:day(?:time)?|night|(?:work|working|office|business)\s+(?:hours|time))\b"
_DAY = (
    rf"(?:[今明后][天年]|[上下本这]*个?(?:周|星期|礼拜|月)[一二三四五六日天末底]?|年[底末]|节?假日|圣诞节?|元旦|春节|除夕|国庆节?"
    rf"|(?:{CHINESE_NUMBER})月(?:(?:{CHINESE_NUMBER})[日号])?)"
)
_CHINESE = (
    rf"(?:直到|到|截止到?|截至|至){_DAY}(?:为止|止)?|从?{_DAY}(?:开始|起)|(?:除了?|不包括)?{_DAY}(?:除外|之外|以外)"
    rf"|(?:持续|连续|为期)(?:{CHINESE_NUMBER}|半)个?(?:天|周|星期|月|年)|一?共(?:{CHINESE_NUMBER})[次回遍]"
)
_BEGINS = LatePattern(
    rf"[(（]?(?:{_ENGLISH}|(?:from|during|not){_PERIODS}|(?:during|in|within)\s+(?:the\s+)?{_PART_OF_DAY}"
    rf"|unless\b|(?:\d{{1,3}}|{SPELT})\s+times\b|x\d|{_CHINESE})",
    re.IGNORECASE,
)
_ENDS = LatePattern(rf"(?:{_ENGLISH}|{_CHINESE})", re.IGNORECASE)
_HOUR = rf"(?:\d{{1,2}}(?:[:.]\d\d)?|(?:{SPELT})\b)(?:\s*[ap]\.?m\b\.?)?"
_HOURS = LatePattern(
    rf"\b(?:until|till?|(?:from|between)\s+{_HOUR}\s*(?:and|to|till?|until|-|–))\s*{_HOUR}"
    rf"|(?:{CHINESE_NUMBER})[点:：](?:半|\d\d)?[到至](?:{CHINESE_NUMBER})[点:：](?:半|\d\d)?",
    re.IGNORECASE,
)
"""Those of a day, which limit an interval."""
_NOTHING = LatePattern(r"[\s.,!?)，。！？）]*")


def check_limits(rule: Rule, text: str) -> None:
    """Raise BadRule if what a recurrence is to say begins or ends with words that limit it."""
    if not isinstance(rule, Once) and (limit := limit_in(text, is_interval=isinstance(rule, Every))):
        raise half_understood(limit, "rule_limited")


def limit_in(text: str, *, is_interval: bool = False) -> str:
    """Return the words of a limit and what follows them; an empty text where there is none, or a colon in front."""
    said = text.lstrip(" ,，")
    if said.startswith((":", "：")):
        return ""
    if _BEGINS.match(said) or (is_interval and _HOURS.match(said)):
        return said
    for pattern in (_ENDS, _HOURS) if is_interval else (_ENDS,):
        for found in pattern.finditer(said):
            if _NOTHING.fullmatch(said, found.end()):
                return said[found.start() :]
    return ""
