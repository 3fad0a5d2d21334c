"""The moments at which a rule is due."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from zoneinfo import ZoneInfo

from cronsim import CronSim

from gateway.timing.changes import LATEST, Change, changes_between, counted, local, offset_at
from gateway.timing.rule import Cron, Every, Once, Rule

_DAY = 86_400
_SECOND = timedelta(seconds=1)


@dataclass(frozen=True)
class Slot:
    """One moment at which a job is due; its name is the same whoever works it out, and is what keeps it single."""

    at: float
    """Seconds since the epoch."""

    @property
    def name(self) -> str:
        return f"{datetime.fromtimestamp(self.at, UTC):%Y-%m-%dT%H:%M:%SZ}"


def slots(rule: Rule, zone: ZoneInfo, after: float) -> Iterator[Slot]:
    """Those strictly after a moment, in order; may be endless."""
    match rule:
        case Once():
            if rule.at > after:
                yield Slot(rule.at)
        case Every():
            yield from _at_intervals(rule, after)
        case Cron():
            for at in _by_the_clock(rule.expression, zone, int(min(max(after, 0.0), LATEST) // 1)):
                if at > after:
                    yield Slot(float(at))


def next_slot(rule: Rule, zone: ZoneInfo, after: float) -> Slot | None:
    return next(slots(rule, zone, after), None)


def upcoming(rule: Rule, zone: ZoneInfo, after: float, most: int = 5) -> list[Slot]:
    """The next ones."""
    return list(islice(slots(rule, zone, after), most))


def period(rule: Rule, zone: ZoneInfo, now: float) -> float | None:
    """Seconds between the next one and the one after it; None where there are no two."""
    match upcoming(rule, zone, now, 2):
        case [first, second]:
            return second.at - first.at
        case _:
            return None


def _at_intervals(rule: Every, after: float) -> Iterator[Slot]:
    number = max(0, int((after - rule.since) // rule.seconds))
    while (at := rule.since + number * rule.seconds) <= LATEST:
        # Worked out, not assumed: a fraction that is lost in a sum would give the same one for ever.
        if at > after:
            yield Slot(at)
        number += 1


def _by_the_clock(expression: str, zone: ZoneInfo, after: int) -> Iterator[int]:
    """The moments at which the clock on the wall shows what the rule names, each once, in order.

    The clock is followed from one change to the next, and cron only told what it shows (left alone with a zone, it
    loses its way in changes of half an hour). As Debian's cron has it, a rule that names hours and minutes counts what
    the clock shows for the first time: so it is due once for each date that it means. A rule for every hour or every
    few minutes goes on when the clock goes back. What a rule that names hours would find in the hour that is left out,
    is due once when that would have begun.
    """
    minute, hour = expression.split()[:2]
    names_hours = not hour.startswith("*")
    names_times = names_hours and not minute.startswith("*")
    offset = offset_at(zone, after)
    shown = _first_shown(zone, after) if names_times else local(zone, after)
    last = after
    while after <= LATEST:
        change: Change | None = None
        for due in CronSim(expression, shown):
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
        if not change.is_gap and names_times:
            shown = first
            continue
        shown = change.shown_after - _SECOND
        if change.is_gap and names_hours and after > last and _names_one(expression, first, shown):
            last = after
            yield after


def _names_one(expression: str, after: datetime, until: datetime) -> bool:
    return any(due <= until for due in islice(CronSim(expression, after), 1))


def _first_shown(zone: ZoneInfo, at: int) -> datetime:
    """What the clock shows; while it shows a time again, that up to which it has shown all."""
    past = (change.shown_before - _SECOND for change in changes_between(zone, at - _DAY, at + 1))
    return max([local(zone, at), *past])
