"""Waiting between tries: short, growing, and told once."""

import logging

import pytest

from channels.backoff import FIRST_WAIT, LONGEST_WAIT, Backoff


def test_waits_grow_and_stay_short() -> None:
    backoff = Backoff()
    waits = [backoff.seconds() for _ in range(10)]

    assert FIRST_WAIT <= waits[0] <= 1.3 * FIRST_WAIT
    assert LONGEST_WAIT <= waits[-1] <= 1.3 * LONGEST_WAIT


def test_a_told_wait_is_kept_and_hardly_made_longer() -> None:
    assert 3_600 <= Backoff().seconds(3_600) <= 3_601


def test_an_outage_is_one_warning_and_its_end_is_told(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="channels.backoff")
    backoff = Backoff()

    backoff.succeeded("it is heard again")
    for _ in range(100):
        backoff.failed("it is not heard")
    backoff.succeeded("it is heard again")
    backoff.failed("it is not heard")

    assert [record.getMessage() for record in caplog.records] == [
        "it is not heard",
        "it is heard again after 0 s",
        "it is not heard",
    ]
