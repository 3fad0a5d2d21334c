"""Times that can be read in only one way."""

import pytest

from gateway.schedule.times.grammar import certain_once, read_when
from gateway.store.rule import Once
from tests.gateway.jobs.kit import PARIS, moment

NOW = moment("2026-11-23 14:50")


@pytest.mark.parametrize(
    ("text", "at", "rest"),
    [
        ("in 20m pizza", "2026-11-23 15:10", "pizza"),
        ("remind me in 20 minutes to take the pizza out", "2026-11-23 15:10", "take the pizza out"),
        ("at 17:30 call mum", "2026-11-23 17:30", "call mum"),
        ("at 5pm call mum", "2026-11-23 17:00", "call mum"),
        ("tomorrow 9:00 call the bank", "2026-11-24 09:00", "call the bank"),
        ("2026-12-24 18:00 presents", "2026-12-24 18:00", "presents"),
        ("20分钟后 披萨", "2026-11-23 15:10", "披萨"),
        ("下午三点开会", "2026-11-23 15:00", "开会"),
        ("明天早上9点 给银行打电话", "2026-11-24 09:00", "给银行打电话"),
    ],
)
def test_what_says_one_time_is_certain(text: str, at: str, rest: str) -> None:
    assert certain_once(text, PARIS, NOW) == (Once(at=moment(at)), rest)


@pytest.mark.parametrize(
    "text",
    [
        "at 5 call",
        "at five call",
        "half past five call",
        "every day at 9 until friday call",
        "5 o'clock call",
        "tomorrow at 5 call",
        "三点开会",
        "明天三点半开会",
        "at 5:30 call",  # in three hours, or in the morning?
        "at 17:00 call at 18:00",
        "in 20m look whether 10m were enough",
        "every day 9:00 stand-up",
        "tomorrow call mum",
        "2020-01-01 9:00 too late",
        "at 17:00",
        "pizza",
        "",
    ],
)
def test_what_can_be_read_otherwise_is_not(text: str) -> None:
    assert certain_once(text, PARIS, NOW) is None


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("at 5 call", "2026-11-23 17:00"),
        ("三点开会", "2026-11-23 15:00"),
        ("at 5:30 call", "2026-11-23 17:30"),
        ("at 3:15 call", "2026-11-23 15:15"),
        ("half past five call", "2026-11-23 17:30"),
    ],
)
def test_an_hour_alone_is_proposed_as_the_one_that_comes_sooner(text: str, at: str) -> None:
    found = read_when(text, PARIS, NOW)

    assert (found.rule, found.is_certain) == (Once(at=moment(at)), False)
