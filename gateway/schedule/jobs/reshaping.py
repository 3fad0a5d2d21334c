"""Common changes of a rule, offered as buttons. Without I/O."""

from dataclasses import replace
from enum import StrEnum

from gateway.timing.recurrence import WORKING_DAYS, Dates, Timetable
from gateway.timing.rule import Cron, Once, Recurrence, Rule
from gateway.timing.slots import timetable

HOUR = 3600
_LAST_HOUR = 23
_EVERY_DAY, _WEEKDAYS = Dates(), Dates("WEEKLY", weekdays=WORKING_DAYS)


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
        case (Cron() | Recurrence(), Reshaping.EARLIER | Reshaping.LATER):
            return _shifted(timetable(rule), _hours(way))
        case (Cron() | Recurrence(), Reshaping.DAILY | Reshaping.WEEKDAYS):
            return _on_days(rule, _EVERY_DAY if way is Reshaping.DAILY else _WEEKDAYS)
        case _:
            return None


def reshapings(rule: Rule) -> list[Reshaping]:
    """Return the changes that would alter the rule."""
    return [way for way in Reshaping if reshaped(rule, way) not in (None, rule)]


def _hours(way: Reshaping) -> int:
    return -1 if way is Reshaping.EARLIER else 1


def _shifted(found: Timetable, hours: int) -> Recurrence | None:
    """Shift a rule with one hour of the day by hours within its day."""
    shifted = {at.hour + hours for _, times in found.rows for at in times}
    if len(shifted) > 1 or not shifted <= {*range(_LAST_HOUR + 1)}:
        return None
    (hour,) = shifted
    rows = ((dates, tuple(at.replace(hour=hour) for at in times)) for dates, times in found.rows)
    return Recurrence(text=replace(found, rows=tuple(rows)).text)


def _on_days(rule: Cron | Recurrence, days: Dates) -> Rule | None:
    """Change the days of a rule for every day or every weekday."""
    ((dates, _), *more) = timetable(rule).rows
    if more or dates not in (_EVERY_DAY, _WEEKDAYS):
        return None
    return rule if dates == days else Recurrence(text=timetable(rule).with_dates(days).text)
