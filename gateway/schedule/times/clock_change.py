"""Finds the next clock change that affects a job, so that users can be told in advance."""

from datetime import timedelta
from enum import StrEnum
from zoneinfo import ZoneInfo

from msgspec import Struct

from gateway.schedule.times.changes import Change, changes_between, local
from gateway.schedule.times.recurrence import Timetable
from gateway.schedule.times.slots import YEAR, next_slot, timetable
from gateway.store.rule import Every, Once, Rule

_SECOND = timedelta(seconds=1)


class Effect(StrEnum):
    STAYS = "stays"
    """It is due at the same local time as before."""
    MADE_UP = "made_up"
    """Its local time is skipped that day; it is due when the skipped time would have begun."""
    COMES_TWICE = "comes_twice"
    """Its local time occurs twice that day; only the first one counts."""


class ClockChange(Struct, frozen=True):
    at: float
    """Seconds since the epoch."""
    effect: Effect
    time: str
    """The rule's time of day, such as `09:00`."""
    instead: str
    """The time of day at which it runs on that day."""


def next_change(rule: Rule, zone: ZoneInfo, now: float) -> ClockChange | None:
    """Return the first clock change within a year that falls between two slots of a rule by the clock.

    Returns None for intervals and single moments, which do not depend on clocks.
    """
    if isinstance(rule, Once | Every):
        return None
    times, first = timetable(rule), next_slot(rule, zone, now)
    if first is None or not times.names_hours:
        return None
    coming = changes_between(zone, int(first.at) + 1, int(now) + YEAR)
    return next((seen for change in coming if (seen := _seen(rule, times, zone, change))), None)


def _seen(rule: Rule, times: Timetable, zone: ZoneInfo, change: Change) -> ClockChange | None:
    following = next_slot(rule, zone, change.at - 1)
    if following is None:
        return None
    low, high = sorted((change.shown_before, change.shown_after))
    named = times.first_between(low - _SECOND, high - _SECOND)
    if named and change.is_gap:
        return ClockChange(change.at, Effect.MADE_UP, f"{named:%H:%M}", f"{local(zone, change.at):%H:%M}")
    if named and times.names_times:
        return ClockChange(change.at, Effect.COMES_TWICE, f"{named:%H:%M}", f"{named:%H:%M}")
    time = f"{local(zone, following.at):%H:%M}"
    return ClockChange(change.at, Effect.STAYS, time, time)
