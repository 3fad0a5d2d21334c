"""A daily job runs once for each date, in every zone and at every kind of clock change.

`bench.zones` tests every change of the next years.
"""

from itertools import takewhile
from zoneinfo import ZoneInfo

from gateway.schedule.times.changes import local
from gateway.schedule.times.slots import next_slot, slots
from gateway.store.rule import Cron
from tests.gateway.timing.sweep import HALF_HOURS, Tally, groups, tally

FEWEST_ZONES, FEWEST_CHANGES = 400, 300


def in_a_row(hour: int, minute: int, zone: ZoneInfo, after: float, until: float) -> list[float]:
    every = slots(Cron(expression=f"{minute} {hour} * * *"), zone, after)
    return [slot.at for slot in takewhile(lambda slot: slot.at <= until, every)]


def test_every_date_has_its_run_in_every_zone() -> None:
    found = groups(2026, 2030)
    total = Tally()

    for group in found:
        total += tally(group.kinds, in_a_row).times(len(group.zones))

    assert sum(len(group.zones) for group in found) > FEWEST_ZONES
    assert total.cases > FEWEST_CHANGES * len(HALF_HOURS)
    assert (total.doubled, total.missed) == (0, 0)


def test_wherever_one_starts_around_a_change_nothing_is_lost_or_past() -> None:
    for group in groups(2026, 2027):
        for change in group.changes:
            hours = {local(group.zone, change.at + shift).hour for shift in (-3600, 0, 3600)}
            for hour, minute in HALF_HOURS:
                if hour in hours:
                    _starts(hour, minute, group.zone, change.at)


def _starts(hour: int, minute: int, zone: ZoneInfo, change: int) -> None:
    every = in_a_row(hour, minute, zone, change - 86_400, change + 172_800)
    rule = Cron(expression=f"{minute} {hour} * * *")
    for after in (change - 1800, change - 1, change, change + 900, change + 3600, change + 5400.5):
        slot = next_slot(rule, zone, after)
        assert slot
        assert slot.at == min(at for at in every if at > after)
