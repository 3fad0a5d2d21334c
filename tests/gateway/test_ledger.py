"""Calendar days and months of the installation's zone, through changes of its clocks."""

from datetime import date, datetime
from zoneinfo import ZoneInfo

import pytest

from gateway.permissions.ledger import Ledger, day_after
from gateway.store.budget import ALL, Spent
from gateway.texts.amounts import Period

PARIS = ZoneInfo("Europe/Paris")
ONE = Spent(1, 1)


def at(local: str, zone: ZoneInfo = PARIS) -> float:
    return datetime.fromisoformat(local).replace(tzinfo=zone).timestamp()


@pytest.mark.parametrize(
    ("day", "hours"), [("2026-03-29", 23), ("2026-10-25", 25), ("2026-07-01", 24)], ids=["spring", "autumn", "summer"]
)
def test_a_day_is_as_long_as_its_clocks_say(day: str, hours: int) -> None:
    ledger, noon = Ledger(PARIS), at(f"{day} 12:00")

    assert ledger.ends(noon, Period.DAY) - ledger.begins(noon, Period.DAY) == hours * 3600


def test_a_day_that_has_no_midnight_begins_at_its_first_moment() -> None:
    beirut = ZoneInfo("Asia/Beirut")  # 2026-03-29 begins at one o'clock
    ledger = Ledger(beirut)
    begins = ledger.begins(at("2026-03-29 12:00", beirut), Period.DAY)

    assert ledger.day_of(begins) == date(2026, 3, 29)
    assert ledger.day_of(begins - 1) == date(2026, 3, 28)


def test_a_call_belongs_to_the_day_on_which_it_began() -> None:
    ledger = Ledger(PARIS)
    before, after = at("2026-11-30 23:59:59"), at("2026-12-01 00:00:00")

    ledger.add([ALL], before, Spent(10, 10))
    ledger.add([ALL], after, ONE)
    ledger.add([ALL], before, Spent(-4, -4))  # settled after midnight

    assert ledger.used(ALL, before, Period.DAY) == Spent(6, 6)
    assert ledger.used(ALL, before, Period.MONTH) == Spent(6, 6)
    assert ledger.used(ALL, after, Period.DAY) == ONE
    assert ledger.used(ALL, after, Period.MONTH) == ONE


def test_old_days_are_forgotten_in_memory() -> None:
    ledger = Ledger(PARIS)
    for day in range(1, 29):
        ledger.add([ALL], at(f"2026-02-{day:02} 12:00"), ONE)

    assert ledger.used(ALL, at("2026-02-28 12:00"), Period.MONTH) == Spent(28, 28)
    assert ledger.used(ALL, at("2026-02-01 12:00"), Period.DAY) == Spent()
    assert ledger.accounts == {ALL}


def test_the_next_period_begins_on_its_first_day() -> None:
    assert day_after(date(2026, 12, 31), Period.DAY) == date(2027, 1, 1)
    assert day_after(date(2027, 1, 31), Period.MONTH) == date(2027, 2, 1)
    assert day_after(date(2026, 12, 1), Period.MONTH) == date(2027, 1, 1)


def test_what_was_used_today_is_known_after_a_clock_went_wrong_for_a_moment() -> None:
    ledger = Ledger(PARIS)
    yesterday, today = at("2026-02-01 23:59:59"), at("2026-02-02 00:00:01")
    ledger.add([ALL], yesterday, Spent(5, 5))
    ledger.add([ALL], at("2027-02-01 12:00"), ONE)  # the clock was a year ahead

    ledger.add([ALL], today, Spent(7, 7))
    ledger.add([ALL], yesterday, Spent(-4, -4))  # settled after midnight

    assert ledger.used(ALL, today, Period.DAY) == Spent(7, 7)
    assert ledger.used(ALL, today, Period.MONTH) == Spent(8, 8)
