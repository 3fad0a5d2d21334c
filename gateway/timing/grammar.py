"""Parses times in commands: `in 20m call mum`, `每周一9点 开会`, `0 9 * * 1-5 report`."""

import re
from dataclasses import dataclass
from itertools import islice, takewhile
from zoneinfo import ZoneInfo

from gateway.timing import grammar_chinese, grammar_english
from gateway.timing.leftover import check_before, check_behind, check_unread
from gateway.timing.meant import Ahead, At, Meant, rule_of
from gateway.timing.reader import Reader, half_understood
from gateway.timing.rule import BadRule, Cron, Rule
from gateway.timing.slots import check_rule

MOST_AT_THE_END = 12
"""Words that a time at the end may have."""

_WORD = re.compile(r"\S+")
_NAMES = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mon|tue|wed|thu|fri|sat|sun"
_FIELDS = [
    re.compile(field, re.ASCII | re.IGNORECASE)
    for field in (r"[\d*/,-]+", r"[\d*/,-]+", r"[\d*/,LW-]+", rf"(?:[\d*/,-]|{_NAMES})+", rf"(?:[\d*/,#L-]|{_NAMES})+")
]
_FEWEST_FIELDS = 2
_BEFORE = re.compile(
    r"[\s,，.。:：;；–—-]*(?:(?:please\s+)?(?:remind\s+)?me\b)?\s*(?:to\b)?(?:请?(?:提醒|叫|通知)我)?[\s,，:：]*",
    re.IGNORECASE,
)
_AFTER = re.compile(r"[\s,，:：;；–—-]+\Z")
_NOTHING = re.compile(r"[\s.!?。！？]*")
_GAP = re.compile(r"[\s,，]+")


@dataclass(frozen=True)
class When:
    rule: Rule
    rest: str
    """The rest of the text: what is to be said or done."""


def parse_when(text: str, zone: ZoneInfo, now: float) -> When:
    """Parse the time at the beginning of a text, or else at its end. Raises BadRule."""
    try:
        return _in_front(text, zone, now)
    except BadRule as error:
        if error.key == "rule_not_understood":
            check_unread(text)
        at_the_end = _at_the_end(text, zone, now)
        if at_the_end is None:
            raise
        if error.key != "rule_not_understood":  # as in `friday call mum at 9`, where half of it is at the beginning
            raise half_understood(text) from error
        return at_the_end


def _in_front(text: str, zone: ZoneInfo, now: float) -> When:
    if found := _cron(text):
        rule, rest = found
    else:
        meant, rest = _in_words(text)
        rule = rule_of(meant, zone, now)
        check_behind(text.removesuffix(rest), rest, any_day=isinstance(meant, At) and meant.day == Ahead(None))
    check_rule(rule, zone, now)
    return When(rule, _bare(rest))


def _at_the_end(text: str, zone: ZoneInfo, now: float) -> When | None:
    gaps = [gap for gap in _GAP.finditer(text) if gap.start()]
    for gap in gaps[-MOST_AT_THE_END:]:
        try:
            meant, rest = _in_words(text[gap.end() :])
            rule = rule_of(meant, zone, now)
            check_rule(rule, zone, now)
        except BadRule:
            continue
        if _NOTHING.fullmatch(rest):
            check_before(text[: gap.start()])
            return When(rule, _bare(text[: gap.start()]))
    return None


def _in_words(text: str) -> tuple[Meant, str]:
    for grammar in (grammar_english, grammar_chinese):
        reader = Reader(text)
        if meant := grammar.read(reader):
            return meant, reader.rest
    raise BadRule("rule_not_understood")


def _cron(text: str) -> tuple[Rule, str] | None:
    """Parse a cron expression. Raises BadRule if it has too few or too many fields."""
    words = [*islice(_WORD.finditer(text), len(_FIELDS) + 1)]
    pairs = zip(words, _FIELDS, strict=False)
    fields = [word for word, field in takewhile(lambda pair: pair[1].fullmatch(pair[0][0]), pairs)]
    if len(fields) < len(_FIELDS):
        if len(fields) >= _FEWEST_FIELDS and any("*" in field[0] for field in fields):
            raise BadRule("bad_cron_fields", count=len(fields))
        return None
    rest = text[fields[-1].end() :]
    if "*" in (further := words[-1][0]) and len(words) > len(_FIELDS) and _FIELDS[0].fullmatch(further):
        raise BadRule("bad_cron_fields", count=len(words))
    if _FIELDS[0].fullmatch(rest.strip()):
        raise BadRule("bad_cron_fields", count=len(words))
    return Cron(expression=" ".join(field[0] for field in fields)), rest


def _bare(rest: str) -> str:
    """Strip the words that join the rest to the time."""
    found = _BEFORE.match(rest)
    return _AFTER.sub("", rest[found.end() :] if found else rest)
