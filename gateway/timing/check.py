"""Whether a rule can be kept."""

import re
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from gateway.timing.changes import naive
from gateway.timing.rule import SHORTEST, Cron, Every, Once, Rule

YEAR = 366 * 86_400
MOST_YEARS = 50
"""How far ahead something may be due."""
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
"""What cronsim calls the fields."""


class BadRule(ValueError):
    """What cannot be done, for `say(error.key, language, **error.facts)`."""

    def __init__(self, key: str, **facts: str | int) -> None:
        super().__init__(key)
        self.key = key
        self.facts = facts


def check_rule(rule: Rule, zone: ZoneInfo, now: float) -> None:
    """Raises BadRule for what is never due again, too often, or later than anybody plans."""
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
    """Raises BadRule for what are no five fields, and for dates that never come."""
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
    """Which field it is; a day that the months do not have is found in the field of days, too."""
    if name == "day-of-month" and all(1 <= int(number) <= _LAST_DAY for number in re.findall(r"\d+", fields[2])):
        return "rule_never"
    return _TROUBLES.get(name, "bad_cron")
