"""Decides what happens to a due job whose time may have passed while Parley was not running. Without I/O."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice, takewhile
from zoneinfo import ZoneInfo

from gateway.store.job import CheckIn, Job, Reminder
from gateway.timing.changes import LATEST
from gateway.timing.cron import check_cron
from gateway.timing.rule import Cron, Once
from gateway.timing.slots import Slot, next_slot, slots

ON_TIME = 60.0
"""Seconds after its due time in which a job is on time; the scheduler wakes up at least every half minute."""
MOST_MISSED = 50
"""The newest slots of a job that are recorded as missed."""
_WINDOW = 3600.0


@dataclass(frozen=True)
class Due:
    """The decision about a due job."""

    fires: Slot | None
    """The last slot if it is not too late; it stands for all that were missed."""
    missed: tuple[Slot, ...]
    """The other slots, oldest first, only the newest of very many."""
    more: bool
    """True if there were older ones that were not counted."""
    next_at: float | None


def due(job: Job, now: float) -> Due:
    """Decide for an active job whose time has come. Raises ValueError and LookupError for a row with invalid values."""
    zone = ZoneInfo(job.zone)
    if isinstance(job.rule, Cron):
        check_cron(job.rule.expression)
    first = now if job.next_at is None else job.next_at
    if not 0 <= first <= LATEST:
        raise ValueError("it is due at no date")
    later, coming = _since(job, zone, first, now)
    past = [Slot(first), *later]
    last = past[-1]
    fires = last if _is_wanted(job, now - last.at) else None
    missed = _told(job, past[:-1] if fires else past)
    return Due(fires, tuple(missed[-MOST_MISSED:]), len(missed) > MOST_MISSED, coming.at if coming else None)


def skipped(job: Job, found: Due) -> Due:
    """Treat the slot that should fire as missed, because it cannot be fired."""
    missed = found.missed if found.fires is None else (*found.missed, found.fires)
    return replace(found, fires=None, missed=tuple(_told(job, missed)))


def _told(job: Job, missed: Sequence[Slot]) -> Sequence[Slot]:
    """Return the missed slots to record: none for check-ins."""
    return () if isinstance(job.work, CheckIn) else missed


def _is_wanted(job: Job, late: float) -> bool:
    """Return True if it is not too late; a one-off reminder never is."""
    is_reminder = isinstance(job.rule, Once) and isinstance(job.work, Reminder)
    return is_reminder or late <= max(job.grace, ON_TIME)


def _since(job: Job, zone: ZoneInfo, first: float, now: float) -> tuple[list[Slot], Slot | None]:
    """Return the slots after `first` up to now, the newest if there are very many, and the next one."""
    found: list[Slot] = []
    for slot in islice(slots(job.rule, zone, first), MOST_MISSED + 1):
        if slot.at > now:
            return found, slot
        found.append(slot)
    if len(found) <= MOST_MISSED:
        return found, None
    # A job for every minute may have been missed for a year: find its last slots in growing windows before now.
    window, found = _WINDOW, []
    while len(found) <= MOST_MISSED:
        found = list(takewhile(lambda slot: slot.at <= now, slots(job.rule, zone, max(first, now - window))))
        window *= 4
    return found, next_slot(job.rule, zone, now)
