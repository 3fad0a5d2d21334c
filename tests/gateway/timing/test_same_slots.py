"""Stored cron lines keep the slots that they had when cronsim computed them.

`slots_of_cron.json` has digests of each line's slots, made with the program before it used recurrence rules: 30 slots
from each of six moments, in seven zones with every kind of clock change.
"""

import hashlib
import json
from itertools import islice
from pathlib import Path

import pytest

from gateway.schedule.times.slots import slots
from gateway.store.rule import Cron
from tests.zones import zone_by_rule

BEFORE: dict[str, list[str]] = json.loads(Path(__file__).with_name("slots_of_cron.json").read_text(encoding="utf-8"))
ZONES = (
    "UTC0",
    "CET-1CEST,M3.5.0,M10.5.0/3",
    "EST5EDT,M3.2.0,M11.1.0",
    "CST5CDT,M3.2.0/0,M11.1.0/1",
    "LHST-10:30LHDT-11,M10.1.0,M4.1.0",
    "<-02>2<-01>,M3.5.0/-1,M10.5.0/0",
    "CST-8",
)
STARTS = (1_767_225_600.5, 1_774_000_000.0, 1_774_745_000.0, 1_790_000_000.0, 1_792_890_000.0, 1_793_500_000.0)
MOST = 30


@pytest.mark.in_turn("turn", range(len(ZONES)))
@pytest.mark.parametrize(("number", "expression"), [*enumerate(BEFORE)])
def test_a_stored_cron_line_keeps_its_slots(number: int, expression: str, turn: int) -> None:
    place = (number + turn) % len(ZONES)
    zone, found = zone_by_rule(ZONES[place]), hashlib.sha256()

    for start in STARTS:
        names = [slot.name for slot in islice(slots(Cron(expression=expression), zone, start), MOST)]
        found.update(("|".join(names) + "\n").encode())

    assert found.hexdigest()[:16] == BEFORE[expression][place]
