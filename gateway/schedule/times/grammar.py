"""Parses times in commands: `in 20m call mum`, `每周一9点 开会`, `0 9 * * 1-5 report`.

Words beside a time may change its meaning (`9:00 to 10:00`, `every 2 weeks monday`, `9点前`). Instead of acting on half
of it, the text is refused and the user asked to say it plainly.
"""

import re
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice
from zoneinfo import ZoneInfo

from msgspec import structs

from agent_core.late_pattern import LatePattern
from gateway.schedule.times.beside import LANGUAGES, check_before, check_behind, check_unread, goes_on, names_a_time
from gateway.schedule.times.changes import local, moments, offset_at
from gateway.schedule.times.cron import cron_in_front
from gateway.schedule.times.foreign import is_foreign
from gateway.schedule.times.limits import check_limits, limit_in
from gateway.schedule.times.parsed_time import At, rule_of
from gateway.schedule.times.parser import Parser
from gateway.schedule.times.reader import Half
from gateway.schedule.times.slots import check_rule
from gateway.schedule.times.zone_names import shown_zone, without_place
from gateway.schedule.times.zone_words import ZoneWords, which_zone, zone_words
from gateway.store.rule import BadRule, Once, Rule, half_understood

MOST_AT_THE_END = 12
"""Words that a time at the end may have."""
HALF_A_DAY = 12 * 3600.0

_BEFORE = LatePattern(
    r"[\s,，.。!！?？:：;；–—-]*(?:(?:please\s+)?(?:remind\s+)?me\b)?\s*(?:to\b)?(?:请?(?:提醒|叫|通知)我)?[\s,，:：]*",
    re.IGNORECASE,
)
_AFTER = LatePattern(r"[\s,，:：;；–—-]+\Z")
_SECONDS = LatePattern(r"(?<=\d{4}-\d\d-\d\d[T ]\d\d:\d\d):00(?:\.0+)?(?![\d:.])")
"""As programs write them, and Parley plans by the minute."""
_LENGTH = LatePattern(
    r"\s*\d{1,4}\s*(?:min(?:ute)?s?|hours?|hrs?)\b(?!['’-])"
    r"(?!\s+(?:a|per|each|every|of|before|after|to|past|till?|until|ago|early|late|long|old|from|or|left|max|since|more|less)\b)",
    re.IGNORECASE,
)
"""A length at the beginning of a text, which may have no other time."""
_TWO_DAYS = LatePattern(
    r"(?:on\s+)?{day}\s*[,/]\s*{day}(?!\s*(?:[,/&]|and\b))".format(
        day=r"(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*(?<!days)\.?",
    ),
    re.IGNORECASE,
)
"""Of which the first may belong to the words in front of it."""
_NOTHING = LatePattern(r"[\s.,!?，。！？]*")
_BREAK = LatePattern(r"[\s,，]+")
_MOST_ZONES = 3
"""Names of zones in a text that are tried."""
_BETWEEN = " ,，.。!！?？;；"
"""What may stand between a time and the name of its zone."""
_GLUED = LatePattern(
    r"[a-zA-Z±½¼¾]|(?<![\u4e00-\u9fff])\d|\s*/\s*\S|(?:(?<=[uU][tT][cC])|(?<=[gG][mM][tT]))\s+(?:\d|1[0-4])\b(?!\s*(?:min|hour|h\b|people))"
)
"""A continuation of the name of a zone, as the end of `UTC+5h30`, `UTC 8` or `ET/Tokyo`."""
_OF_ANOTHER_TIME = LatePattern(r"(?:\d|[ap]\.?m\.?|[点點分半刻])\s*\Z", re.IGNORECASE)
_CHINESE_TIME = LatePattern(r"在?[\u4e00-\u9fff]{2,6}(?:时间|時間|时区|時區)")
"""Words that may be the time of a place that nobody knows."""


@dataclass(frozen=True)
class When:
    """The result of parsing a text."""

    rule: Rule
    rest: str
    """The rest of the text: what is to be said or done."""
    half: Half = field(default=Half.NAMED, compare=False)
    names_day: bool = field(default=True, compare=False)
    zone: ZoneInfo | None = field(default=None, compare=False)
    """The zone that the text names; None if the rule is by the chat's own."""
    is_relative: bool = field(default=False, compare=False)
    """As `in 20 minutes`, which is the same by every clock."""
    span: tuple[int, int] = field(default=(0, 0), compare=False)
    """Where the time stands in the text."""
    is_certain: bool = field(default=False, compare=False)
    """True if the text names exactly one future moment and allows no other reading; only `read_when` finds out."""

    @property
    def is_by_own_clock(self) -> bool:
        """True for a time of day that names no zone, which is another moment by another clock."""
        return self.zone is None and not self.is_relative


