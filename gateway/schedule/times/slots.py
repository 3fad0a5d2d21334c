"""Computes the moments at which a rule is due."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import islice
from zoneinfo import ZoneInfo

from gateway.schedule.times.changes import LATEST, Change, changes_between, counted, local, offset_at
from gateway.schedule.times.cron import by_cron, check_cron
from gateway.schedule.times.recurrence import Timetable, by_rrule
from gateway.store.job import Slot
from gateway.store.rule import SHORTEST, BadRule, Cron, Every, Once, Recurrence, Rule

YEAR = 366 * 86_400
MOST_YEARS = 50
"""The limit for how far ahead a job may be due."""

UNPLANNABLE = (ValueError, LookupError, ArithmeticError, OSError)
"""Errors caused by a zone that no longer exists or by a rule that was not checked."""


_DAY = 86_400
_SECOND = timedelta(seconds=1)


def slots(rule: Rule, zone: ZoneInfo, after: float) -> Iterator[Slot]:
    """Yield the slots strictly after `after`, in order; there may be infinitely many."""
    match rule:
        case Once():
            if rule.at > after:
                yield Slot(rule.at)
        case Every():
            yield from _at_intervals(rule, after)
        case Cron() | Recurrence():
            for at in _by_the_clock(timetable(rule), zone, int(min(max(after, 0.0), LATEST) // 1)):
                if at > after:
                    yield Slot(float(at))


def timetable(rule: Cron | Recurrence) -> Timetable:
    """Return the local times of a rule. Raises ValueError for an invalid one."""
    return by_cron(rule.expression) if isinstance(rule, Cron) else by_rrule(rule.text)


def next_slot(rule: Rule, zone: ZoneInfo, after: float) -> Slot | None:
    return next(slots(rule, zone, after), None)


def upcoming(rule: Rule, zone: ZoneInfo, after: float, most: int = 5) -> list[Slot]:
    """Return the next `most` slots."""
    return list(islice(slots(rule, zone, after), most))


def period(rule: Rule, zone: ZoneInfo, now: float) -> float | None:
    """Return the seconds between the next two slots; None if there are fewer."""
    match upcoming(rule, zone, now, 2):
        case [first, second]:
            return second.at - first.at
        case _:
            return None


def _at_intervals(rule: Every, after: float) -> Iterator[Slot]:
    """Yield slots of an interval, even before `since`, which may have been set by a wrong clock."""
    if abs(rule.since) > LATEST:
        return
    number = int((after - rule.since) // rule.seconds)
    while (at := rule.since + number * rule.seconds) <= LATEST:
        # Compare instead of assuming: a fraction lost in the sum would give the same slot forever.
        if at > after:
            yield Slot(at)
        number += 1


def _by_the_clock(times: Timetable, zone: ZoneInfo, after: int) -> Iterator[int]:
    """Yield the moments of local times, each once, in order, from one clock change to the next.

    As in Debian's cron, a rule that names hours and minutes is due only the first time that its local time occurs,
    while a rule for every hour or every few minutes continues when the clock is set back. If its time is skipped, a
    rule that names hours is due once at the moment of the change.
    """
    offset = offset_at(zone, after)
    shown = _first_shown(zone, after) if times.names_times else local(zone, after)
    last = after
    while after <= LATEST:
        change: Change | None = None
        for due in times.after(shown):
            at = counted(due) - offset
            if at > LATEST:
                return
            if change := next(changes_between(zone, after + 1, at + 1), None):
                break
            after = at
            if at > last:
                last = at
                yield at
        if change is None:
            return
        after, offset = change.at, change.offset
        first = change.shown_before - _SECOND
        if not change.is_gap and times.names_times:
            shown = first
            continue
        shown = change.shown_after - _SECOND
        if change.is_gap and times.names_hours and after > last and times.first_between(first, shown):
            last = after
            yield after


def _first_shown(zone: ZoneInfo, at: int) -> datetime:
    """Return the local time at `at`, or during a repeated hour the end of what was already shown."""
    past = (change.shown_before - _SECOND for change in changes_between(zone, at - _DAY, at + 1))
    return max([local(zone, at), *past])


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
        case Cron() | Recurrence():
            if isinstance(rule, Cron):
                check_cron(rule.expression)
            times = timetable(rule)
            if next(times.after(local(zone, now)), None) is None:
                raise BadRule("rule_past" if any(dates.until for dates, _ in times.rows) else "rule_never")
