"""The times at which jobs are due: intervals, cron, and changes of clocks."""

from datetime import UTC, datetime
from itertools import islice, pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.schedule.times.changes import LATEST
from gateway.schedule.times.slots import next_slot, period, slots, upcoming
from gateway.store.job import Slot
from gateway.store.rule import Cron, Every, Once
from tests.zones import zone_by_rule

BERLIN, NEW_YORK, NUUK = ZoneInfo("Europe/Berlin"), ZoneInfo("America/New_York"), ZoneInfo("America/Nuuk")


def moment(zone: ZoneInfo, text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=zone).timestamp()


def due(expression: str, zone: ZoneInfo, after: str, most: int = 3) -> list[str]:
    """Return the next slots in local time."""
    found = upcoming(Cron(expression=expression), zone, moment(zone, after), most)
    return [f"{datetime.fromtimestamp(slot.at, zone):%m-%d %H:%M %Z}" for slot in found]


def test_a_slot_is_named_after_its_moment() -> None:
    assert Slot(moment(BERLIN, "2026-11-23 09:00")).name == "2026-11-23T08:00:00Z"


def test_once_is_once() -> None:
    rule = Once(at=100.0)

    assert [slot.at for slot in slots(rule, BERLIN, 99.9)] == [100.0]
    assert list(slots(rule, BERLIN, 100.0)) == []


def test_an_interval_is_counted_from_its_beginning() -> None:
    rule = Every(seconds=1800, since=1_000.0)

    assert [slot.at for slot in upcoming(rule, BERLIN, 1_000.0, 2)] == [2_800.0, 4_600.0]
    assert [slot.at for slot in upcoming(rule, BERLIN, 2_800.0, 2)] == [4_600.0, 6_400.0]


def test_an_interval_that_began_by_a_clock_that_was_ahead_is_due_all_the_same() -> None:
    rule = Every(seconds=1800, since=1_000_000.0)

    assert [slot.at for slot in upcoming(rule, BERLIN, 900_000.0, 2)] == [901_000.0, 902_800.0]


@pytest.mark.parametrize("since", [1e300, -1e300, 1e18, -1e18])
def test_an_interval_from_the_end_of_time_is_never_due(since: float) -> None:
    assert upcoming(Every(seconds=1800, since=since), BERLIN, 900_000.0, 2) == []


@given(st.integers(60, 10**7), st.floats(0, 4e9), st.integers(0, 10**4))
def test_an_interval_never_stands_still(seconds: int, since: float, number: int) -> None:
    at = since + number * seconds

    following = next_slot(Every(seconds=seconds, since=since), BERLIN, at)

    assert following is not None
    assert at < following.at <= at + seconds * 1.001


@pytest.mark.parametrize(
    ("expression", "first"),
    [
        ("0 9 * * 1", "11-23 09:00 CET"),
        ("0 9 * * 0", "11-29 09:00 CET"),
        ("0 9 * * 7", "11-29 09:00 CET"),
        ("0 9 * * 1-5", "11-23 09:00 CET"),
        ("0 9 * * mon-fri", "11-23 09:00 CET"),
        ("0 9 25 * 1", "11-23 09:00 CET"),
        ("0 9 24 12 *", "12-24 09:00 CET"),
        ("0 9 L * *", "11-30 09:00 CET"),
        ("*/15 * * * *", "11-22 13:00 CET"),
    ],
)
def test_cron_is_that_of_debian(expression: str, first: str) -> None:
    """APScheduler would count weekdays from Monday and require day *and* weekday."""
    assert due(expression, BERLIN, "2026-11-22 12:45", 1) == [first]


def test_an_hour_that_is_left_out_is_made_up_for_when_it_would_have_begun() -> None:
    assert due("30 2 * * *", NEW_YORK, "2026-03-07 12:00") == ["03-08 03:00 EDT", "03-09 02:30 EDT", "03-10 02:30 EDT"]


def test_several_times_in_that_hour_are_one() -> None:
    assert due("0,20,40 2,3 * * *", NEW_YORK, "2026-03-08 00:00") == [
        "03-08 03:00 EDT",
        "03-08 03:20 EDT",
        "03-08 03:40 EDT",
    ]


