"""The moments at which a rule is due."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from cronsim import CronSim

from gateway.timing.rule import Cron, Every, Once, Rule


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
            number = max(0, int((after - rule.since) // rule.seconds) + 1)
            while True:
                yield Slot(rule.since + number * rule.seconds)
                number += 1
        case Cron():
            last = after
            for local in CronSim(rule.expression, datetime.fromtimestamp(after, zone)):
                if (at := local.timestamp()) > last:
                    last = at
                    yield Slot(at)


def next_slot(rule: Rule, zone: ZoneInfo, after: float) -> Slot | None:
    return next(slots(rule, zone, after), None)
