"""Words in a sentence that say by which clock a time is meant: `ET`, `UTC+8`, `Tokyo time`, `北京时间`, `my time`."""

import re
from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from agent_core.late_pattern import LatePattern
from agent_core.tools.clock import zone_names
from gateway.schedule.times.lists import MONTHS, WEEKDAYS
from gateway.schedule.times.zone_names import (
    ABBREVIATIONS,
    LOWER,
    OFFSET,
    OFFSET_IN_CHINESE,
    OTHER_THINGS,
    REGIONS,
    SHORT,
    WORDS,
    zones_named,
)
from gateway.store.rule import BadRule

LONGEST = 300
"""Characters of a text that are searched."""
_OWN = (
    r"(?:in\s+)?(?:my|our|your|the)\s+(?:own\s+)?(?:local\s+)?time(?:\s*zone)?\b|(?:in\s+)?local\s+time\b(?!\s+in\b)"
    r"|(?:(?:我|我们|咱们)(?:这里|这边|这儿|的|当地|本地)*|当地|本地|这里的?|这边的?)时间"
)
_CHINESE_NAMES = sorted(
    {name for name in (*REGIONS, *zone_names()) if not name.isascii()}, key=lambda name: (-len(name), name)
)
_CHINESE_CITIES = frozenset(
    (
        *("美东", "美西", "都柏林", "慕尼黑", "法兰克福", "米兰", "马德里", "阿姆斯特丹", "苏黎世"),
        *("日内瓦", "维也纳", "华沙", "斯德哥尔摩", "基辅", "雅典", "开罗", "内罗毕", "檀香山", "奥克兰"),
        *("约翰内斯堡", "西雅图", "硅谷", "温哥华", "拉斯维加斯", "波士顿", "华盛顿", "迈阿密", "亚特兰大"),
        *("休斯顿", "达拉斯", "墨尔本", "珀斯", "阿德莱德", "孟买", "新德里", "班加罗尔", "雅加达"),
    )
)
"""Places that IANA does not have by this name."""
_CHINESE_PLACES = [name for name in _CHINESE_NAMES if name in zone_names() or name in _CHINESE_CITIES]
_CHINESE_TIME = "(?:(?:标准|当地|夏令|冬令)?的?时间|(?:标准|夏令|冬令)时)"
_UNIVERSAL = "(?:协调)?世界时(?![\u4e00-\u9fff])"
_SIMPLER = str.maketrans(
    "東時間點當標準區紐約倫廣舊爾臺國韓灣蘭羅馬緬維納聖橋門", "东时间点当标准区纽约伦广旧尔台国韩湾兰罗马缅维纳圣桥门"
)
"""Characters of names in traditional Chinese and Japanese."""
_HOURS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_DAYS = ("day", "noon", "night", "clock", "tomorrow", "week", "month", *map(str.lower, MONTHS["en"]), *_HOURS)
_BEHIND = (
    r"(?:(?<=\d)|(?<=\d(?:st|nd|rd|th))|(?<=[apAP][mM])|(?<=[apAP]\.[mM]\.)"
    rf"|(?i:{'|'.join(f'(?<={day})' for day in _DAYS)}))"
)
"""Directly behind a time of day, or a day."""
_PERIOD = r"(?:\s+(?:standard|daylight|summer|winter|local))?"
_NAME = r"[A-Za-z][\w'’.-]*"
_BEGINS, _ENDS = "(?<![A-Za-z0-9])(?<![A-Za-z0-9]_)", "(?![A-Za-z0-9])(?!_[A-Za-z0-9])"
"""Unlike `\\b`, between a letter and a Chinese character as well, and within the signs of Markdown, as in `_ET_`."""
_SHORT = rf"(?:{'|'.join(SHORT)}|{'|'.join('[.]'.join(each) + '[.]' for each in SHORT)})"
_LONG = rf"(?:{'|'.join(ABBREVIATIONS.keys() - WORDS)})"
_DOTTED = rf"(?:{'|'.join('[.]'.join(each) + '[.]' for each in ABBREVIATIONS)})"
_NO_ZONE = r"\s+(?:scan|session|appointment|exercise|homework|phone)s?\b"
"""As in `PT session`."""
_NO_NAME = rf"(?:to|on|that|about|every|today|tonight|tomorrow|{'|'.join(WEEKDAYS['en'])})"
"""Words that cannot go on with a name, as `ocean` or `team` could."""
_ALONE = rf"(?:Eastern|Central|Mountain|Pacific)\b(?=\s*(?:\Z|[,.;:!?)])|\s+(?i:{_NO_NAME})\b)"
_IS_NAME = rf"(?=[A-Z]|(?:{'|'.join(map(re.escape, sorted(LOWER)))})\b)"
_CERTAIN = rf"[A-Za-z_]+/|{_ALONE}"
_OPEN, _CLOSE = r"(?:[(（\[]\s*)?", r"(?:\s*[)）\]])?"
_CLOSED = LatePattern(_CLOSE)
_DASH = "\u2010-\u2015~|•·=-"
_SIGN = rf"[\"'`“”‘’«»‹›<>{{}}()（）\[\]【】「」『』〈〉《》*_:：;；,，…{_DASH}]"
_SIGNS_BEFORE = LatePattern(rf"\s*(?:{_SIGN}\s*)+\Z")
_SIGNS_BEHIND = LatePattern(rf"\s*(?:{_SIGN}+(?:\s+|(?=[^\x00-\x7f])|\Z))+")
_JOINT = LatePattern(r"(?<=[apAP][mM])[/@]\Z|(?<=\d)@\Z")
"""As in `9am/EST`."""
_PATTERN = LatePattern(
    rf"(?i:\b(?:in\s+)?local\s+time\s+(?:in|of)\s+|\b(?:heure|hora|ora|horário)\s+(?:de|di|do|del|da)\s+)(?P<there>{_NAME}(?:\s+{_NAME}){{0,2}})"
    rf"|(?P<own>{_OPEN}(?i:{_OWN}){_CLOSE})"
    rf"|(?P<cron>(?:CRON_)?TZ=(?P<set>[^\s;]+);?)"
    rf"|{_OPEN}(?:(?i:\b(?:(?:in|by|at)(?:\s+the)?|that(?:['’]s|\s+is)|i\.e\.))\s+|[按以用照])?(?P<named>"
    rf"(?i:{_BEGINS}{OFFSET})(?!\d|[:.]\d|[½¼¾])(?:时区|时间)?"
    rf"|(?<=\d)\s*\+\s?\d{{2}}:?\d{{2}}(?![\d:])|(?<=T\d\d:\d\d)-\d{{2}}:?\d{{2}}\b|(?<=T\d\d:\d\d)Z\b"
    rf"|(?<=T\d\d:\d\d:\d\d)(?:Z\b|-\d{{2}}:?\d{{2}}\b)|(?<=\d)\s?Z\b(?!-)"
    rf"|\b[A-Za-z][A-Za-z_]+/[A-Za-z_]+(?:/[A-Za-z_]+)?(?:[+-]\d{{1,2}})?\b(?:\s+time\b)?"
    rf"|\b[A-Z]{{3}}\d[A-Z]{{3}}\b|{_BEGINS}(?:{_LONG}|{_SHORT})(?:\s?/\s?(?:{_LONG}|{_SHORT}))+{_ENDS}(?:\s+time\b)?"
    rf"|(?:(?i:{_BEGINS}(?:{_DOTTED}|{_LONG}))|{_BEGINS}(?:{'|'.join(WORDS)})){_ENDS}(?![+-]\d)"
    r"(?:\s+time\b)?"
    rf"|{_BEGINS}{_SHORT}{_ENDS}(?!{_NO_ZONE})(?:\s+time\b)?"
    rf"|(?:(?<=[apAP][mM])|(?<=[apAP]\.[mM]\.))\s+(?i:{_SHORT}){_ENDS}(?!{_NO_ZONE})(?:\s+time\b)?"
    rf"|{OFFSET_IN_CHINESE}|{_UNIVERSAL}"
    rf"|\b(?:local\s+)?{_NAME}(?:\s+{_NAME}){{0,2}}?{_PERIOD}\s+(?:(?i:time(?:\s*zone)?)|Zeit)\b"
    rf"|\b{_ALONE}"
    rf"|(?:{'|'.join(map(re.escape, _CHINESE_NAMES))}){_CHINESE_TIME}"
    rf"){_CLOSE}"
    rf"|(?:(?i:\b(?:in|at)\s+)|(?<=\s)@\s*|{_BEHIND}(?:,?\s+|\s*[(（\[]\s*|\s*[{_DASH}]\s*(?=[^\d{_DASH}]{{2,40}}[{_DASH}])){_IS_NAME})(?!{_CERTAIN})(?P<place>{_NAME}(?:\s+{_NAME}){{0,2}})"
    r"|(?<=[点點时半刻分整\d])\s*[(（]?\s*在?"
    rf"(?P<chinese_place>{'|'.join(map(re.escape, _CHINESE_PLACES))})(?!{_CHINESE_TIME})"
)
_SAID = LatePattern(
    r"(?:(?:(?:i\s+am|i['’]m|i\s+live|we\s+are|we['’]re)\s+(?:now\s+)?in|my\s+time\s*zone\s+is)\s+"
    r"|(?:我(?:现在)?(?:人|住)?在|我的时区是)\s*)(?P<name>[^,;:!?，；：！？。]+?)(?:\s+now)?[.!。！]?",
    re.IGNORECASE,
)
_ANSWER = LatePattern(
    r"(?:(?:i\s+am|i['’]?m|i\s+live|we\s+are|we['’]re|it\s+is|it['’]s|my\s+time\s*zone\s+is|ich\s+(?:bin|lebe|wohne))\s+)?"
    r"(?:(?:now|currently|gerade)\s+)?(?:(?:in|near|from)\s+)?(?:我(?:现在)?(?:人|住)?在|我的时区是|在|是)?\s*"
    r"(?P<name>\S.*?)(?:\s+(?:now|please|bitte)|吧|这边|这里)?[\s.!。！]*",
    re.IGNORECASE,
)
_COUNTRY = LatePattern(r"\s*[,，(（]\s*")
"""Stands before the country of a city, as in `Paris, France`."""
_CAPITALS = "(?:BE|CA|CO|DU|EA|FA|FE|GI|HO|LA|LI|LO|MI|MU|NE|PA|PO|RE|RU|TE|WE)ST"
_UNKNOWN = LatePattern(
    r"[+-]\d{1,2}:?\d{2}\b|(?i:utc|gmt)(?:\d|\s*(?:[±+＋−–-]|plus|minus)\s*\d)|[A-Z]\w+/[A-Z]\w+"
    r"|(?i:(?:africa|america|antarctica|asia|atlantic|australia|etc|europe|indian|pacific)/[a-z])"
    rf"|{_LONG}[+−–-]\d"
    r"|(?:[A-Z][\w'’]+\s+){1,2}(?:time|Zeit)\b|(?:[A-Z][\w'’]+\s+){1,3}(?i:(?:standard|daylight|summer|winter)\s+time)\b"
    r"|Ortszeit\b|Uhr\b|(?i:time\s+in)\s+[A-Z]|(?i:heure|hora|ora|horário)\s+(?i:de|di|do|del|da|d['’]|local\w*)\s*[A-Z]"
    r"|(?i:heure\s+locale|hora\s+local|ora\s+locale)\b"
    r"|(?i:server|system|machine|office|company|base|hq|headquarters|client|customer|host|venue|destination)(?:['’]s)?\s+(?:local\s+)?time\b"
    r"|[按以用照]\S{1,8}时间|(?:服务器|系统)的?时间|(?:夏令|冬令|标准)时"
    rf"|(?!{_CAPITALS}\b)[A-Z]{{1,2}}[SD]T\b"
    r"|(?i:(?:by|in|at)\s+)?(?i:his|her|their|\w+['’]s)\s+(?i:(?:own\s+)?(?:local\s+)?time(?:\s*zone)?)\b"
    r"|(?i:local\s+time\s+in|(?:standard|daylight|summer|winter)\s+time|\w+\s+hours?\s+(?:ahead|behind))\b"
    r"|[(（]?(?i:мск|по\s+(?:москве|киеву|минску|местному|московскому|киевскому)|за\s+києвом)\b"
    r"|(?i:where\s+\w+\s+(?:is|are|lives?)|over\s+there)\b"
)
"""Words that can be nothing but a zone, as `Ben's time`, or `XST` unless it is a word in capitals."""


