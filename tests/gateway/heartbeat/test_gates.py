"""The conditions under which a chat is left alone, and the reasons given."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from msgspec import structs

from channels.base import ChatKey
from gateway.schedule.heartbeat.gates import LONG_SILENCE, Facts, by_the_chat, by_the_clock, is_forgotten
from gateway.store.job import Heartbeat

PARIS = ZoneInfo("Europe/Paris")
ANN = ChatKey(platform="memory", account="here", chat="ann")
BEATS = Heartbeat(ANN, "ann", "abc123")


def first_reason(heartbeat: Heartbeat, now: float, zone: ZoneInfo, facts: Facts) -> str | None:
    return by_the_clock(heartbeat, now, zone) or by_the_chat(heartbeat, now, facts)


def at(local: str, zone: ZoneInfo = PARIS, *, fold: int = 0) -> float:
    return datetime.fromisoformat(local).replace(tzinfo=zone, fold=fold).timestamp()


NOON = at("2026-11-23 12:00")
TALKED = Facts(wrote=NOON - 3600, is_busy=False, said_today=0, tokens_today=0, cost_today=0.0, has_something=True)


def test_somebody_who_talked_an_hour_ago_is_looked_after() -> None:
    assert first_reason(BEATS, NOON, PARIS, TALKED) is None


@pytest.mark.parametrize(
    ("heartbeat", "facts", "reason"),
    [
        ({"on": False}, {}, "heartbeat_is_off"),
        ({"snoozed_until": NOON + 1}, {}, "heartbeat_is_snoozed"),
        ({"quiet_from": 720, "quiet_to": 780}, {}, "heartbeat_is_quiet"),
        ({}, {"wrote": None}, "heartbeat_never_wrote"),  # S2-46
        ({}, {"is_busy": True}, "heartbeat_is_busy"),
        ({}, {"wrote": NOON - 599}, "heartbeat_just_wrote"),
        ({}, {"said_today": 2}, "heartbeat_said_enough"),  # S2-46
        ({}, {"tokens_today": 300_000}, "heartbeat_used_enough"),
        ({}, {"cost_today": 0.5}, "heartbeat_used_enough"),
        ({"most_a_day": 0}, {}, "heartbeat_said_enough"),
        ({}, {"has_something": False}, "heartbeat_nothing"),
    ],
)
def test_reasons(heartbeat: Mapping[str, float], facts: Mapping[str, float], reason: str) -> None:
    beats, talked = replace(BEATS, **heartbeat), structs.replace(TALKED, **facts)  # type: ignore[arg-type]
    assert first_reason(beats, NOON, PARIS, talked) == reason


def test_the_first_reason_is_the_one_that_people_can_change() -> None:
    everything = replace(BEATS, on=False, snoozed_until=NOON + 1, quiet_from=0, quiet_to=1439)
    nothing = Facts(wrote=None, is_busy=True, said_today=9, tokens_today=0, cost_today=9.0, has_something=False)
    assert first_reason(everything, NOON, PARIS, nothing) == "heartbeat_is_off"


def test_a_snooze_ends() -> None:
    assert first_reason(replace(BEATS, snoozed_until=NOON), NOON, PARIS, TALKED) is None


@pytest.mark.parametrize("zone", ["Asia/Shanghai", "America/New_York", "Europe/Paris", "Pacific/Apia"])
def test_quiet_hours_go_across_midnight_where_the_person_is(zone: str) -> None:  # S2-46
    clocks = ("20:59", "21:00", "23:59", "00:00", "07:59", "08:00")
    assert [clock for clock in clocks if is_quiet(BEATS, f"2026-11-23 {clock}", ZoneInfo(zone))] == [
        "21:00",
        "23:59",
        "00:00",
        "07:59",
    ]


def is_quiet(heartbeat: Heartbeat, local: str, zone: ZoneInfo, *, fold: int = 0) -> bool:
    now = at(local, zone, fold=fold)
    return first_reason(heartbeat, now, zone, structs.replace(TALKED, wrote=now - 3600)) == "heartbeat_is_quiet"


NEW_YORK = ZoneInfo("America/New_York")
NIGHTS = replace(BEATS, quiet_from=60, quiet_to=120)
"""Quiet from 01:00 to 02:00."""


def test_an_hour_that_comes_twice_is_quiet_twice() -> None:
    assert not is_quiet(NIGHTS, "2026-11-01 00:59", NEW_YORK)
    assert is_quiet(NIGHTS, "2026-11-01 01:30", NEW_YORK)
    assert is_quiet(NIGHTS, "2026-11-01 01:30", NEW_YORK, fold=1)
    assert not is_quiet(NIGHTS, "2026-11-01 02:00", NEW_YORK)


def test_quiet_hours_that_the_night_leaves_out_do_not_last() -> None:
    left_out = replace(BEATS, quiet_from=120, quiet_to=180)
    assert not is_quiet(left_out, "2026-03-08 01:59", NEW_YORK)
    assert not is_quiet(left_out, "2026-03-08 03:00", NEW_YORK)


def test_a_week_without_a_word_is_a_long_silence() -> None:
    assert not is_forgotten(NOON - LONG_SILENCE + 1, 0.0, NOON)
    assert is_forgotten(NOON - LONG_SILENCE, 0.0, NOON)
    assert not is_forgotten(None, NOON - 60, NOON)
    assert not is_forgotten(NOON - 2 * LONG_SILENCE, NOON - 60, NOON)  # it was switched on only a minute ago
