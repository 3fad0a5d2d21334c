"""The rule for what was missed: what becomes of a job that is due now, or was due while nobody looked. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice, takewhile
from zoneinfo import ZoneInfo

from gateway.store.job import CheckIn, Job, Reminder
from gateway.timing.changes import LATEST
from gateway.timing.check import check_cron
from gateway.timing.rule import Cron, Once
from gateway.timing.slots import Slot, next_slot, slots

ON_TIME = 60.0
"""Seconds behind its moment at which nothing is late yet: whoever wakes us does so every half minute at least."""
MOST_MISSED = 50
"""Slots of one job that are written down as missed, the newest."""
_WINDOW = 3600.0


@dataclass(frozen=True)
class Due:
    """What is to become of a job that is due."""

    fires: Slot | None
    """The last of its slots, where it is not too late: it stands for all that were missed."""
    missed: tuple[Slot, ...]
    """The others, oldest first; of very many the newest."""
    more: bool
    """Whether there were older ones that nobody counted."""
    next_at: float | None


def due(job: Job, now: float) -> Due:
    """Of an active job whose time has come. Raises ValueError and LookupError for a row that nobody could keep."""
    zone = ZoneInfo(job.zone)
    if isinstance(job.rule, Cron):
        check_cron(job.rule.expression, now)
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
    """It cannot fire, whatever is tried: so much for this time."""
    missed = found.missed if found.fires is None else (*found.missed, found.fires)
    return replace(found, fires=None, missed=tuple(_told(job, missed)))


def _told(job: Job, missed: Sequence[Slot]) -> Sequence[Slot]:
    """Nobody misses a look that found nothing."""
    return () if isinstance(job.work, CheckIn) else missed


def _is_wanted(job: Job, late: float) -> bool:
    """What somebody asked to be told once is told, however late."""
    is_reminder = isinstance(job.rule, Once) and isinstance(job.work, Reminder)
    return is_reminder or late <= max(job.grace, ON_TIME)


def _since(job: Job, zone: ZoneInfo, first: float, now: float) -> tuple[list[Slot], Slot | None]:
    """The slots behind `first` up to now, of more than `MOST_MISSED` the newest, and the one that comes next."""
    found: list[Slot] = []
    for slot in islice(slots(job.rule, zone, first), MOST_MISSED + 1):
        if slot.at > now:
            return found, slot
        found.append(slot)
    if len(found) <= MOST_MISSED:
        return found, None
    # A job for every minute may have been missed for a year: its last slots are found from behind.
    window, found = _WINDOW, []
    while len(found) <= MOST_MISSED:
        found = list(takewhile(lambda slot: slot.at <= now, slots(job.rule, zone, max(first, now - window))))
        window *= 4
    return found, next_slot(job.rule, zone, now)
