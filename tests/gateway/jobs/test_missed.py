"""The rule for missed slots: run once, late, within the grace, else skip; one-off reminders are always delivered."""

from dataclasses import replace
from zoneinfo import ZoneInfo

import pytest

from gateway.schedule.jobs.missed import MOST_MISSED, due
from gateway.store.job import HOUR, CheckIn, Job, Report, Slot
from gateway.store.rule import Cron, Every, Once
from tests.cpu import cpu_seconds_at_most
from tests.gateway.jobs.kit import PARIS, a_job, moment

HOURLY = Cron(expression="0 * * * *")


def shown(*slots: Slot | None) -> list[str]:
    return [slot.name for slot in slots if slot is not None]


def at(local: str) -> str:
    return Slot(moment(local)).name


def test_on_time_it_fires_and_is_due_at_its_next_slot() -> None:
    found = due(a_job("x"), moment("2026-11-23 09:00") + 2)

    assert shown(found.fires) == [at("2026-11-23 09:00")]
    assert found.missed == ()
    assert found.next_at == moment("2026-11-24 09:00")


def test_down_over_three_firings_it_runs_once_named_by_the_last() -> None:  # S2-47
    found = due(a_job("x", HOURLY), moment("2026-11-23 11:20"))

    assert shown(found.fires) == [at("2026-11-23 11:00")]
    assert shown(*found.missed) == [at("2026-11-23 09:00"), at("2026-11-23 10:00")]
    assert found.next_at == moment("2026-11-23 12:00")


@pytest.mark.parametrize(
    ("grace", "now", "fires"),
    [
        (2 * HOUR, "2026-11-23 11:00", True),
        (2 * HOUR, "2026-11-23 11:01", False),
        (0.0, "2026-11-23 09:01", True),
        (0.0, "2026-11-23 09:02", False),
    ],
)
def test_the_grace_says_how_late_it_is_still_done(grace: float, now: str, fires: bool) -> None:  # noqa: FBT001
    """Half a minute counts as on time, because the scheduler looks no more often than that."""
    found = due(a_job("x", grace=grace), moment(now))

    assert bool(found.fires) is fires
    assert shown(*found.missed) == ([] if fires else [at("2026-11-23 09:00")])
    assert found.next_at == moment("2026-11-24 09:00")


def test_what_was_to_be_said_once_is_always_said() -> None:  # S2-47
    found = due(a_job("call mum", Once(at=moment("2026-11-23 09:00"))), moment("2026-12-24 09:00"))

    assert shown(found.fires) == [at("2026-11-23 09:00")]
    assert found.next_at is None


def test_a_report_for_one_moment_is_skipped_when_that_is_long_past() -> None:
    job = a_job(Report(instructions="look"), Once(at=moment("2026-11-23 09:00")))

    assert due(job, moment("2026-11-23 12:00")).fires is None
    assert due(job, moment("2026-11-23 12:00")).next_at is None


def test_nobody_misses_a_look_that_was_not_made() -> None:
    job = a_job(CheckIn(), HOURLY, grace=0.5 * HOUR)

    late, too_late = due(job, moment("2026-11-23 11:20")), due(job, moment("2026-11-23 11:40"))

    assert shown(late.fires) == [at("2026-11-23 11:00")]
    assert too_late.fires is None
    assert late.missed == too_late.missed == ()


@pytest.mark.parametrize("rule", [Cron(expression="* * * * *"), Every(seconds=60, since=moment("2025-11-23 08:00"))])
def test_a_year_of_minutes_is_no_work(rule: Cron | Every) -> None:
    """Only the newest missed slots are recorded, with a note that there were more."""
    with cpu_seconds_at_most(1):
        found = due(a_job("x", rule, created="2025-11-23 08:00"), moment("2026-11-23 08:00") + 30)

    assert shown(found.fires) == [at("2026-11-23 08:00")]
    assert shown(*found.missed)[-1] == at("2026-11-23 07:59")
    assert len(found.missed) == MOST_MISSED
    assert found.more


@pytest.mark.parametrize("count", [MOST_MISSED - 1, MOST_MISSED, MOST_MISSED + 1, MOST_MISSED + 2, 5 * MOST_MISSED])
def test_many_are_counted_alike_from_either_end(count: int) -> None:
    """The last of so many slots fires; the others were missed."""
    first = moment("2026-11-01 00:00")
    job = a_job("x", Every(seconds=3_600, since=first), created="2026-10-31 23:30", next_at=first)

    found = due(job, first + (count - 1) * 3_600 + 5)

    assert found.fires == Slot(first + (count - 1) * 3_600)
    expected = [Slot(first + number * 3_600) for number in range(count - 1)][-MOST_MISSED:]
    assert list(found.missed) == expected
    assert found.more is (count - 1 > MOST_MISSED)
    assert found.next_at == first + count * 3_600


def test_the_night_in_which_clocks_change_has_one_slot() -> None:
    """After a stop over 02:30 in Paris, the one slot that the rule has for that date is made up."""
    job = a_job("x", Cron(expression="30 2 * * *"), created="2026-10-24 12:00", grace=24 * HOUR)

    found = due(job, moment("2026-10-26 01:00"))

    assert shown(found.fires) == ["2026-10-25T00:30:00Z"]
    assert found.missed == ()


@pytest.mark.parametrize(
    "broken",
    [
        {"zone": "Mars/Olympus"},
        {"zone": "../../etc"},
        {"rule": Cron(expression="0 9 31 2 *")},
        {"rule": Cron(expression="x")},
        {"next_at": -1e12},
    ],
)
def test_a_row_that_nobody_can_keep_says_so(broken: dict[str, object]) -> None:
    job: Job = replace(a_job("x"), **broken)  # type: ignore[arg-type]

    with pytest.raises((ValueError, LookupError)):
        due(job, moment("2026-11-23 09:00"))


def test_a_zone_is_that_of_the_job() -> None:
    job = a_job("x", zone="Asia/Tokyo")

    found = due(job, moment("2026-11-24 01:00"))

    assert shown(found.fires) == [Slot(moment("2026-11-24 09:00", ZoneInfo("Asia/Tokyo"))).name]
    assert ZoneInfo(job.zone) != PARIS