def test_an_hour_that_comes_twice_counts_the_first_time() -> None:
    assert due("30 1 * * *", NEW_YORK, "2026-10-31 12:00", 2) == ["11-01 01:30 EDT", "11-02 01:30 EST"]


def test_every_so_many_minutes_goes_on_when_the_clock_goes_back() -> None:
    assert due("*/30 0-2 * * *", NEW_YORK, "2026-11-01 00:30", 5) == [
        "11-01 01:00 EDT",
        "11-01 01:30 EDT",
        "11-01 01:00 EST",
        "11-01 01:30 EST",
        "11-01 02:00 EST",
    ]


def test_every_so_many_hours_names_times_of_day_too() -> None:
    """Such a rule is displayed as its times of day; in Havana the change of clocks removes midnight in spring."""
    havana = zone_by_rule("CST5CDT,M3.2.0/0,M11.1.0/1")

    assert due("0 */12 * * *", havana, "2027-03-13 13:00", 2) == ["03-14 01:00 CDT", "03-14 12:00 CDT"]
    assert due("0 */12 * * *", havana, "2026-10-31 13:00", 2) == ["11-01 00:00 CDT", "11-01 12:00 CST"]


def test_a_change_of_half_an_hour_loses_nothing() -> None:
    found = due("*/15 * * * *", ZoneInfo("Australia/Lord_Howe"), "2026-04-05 01:30", 4)

    assert found == ["04-05 01:45 +11", "04-05 01:30 +1030", "04-05 01:45 +1030", "04-05 02:00 +1030"]


def test_where_the_last_hour_of_a_day_is_left_out_its_run_falls_on_the_next() -> None:
    assert due("30 23 * * *", NUUK, "2026-03-27 23:30", 2) == ["03-29 00:00 -01", "03-29 23:30 -01"]


@pytest.mark.parametrize("expression", ["30 2 * * *", "30 1 * * *", "0 0 * * *", "0 */2 * * *", "*/20 1-3 * * *"])
@pytest.mark.parametrize("change", ["2026-03-08 06:00", "2026-11-01 05:00"])
def test_wherever_one_starts_the_same_slots_follow(expression: str, change: str) -> None:
    """From any start within a repeated or missing hour, the next slot is later than it and none is skipped."""
    rule = Cron(expression=expression)
    begin = moment(ZoneInfo("UTC"), change) - 3600
    every = [slot.at for slot in islice(slots(rule, NEW_YORK, begin - 86_400), 500)]

    for seconds in range(0, 4 * 3600, 97):
        after = begin + seconds + 0.5
        assert next_slot(rule, NEW_YORK, after) == Slot(min(at for at in every if at > after))


@given(
    st.sampled_from(["* * * * *", "30 2 * * *", "*/7 */3 * * 1-5", "0 0 1 * *", "5,55 1,23 * * *", "0 9 29 2 *"]),
    st.sampled_from(["Europe/Berlin", "America/Nuuk", "Australia/Lord_Howe", "Africa/Casablanca", "Antarctica/Troll"]),
    st.floats(0, 4e9),
)
def test_slots_go_on_without_end_or_repetition(expression: str, zone: str, after: float) -> None:
    found = [after, *(slot.at for slot in upcoming(Cron(expression=expression), ZoneInfo(zone), after, 40))]

    assert len(found) == 41
    assert all(one < other for one, other in pairwise(found))


@pytest.mark.parametrize("after", [LATEST, 1e12, 1e18])
def test_after_the_end_of_time_nothing_is_due(after: float) -> None:
    assert upcoming(Cron(expression="0 9 * * *"), BERLIN, after) == []
    assert upcoming(Every(seconds=60, since=0.0), BERLIN, after) == []


def test_before_its_beginning_all_is_to_come() -> None:
    assert upcoming(Cron(expression="0 1 * * *"), BERLIN, -1e18, 1) == [Slot(86_400.0)]


def test_the_period_is_from_the_next_to_the_one_after() -> None:
    friday = datetime(2026, 11, 20, 7, 0, tzinfo=UTC).timestamp()

    assert period(Cron(expression="0 9 * * 1-5"), BERLIN, friday) == 3 * 86_400
    assert period(Every(seconds=600, since=0.0), BERLIN, friday) == 600
    assert period(Once(at=friday + 1), BERLIN, friday) is None
