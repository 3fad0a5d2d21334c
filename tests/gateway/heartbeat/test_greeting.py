"""Greetings are planned at seemingly random times that a restart does not change."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from channels.base import ChatKey
from gateway.schedule.heartbeat.greeting import AROUND, LONGEST, is_due, planned, shortened
from gateway.schedule.times.quiet import QuietHours

PARIS = ZoneInfo("Europe/Paris")
ANN = ChatKey(platform="memory", account="here", chat="ann")
DAY = date(2026, 11, 23)
NIGHT = QuietHours(21 * 60, 8 * 60)


def test_a_restart_plans_the_same() -> None:  # S2-46
    assert planned(ANN, DAY, PARIS, NIGHT, 2) == planned(ANN, DAY, PARIS, NIGHT, 2)


def test_another_day_another_chat_and_other_hours_are_planned_otherwise() -> None:  # S2-46
    bob = ANN.model_copy(update={"chat": "bob"})
    mine = planned(ANN, DAY, PARIS, NIGHT, 2)

    def clocks(plan: tuple[float, ...]) -> list[str]:
        return [f"{datetime.fromtimestamp(moment, PARIS):%H:%M}" for moment in plan]

    others = [
        planned(ANN, DAY + timedelta(days=1), PARIS, NIGHT, 2),
        planned(bob, DAY, PARIS, NIGHT, 2),
        planned(ANN, DAY, PARIS, QuietHours(22 * 60, 9 * 60), 2),
    ]
    assert all(clocks(mine) != clocks(other) for other in others)


@pytest.mark.parametrize("zone", ["Europe/Paris", "America/New_York", "Asia/Shanghai", "Australia/Lord_Howe"])
@pytest.mark.parametrize("quiet", [None, NIGHT, QuietHours(60, 9 * 60)])
def test_each_part_of_the_day_has_one_outside_of_quiet_hours(zone: str, quiet: QuietHours | None) -> None:
    local = ZoneInfo(zone)
    for number in range(0, 365, 9):
        day = DAY + timedelta(days=number)
        plan = planned(ANN, day, local, quiet, 3)
        assert len(plan) == 3
        assert list(plan) == sorted(plan)
        assert all(datetime.fromtimestamp(at, local).date() == day for at in plan)
        assert not any(quiet and quiet.holds_at(at, local) for at in plan)


def test_nobody_is_greeted_where_nothing_may_be_said() -> None:
    assert planned(ANN, DAY, PARIS, NIGHT, 0) == ()


def test_it_is_time_half_an_hour_before_and_after() -> None:  # S2-46
    at = datetime(2026, 11, 23, 12, tzinfo=UTC).timestamp()
    assert is_due((at,), at - AROUND, ())
    assert is_due((at,), at + AROUND, ())
    assert not is_due((at,), at + AROUND + 1, ())
    assert not is_due((), at, ())


def test_one_look_around_a_moment_is_enough() -> None:
    at = datetime(2026, 11, 23, 12, tzinfo=UTC).timestamp()
    assert not is_due((at,), at + 60, [at - AROUND + 1])
    assert is_due((at,), at + 60, [at - AROUND - 1])


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("Good morning!", "Good morning!"),
        ("Good\n  morning!", "Good morning!"),
        ("Good morning! I hope that you have slept very well indeed.", "Good morning!"),
        ("x" * 60, "x" * 49 + "…"),
        ("Good morning and a very good day to you and yours all", "Good morning and a very good day to you and…"),
        ("早上好！" + "今天也要加油" * 10, "早上好！"),
    ],
)
def test_it_is_short(said: str, shown: str) -> None:  # S2-46
    assert shortened(said) == shown
    assert len(shown) <= LONGEST