def read_when(text: str, zone: ZoneInfo, now: float) -> When:
    """Parse a text as `parse_when` does, and decide if it needs a confirmation. Raises BadRule.

    An hour without a day and a half of the day is taken as the one that comes sooner.
    """
    when = parse_when(text, zone, now)
    if not isinstance(when.rule, Once):
        return when
    at = when.rule.at
    is_sooner_otherwise = not when.names_day and at - HALF_A_DAY > now
    is_loose = when.half is Half.BARE or (when.half is Half.SHORT and is_sooner_otherwise)
    if is_loose and is_sooner_otherwise:
        at -= HALF_A_DAY
        when = replace(when, rule=Once(at=at))
    there = when.zone or zone
    is_other_day = when.names_day and local(there, now).date() != local(zone, now).date()
    is_loose = is_loose or is_other_day  # `tomorrow` may be by either calendar
    is_loose = is_loose or _is_at_change(there, at) or _names_a_zone(when.rest) or bool(_LENGTH.match(text))
    is_loose = is_loose or names_a_time(when.rest) or bool(limit_in(when.rest))
    return replace(when, is_certain=not is_loose and bool(when.rest.strip()))


def _is_at_change(zone: ZoneInfo, at: float) -> bool:
    """Return True for a moment that may stand for a local time which clocks skip or show twice."""
    if len(moments(zone, local(zone, at))) > 1:
        return True
    return offset_at(zone, at - 1) < offset_at(zone, at)


def _names_a_zone(rest: str) -> bool:
    """Return True if what is to be said names a zone, which may be that of the time."""
    return bool(_CHINESE_TIME.match(rest)) or any(not words.is_place for words in zone_words(rest))


def certain_once(text: str, zone: ZoneInfo, now: float) -> tuple[Once, str] | None:
    """Return the single time that a text names and the rest of the text; None if there is any doubt."""
    try:
        when = read_when(text, zone, now)
    except BadRule:
        return None
    return (when.rule, when.rest) if when.is_certain and isinstance(when.rule, Once) else None


def parse_when(text: str, zone: ZoneInfo, now: float) -> When:
    """Parse the time at the beginning of a text, or else at its end, by the clock that it names. Raises BadRule.

    A sentence of another language is never read by the figures in it.
    """
    try:
        when = _parsed(text, zone, now)
    except BadRule as error:
        if error.key in ("rule_no_time", "rule_half_understood") and is_foreign(text, any_word=True):
            raise BadRule("rule_not_understood") from error
        raise
    if is_foreign(when.rest):
        raise BadRule("rule_not_understood")
    return when


def _parsed(text: str, zone: ZoneInfo, now: float) -> When:
    text = _SECONDS.sub("", text)
    for words in islice(zone_words(text), _MOST_ZONES):
        if when := _by_named_clock(text, words, zone, now):
            return when
    return _by_clock_of(text, zone, now)


def _by_named_clock(text: str, words: ZoneWords, zone: ZoneInfo, now: float) -> When | None:
    """Return the time beside words that may name its zone; None if they stand elsewhere. Raises BadRule."""
    if _is_name_here(words, zone, now):
        words = structs.replace(words, zones=(zone.key,))
    there = ZoneInfo(words.zones[0]) if words.zones else zone
    plain = f"{text[: words.start]} {text[words.end :]}"
    try:
        when = _by_clock_of(plain, there, now)
    except BadRule:
        return None
    if when.is_relative or not _is_beside(words, when, plain):
        return None
    if words.is_place:
        return _at_a_place(words, when, zone, now)
    if not words.is_own and len(words.zones) != 1:
        raise which_zone(words)
    if _GLUED.match(text, words.end):
        raise half_understood(text[words.start :])
    _check_second_zone(plain, when, there, now)
    return replace(when, zone=None if words.is_own else there)


def _is_name_here(words: ZoneWords, zone: ZoneInfo, now: float) -> bool:
    """Return True for a name that also the clocks of the chat have now: in Phoenix, MST is no time of Denver's."""
    if len(words.zones) != 1 or without_place(words.zones[0]):
        return False
    return datetime.fromtimestamp(now, zone).tzname() == words.text.upper().removesuffix(" TIME")


