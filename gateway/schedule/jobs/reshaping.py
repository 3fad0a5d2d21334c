"""Common changes of a rule, offered as buttons. Without I/O."""

from enum import StrEnum

from gateway.timing.rule import Cron, Once, Rule

HOUR = 3600
_LAST_HOUR = 23
_EVERY_DAY, _WEEKDAYS = ["*", "*", "*"], ["*", "*", "1-5"]


class Reshaping(StrEnum):
    EARLIER = "earlier"
    """One hour earlier."""
    LATER = "later"
    DAILY = "daily"
    WEEKDAYS = "weekdays"


def reshaped(rule: Rule, way: Reshaping) -> Rule | None:
    """Return the changed rule, or None if the change does not apply to it."""
    match rule, way:
        case Once(), Reshaping.EARLIER | Reshaping.LATER:
            return Once(at=rule.at + _hours(way) * HOUR)
        case Cron(), Reshaping.EARLIER | Reshaping.LATER:
            return _shifted(rule, _hours(way))
        case Cron(), Reshaping.DAILY | Reshaping.WEEKDAYS:
            return _on_days(rule, _EVERY_DAY if way is Reshaping.DAILY else _WEEKDAYS)
        case _:
            return None


def reshapings(rule: Rule) -> list[Reshaping]:
    """Return the changes that would alter the rule."""
    return [way for way in Reshaping if reshaped(rule, way) not in (None, rule)]


def _hours(way: Reshaping) -> int:
    return -1 if way is Reshaping.EARLIER else 1


def _shifted(rule: Cron, hours: int) -> Cron | None:
    """Shift a rule by hours within its day."""
    minute, hour, *days = rule.expression.split()
    if not hour.isdecimal() or not 0 <= int(hour) + hours <= _LAST_HOUR:
        return None
    return Cron(expression=" ".join([minute, str(int(hour) + hours), *days]))


def _on_days(rule: Cron, days: list[str]) -> Cron | None:
    """Change the days of a rule for every day or every weekday."""
    minute, hour, *current = rule.expression.split()
    return Cron(expression=" ".join([minute, hour, *days])) if current in (_EVERY_DAY, _WEEKDAYS) else None
