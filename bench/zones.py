"""Runs of daily jobs around every change of clocks, in Parley's own schedule and in APScheduler's cron.

All IANA zones, every change from 2026 to 2030, one job for every half hour of the day. Zones with the same changes are
computed once and counted as often as there are such zones.
"""

from collections.abc import Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

from apscheduler.triggers.cron import CronTrigger

from bench.figures import Figure
from gateway.schedule.times.slots import next_slot
from gateway.store.rule import Cron
from tests.gateway.timing.sweep import Runs, Tally, groups, tally

FIRST, LAST = 2026, 2030
A_MOMENT = 0.001
"""Seconds after which the scheduler wakes up again."""


async def figures() -> list[Figure]:
    ours, bare, first_year = _sweep(FIRST, LAST, ours_do), _sweep(FIRST, LAST, bare_do), _sweep(FIRST, FIRST, bare_do)
    return [
        Figure("zones", sum(len(group.zones) for group in groups(FIRST, LAST)), ""),
        Figure("changes, of all zones", ours.cases / 48, ""),
        Figure("jobs at these changes", ours.cases, "", bare=bare.cases),
        Figure("run twice for a date", ours.doubled, "", 0, bare.doubled),
        Figure("not run for a date", ours.missed, "", 0, bare.missed),
        Figure(f"run twice, by the bare library in {FIRST} alone", first_year.doubled, f"of {first_year.cases}"),
        Figure(f"not run, by the bare library in {FIRST} alone", first_year.missed, f"of {first_year.cases}"),
    ]


def _sweep(first: int, last: int, runs: Runs) -> Tally:
    return sum((tally(group, runs).times(len(group.zones)) for group in groups(first, last)), Tally())


def ours_do(hour: int, minute: int, zone: ZoneInfo, after: float, until: float) -> Sequence[float]:
    """Return Parley's run times, each computed from the one before."""
    rule, found = Cron(expression=f"{minute} {hour} * * *"), [after]
    while (slot := next_slot(rule, zone, found[-1])) and slot.at <= until:
        found.append(slot.at)
    return found[1:]


def bare_do(hour: int, minute: int, zone: ZoneInfo, after: float, until: float) -> Sequence[float]:
    """Return APScheduler's run times, each computed from the last run and the current time."""
    trigger = CronTrigger.from_crontab(f"{minute} {hour} * * *", timezone=zone)
    found: list[float] = []
    last, now = None, datetime.fromtimestamp(after, zone)
    while (following := trigger.get_next_fire_time(last, now)) and following.timestamp() <= until:
        found.append(following.timestamp())
        last, now = following, datetime.fromtimestamp(found[-1] + A_MOMENT, zone)
    return found