def _check_second_zone(plain: str, when: When, zone: ZoneInfo, now: float) -> None:
    """Raise BadRule if a time has another zone beside the one that was read, whose clocks show something else."""
    for words in islice(zone_words(plain), _MOST_ZONES):
        if words.zones and _is_beside(words, when, plain):
            _at_a_place(words, when, zone, now)


def _is_beside(words: ZoneWords, when: When, plain: str) -> bool:
    """Return True if words about a zone belong to the time. Raises BadRule if they may, from the end of the text."""
    first, last = when.span
    between = plain[last : words.start] if words.start > last else plain[words.start : first]
    if first <= words.start <= last or not between.strip(_BETWEEN):
        return True
    is_last = not plain[words.start :].strip(_BETWEEN)
    if is_last and not words.is_place and not _OF_ANOTHER_TIME.search(plain[: words.start]):
        raise half_understood(words.text)
    return False


def _at_a_place(words: ZoneWords, when: When, zone: ZoneInfo, now: float) -> When | None:
    """Raise BadRule for `9:00 in Tokyo` unless its clocks show the same time as those of the chat."""
    there = ZoneInfo(words.zones[0])
    at = when.rule.at if isinstance(when.rule, Once) else now
    if offset_at(there, at) == offset_at(zone, at):
        return None
    raise BadRule("zone_or_place", name=words.text, zone=shown_zone(there.key))


def _by_clock_of(text: str, zone: ZoneInfo, now: float) -> When:
    """Parse a time by the clock of a zone. Raises BadRule."""
    try:
        return _in_front(text, zone, now)
    except BadRule as error:
        if error.key == "rule_past":  # as in `tonight at 8`, of which the end alone is a time as well
            raise
        if error.key == "rule_not_understood":
            check_unread(text)
        at_the_end = _at_the_end(text, zone, now)
        if at_the_end is None:
            if not _LENGTH.match(text):
                raise
            when = _in_front(f"in {text}", zone, now)
            if names_a_time(when.rest):
                raise
            return replace(when, span=(0, when.span[1] - len("in ")))
        if error.key != "rule_not_understood":  # as in `friday call mum at 9`, where half of it is at the beginning
            raise half_understood(text) from error
        return at_the_end


def _in_front(text: str, zone: ZoneInfo, now: float) -> When:
    if found := cron_in_front(text):
        rule, rest = found
        check_rule(rule, zone, now)
        if text.lstrip().startswith("@") and goes_on(rest.lstrip(" ,，")):  # `@daily at 9`
            raise half_understood(rest)
        check_limits(rule, rest)
        return When(rule, _bare(rest), span=(0, len(text) - len(rest)))
    when = _in_words(text, zone, now)
    check_behind(text.removesuffix(when.rest), when.rest, any_day=not when.names_day)
    check_limits(when.rule, when.rest)
    return replace(when, rest=_bare(when.rest), span=(0, len(text) - len(when.rest)))


def _at_the_end(text: str, zone: ZoneInfo, now: float) -> When | None:
    gaps = [gap for gap in _BREAK.finditer(text) if gap.start()]
    for gap in gaps[-MOST_AT_THE_END:]:
        try:
            when = _in_words(text[gap.end() :], zone, now)
        except BadRule:
            continue
        if _NOTHING.fullmatch(when.rest):
            if not isinstance(when.rule, Once) and _TWO_DAYS.match(
                text, gap.end()
            ):  # `email Tom on friday, monday at 9`
                raise half_understood(text[gap.end() :])
            check_before(text[: gap.start()])
            check_limits(when.rule, text[: gap.start()])
            return replace(when, rest=_bare(text[: gap.start()]), span=(gap.end(), len(text) - len(when.rest)))
    return None


def _in_words(text: str, zone: ZoneInfo, now: float) -> When:
    for words in LANGUAGES:
        parser = Parser(text, words, local(zone, now).date())
        if meant := parser.read():
            rule = rule_of(meant, zone, now)
            check_rule(rule, zone, now)
            names_day = not (isinstance(meant, At) and meant.day is None)
            return When(rule, parser.rest, parser.half, names_day, is_relative=not isinstance(meant, At))
    raise BadRule("rule_not_understood")


def _bare(rest: str) -> str:
    """Strip the words that join the rest to the time."""
    found = _BEFORE.match(rest)
    return _AFTER.sub("", rest[found.end() :] if found else rest)
