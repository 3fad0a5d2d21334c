"""What people often want otherwise about a rule, so that a button can say it. Pure."""

from enum import StrEnum

from gateway.timing.rule import Cron, Once, Rule

HOUR = 3600
_LAST_HOUR = 23
_EVERY_DAY, _WEEKDAYS = ["*", "*", "*"], ["*", "*", "1-5"]


class Reshaping(StrEnum):
    EARLIER = "earlier"
    """By an hour."""
    LATER = "later"
    DAILY = "daily"
    WEEKDAYS = "weekdays"


def reshaped(rule: Rule, way: Reshaping) -> Rule | None:
    """None where that means nothing for the rule."""
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
    """Those that would make another rule of it."""
    return [way for way in Reshaping if reshaped(rule, way) not in (None, rule)]


def _hours(way: Reshaping) -> int:
    return -1 if way is Reshaping.EARLIER else 1


def _shifted(rule: Cron, hours: int) -> Cron | None:
    """Within its day."""
    minute, hour, *days = rule.expression.split()
    if not hour.isdecimal() or not 0 <= int(hour) + hours <= _LAST_HOUR:
        return None
    return Cron(expression=" ".join([minute, str(int(hour) + hours), *days]))


def _on_days(rule: Cron, days: list[str]) -> Cron | None:
    """Of a rule that is for every day or every weekday."""
    minute, hour, *current = rule.expression.split()
    return Cron(expression=" ".join([minute, hour, *days])) if current in (_EVERY_DAY, _WEEKDAYS) else None
