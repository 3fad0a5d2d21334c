"""The next change of clocks that matters to a job, so that people are told before and not surprised after."""

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from zoneinfo import ZoneInfo

from gateway.timing.changes import Change, changes_between, local
from gateway.timing.check import YEAR
from gateway.timing.cron import named_between, names_hours, names_times
from gateway.timing.rule import Cron, Rule
from gateway.timing.slots import next_slot

_SECOND = timedelta(seconds=1)


class Effect(StrEnum):
    STAYS = "stays"
    """It is due at the same time of day as before."""
    MADE_UP = "made_up"
    """Its time is left out that day, and the run comes at the next that there is."""
    COMES_TWICE = "comes_twice"
    """Its time comes twice that day, and the first counts."""


@dataclass(frozen=True)
class ClockChange:
    at: float
    """Seconds since the epoch."""
    effect: Effect
    time: str
    """The rule's time of day, `09:00`."""
    instead: str
    """When it runs on that day."""


def next_change(rule: Rule, zone: ZoneInfo, now: float) -> ClockChange | None:
    """The first within a year that falls between two runs of a rule that goes by the clock on the wall; a length of
    time, and one moment, know no clocks."""
    if not isinstance(rule, Cron) or not names_hours(rule.expression):
        return None
    first = next_slot(rule, zone, now)
    if first is None:
        return None
    coming = changes_between(zone, int(first.at) + 1, int(now) + YEAR)
    return next((seen for change in coming if (seen := _seen(rule, zone, change))), None)


def _seen(rule: Cron, zone: ZoneInfo, change: Change) -> ClockChange | None:
    following = next_slot(rule, zone, change.at - 1)
    if following is None:
        return None
    low, high = sorted((change.shown_before, change.shown_after))
    named = named_between(rule.expression, low - _SECOND, high - _SECOND)
    if named and change.is_gap:
        return ClockChange(change.at, Effect.MADE_UP, f"{named:%H:%M}", f"{local(zone, change.at):%H:%M}")
    if named and names_times(rule.expression):
        return ClockChange(change.at, Effect.COMES_TWICE, f"{named:%H:%M}", f"{named:%H:%M}")
    time = f"{local(zone, following.at):%H:%M}"
    return ClockChange(change.at, Effect.STAYS, time, time)
