"""Computes the moments at which a rule is due."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from zoneinfo import ZoneInfo

from gateway.timing.changes import LATEST
from gateway.timing.cron import by_the_clock
from gateway.timing.rule import Cron, Every, Once, Rule

UNPLANNABLE = (ValueError, LookupError, ArithmeticError, OSError)
"""Errors caused by a zone that no longer exists or by a rule that was not checked."""


@dataclass(frozen=True)
class Slot:
    """A moment at which a job is due. Its name depends only on the moment and identifies the firing."""

    at: float
    """Seconds since the epoch."""

    @property
    def name(self) -> str:
        return f"{datetime.fromtimestamp(self.at, UTC):%Y-%m-%dT%H:%M:%SZ}"


def slots(rule: Rule, zone: ZoneInfo, after: float) -> Iterator[Slot]:
    """Yield the slots strictly after `after`, in order; there may be infinitely many."""
    match rule:
        case Once():
            if rule.at > after:
                yield Slot(rule.at)
        case Every():
            yield from _at_intervals(rule, after)
        case Cron():
            for at in by_the_clock(rule.expression, zone, int(min(max(after, 0.0), LATEST) // 1)):
                if at > after:
                    yield Slot(float(at))


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
