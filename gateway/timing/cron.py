"""What a line of cron names, followed by the clock on the wall."""

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
    """What a clock shows after `after` that it names. Raises ValueError for what is no cron."""
    try:
        return CronSim(expression, after)
    except CronSimError as error:
        raise ValueError(str(error)) from error


def by_the_clock(expression: str, zone: ZoneInfo, after: int) -> Iterator[int]:
    """The moments at which the clock on the wall shows what the rule names, each once, in order.

    The clock is followed from one change to the next, and cron only told what it shows (left alone with a zone, it
    loses its way in changes of half an hour). As Debian's cron has it, a rule that names hours and minutes counts what
    the clock shows for the first time: so it is due once for each date that it means. A rule for every hour or every
    few minutes goes on when the clock goes back. What a rule that names hours would find in the hour that is left out,
    is due once when that would have begun.
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
    """Not all of them: so does `*/12`, which people are told as two times of day."""
    return len(understood(expression, naive(0)).hours) < _HOURS


def names_times(expression: str) -> bool:
    """Hours and minutes: it is due at a time of day, not every so often."""
    return names_hours(expression) and not expression.split(maxsplit=1)[0].startswith("*")


def named_between(expression: str, after: datetime, until: datetime) -> datetime | None:
    """The first that it names of what a clock shows after `after` and up to `until`."""
    return next((due for due in islice(understood(expression, after), 1) if due <= until), None)


def _first_shown(zone: ZoneInfo, at: int) -> datetime:
    """What the clock shows; while it shows a time again, that up to which it has shown all."""
    past = (change.shown_before - _SECOND for change in changes_between(zone, at - _DAY, at + 1))
    return max([local(zone, at), *past])