class ZoneWords(Struct, frozen=True):
    """The place of such words in the text, and the zones that they may mean."""

    start: int
    end: int
    text: str
    zones: tuple[str, ...]
    is_own: bool = False
    """The zone of the chat, as in `local time`."""
    is_place: bool = False
    """As in `in Tokyo`, which may as well say where."""


def zone_words(text: str) -> Iterator[ZoneWords]:
    """Yield the words that may name a zone, from the left."""
    at, text = 0, text[:LONGEST].translate(_SIMPLER)
    while found := _PATTERN.search(text, at):
        read = _read(found)
        at = read.end if read else found.start() + 1
        if read:
            yield _with_signs(read, text)


def zone_said(text: str) -> str | None:
    """Return the zone that a message names as its author's and says nothing else, such as `I am in Tokyo`."""
    found = _SAID.fullmatch(" ".join(text[:LONGEST].split()))
    zones = zones_named(found["name"]) if found else ()
    return zones[0] if len(zones) == 1 else None


def zones_answered(text: str) -> tuple[str, ...]:
    """Return the zones that an answer to `Where are you?` may mean, such as `Tokyo`, `in Berlin, Germany`, `UTC+9`."""
    found = _ANSWER.fullmatch(" ".join(text.split())) if len(text) <= LONGEST else None
    if found is None or (found["name"].upper() in WORDS and not found["name"].isupper()):
        return ()
    several = [zones_named(each.rstrip(" )）")) for each in _COUNTRY.split(found["name"])]
    if not all(several):
        return ()
    common = tuple(zone for zone in several[0] if all(zone in each for each in several))
    return common or tuple(dict.fromkeys(zone for each in several for zone in each))


