"""Finds the moments that a cron expression matches in a time zone."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import islice
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from gateway.timing.changes import LATEST, Change, changes_between, counted, local, naive, offset_at

_DAY = 86_400
_HOURS = 24
_SECOND = timedelta(seconds=1)


def understood(expression: str, after: datetime) -> CronSim:
    """Return an iterator over matching naive datetimes after `after`. Raises ValueError for an invalid expression."""
    try:
        return CronSim(expression, after)
    except CronSimError as error:
        raise ValueError(str(error)) from error


def by_the_clock(expression: str, zone: ZoneInfo, after: int) -> Iterator[int]:
    """Yield the moments whose local time matches the expression, each once, in order.

    cronsim is given naive local times from one clock change to the next, because it handles changes of half an hour
    wrongly if it is given the zone. As in Debian's cron, a rule that names hours and minutes is due only the first time
    that its local time occurs, while a rule for every hour or every few minutes continues when the clock is set back.
    If its time is skipped, a rule that names hours is due once at the moment of the change.
    """
    hours_named, times_named = names_hours(expression), names_times(expression)
    offset = offset_at(zone, after)
    shown = _first_shown(zone, after) if times_named else local(zone, after)
    last = after
    while after <= LATEST:
        change: Change | None = None
        for due in understood(expression, shown):
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
        if not change.is_gap and times_named:
            shown = first
            continue
        shown = change.shown_after - _SECOND
        if change.is_gap and hours_named and after > last and named_between(expression, first, shown):
            last = after
            yield after


@lru_cache(maxsize=4096)
def names_hours(expression: str) -> bool:
    """Return True if it does not match every hour. That includes `*/12`, described to users as two times of day."""
    return len(understood(expression, naive(0)).hours) < _HOURS


def names_times(expression: str) -> bool:
    """Return True if it names hours and minutes: due at a time of day, not at an interval."""
    return names_hours(expression) and not expression.split(maxsplit=1)[0].startswith("*")


def named_between(expression: str, after: datetime, until: datetime) -> datetime | None:
    """Return the first match after `after` and up to `until`, or None."""
    return next((due for due in islice(understood(expression, after), 1) if due <= until), None)


def _first_shown(zone: ZoneInfo, at: int) -> datetime:
    """Return the local time at `at`, or during a repeated hour the end of what was already shown."""
    past = (change.shown_before - _SECOND for change in changes_between(zone, at - _DAY, at + 1))
    return max([local(zone, at), *past])
