"""The moments at which a rule is due."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from zoneinfo import ZoneInfo

from gateway.timing.changes import LATEST
from gateway.timing.cron import by_the_clock
from gateway.timing.rule import Cron, Every, Once, Rule

UNPLANNABLE = (ValueError, LookupError, ArithmeticError, OSError)
"""What comes of a zone that is none any more, and of a rule that nobody has checked."""


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
            for at in by_the_clock(rule.expression, zone, int(min(max(after, 0.0), LATEST) // 1)):
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
    """Also before `since`: that was now when somebody asked for it, and the clock may have been wrong then."""
    if abs(rule.since) > LATEST:
        return
    number = int((after - rule.since) // rule.seconds)
    while (at := rule.since + number * rule.seconds) <= LATEST:
        # Worked out, not assumed: a fraction that is lost in a sum would give the same one for ever.
        if at > after:
            yield Slot(at)
        number += 1