def which_zone(words: ZoneWords) -> BadRule:
    """Return the question for the one zone that is meant."""
    choices = ", ".join(f"`{each}`" for each in words.zones) or "`Europe/Paris`, `UTC+8`"
    return BadRule("zone_which", name=words.text.replace("`", ""), choices=choices)


def begins_with_zone(text: str) -> bool:
    """Return True if the text begins with words that certainly name a zone, even an unknown one."""
    if _UNKNOWN.match(text.translate(_SIMPLER)):
        return True
    first = next(zone_words(text), None)
    return first is not None and first.start == 0 and not first.is_place


def _with_signs(words: ZoneWords, text: str) -> ZoneWords:
    """Include the signs that set the words apart, as in `9am - EST - call`, or that join them to a time."""
    name = text.index(words.text[:1], words.start)
    before, behind = _SIGNS_BEFORE.search(text[:name]), _SIGNS_BEHIND.match(text, words.end)
    if before and behind:
        return replace(words, start=before.start(), end=words.end + len(behind[0].rstrip()))
    joint = _JOINT.search(text[: words.start])
    return replace(words, start=joint.start()) if joint else words


def _read(found: re.Match[str]) -> ZoneWords | None:
    start, end = found.span()
    if found["own"]:
        return ZoneWords(start, end, found[0], (), is_own=True)
    if name := found["set"] or found["named"]:
        zones = ("UTC",) if name.strip() == "Z" else zones_named(name.strip())
        if not zones and not found["set"]:
            return _shorter(found, name)
        return ZoneWords(start, end, name.strip(), zones, is_place=name in OTHER_THINGS)
    if name := found["chinese_place"]:
        return ZoneWords(start, end, name, zones_named(name), is_place=True)
    words = (found["place"] or found["there"]).split()
    for count in range(len(words), 0, -1):
        zones = zones_named(name := " ".join(words[:count]).rstrip("."))
        if zones and not (name.isupper() and (name in SHORT | ABBREVIATIONS or not name.replace(" ", "").isalpha())):
            is_place = found["place"] is not None and not name.lower().endswith(("time", "zone", "zeit"))
            last = start + found[0].index(name) + len(name)
            closed = None if is_place else _CLOSED.match(found.string, last)
            return ZoneWords(start, closed.end() if closed else last, name, zones, is_place=is_place)
    return None


def _shorter(found: re.Match[str], name: str) -> ZoneWords | None:
    """Drop words before the name, as `call` in `call Tokyo time`."""
    words = name.split()
    for first in range(1, len(words) - 1):
        rest = " ".join(words[first:])
        if zones := zones_named(rest):
            start = found.end() - len(found[0]) + found[0].index(words[first])
            return ZoneWords(start, found.end(), rest, zones)
    return None
