"""Validates rules."""

import re
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from gateway.timing.changes import naive
from gateway.timing.rule import SHORTEST, Cron, Every, Once, Rule

YEAR = 366 * 86_400
MOST_YEARS = 50
"""The limit for how far ahead a job may be due."""
LONGEST_CRON = 100
"""Characters."""

_FIELDS = 5
_LAST_DAY = 31
_TROUBLES = {
    "minute": "bad_cron_minute",
    "hour": "bad_cron_hour",
    "day-of-month": "bad_cron_day",
    "month": "bad_cron_month",
    "day-of-week": "bad_cron_weekday",
}
"""Text keys by cronsim's names of the fields."""


class BadRule(ValueError):
    """A rule that is not possible; `say(error.key, language, **error.facts)` is its message."""

    def __init__(self, key: str, **facts: str | int) -> None:
        super().__init__(key)
        self.key = key
        self.facts = facts


def check_rule(rule: Rule, zone: ZoneInfo, now: float) -> None:
    """Raise BadRule if the rule is never due again, due too often, or too far ahead."""
    match rule:
        case Once():
            if not rule.at > now:
                raise BadRule("rule_past")
            if rule.at > now + MOST_YEARS * YEAR:
                raise BadRule("rule_too_far", years=MOST_YEARS)
        case Every():
            if rule.seconds < SHORTEST:
                raise BadRule("rule_too_often")
            if rule.seconds > YEAR or not rule.since <= now + MOST_YEARS * YEAR:
                raise BadRule("rule_too_seldom")
        case Cron():
            check_cron(rule.expression, now)


def check_cron(expression: str, now: float) -> None:
    """Raise BadRule unless the expression has five valid fields and matches some date."""
    fields = expression.split()
    if len(fields) != _FIELDS:
        raise BadRule("bad_cron_fields", count=len(fields))
    if len(expression) > LONGEST_CRON or not re.fullmatch(r"[0-9A-Za-z*/,#\- ]+", expression):
        raise BadRule("bad_cron")
    try:
        found = next(CronSim(expression, naive(now)), None)
    except CronSimError as error:
        name = str(error).removeprefix("Bad ")
        raise BadRule(_trouble(name, fields)) from error
    if found is None:
        raise BadRule("rule_never")


def _trouble(name: str, fields: list[str]) -> str:
    """Return the text key for a bad field; cronsim reports a date that no month has as a bad day."""
    if name == "day-of-month" and all(1 <= int(number) <= _LAST_DAY for number in re.findall(r"\d+", fields[2])):
        return "rule_never"
    return _TROUBLES.get(name, "bad_cron")
