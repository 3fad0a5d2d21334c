"""Waits between attempts are short, growing, and logged once."""

import logging
import re
from contextlib import suppress

import pytest

from channels.backoff import FIRST_WAIT, LONGEST_HOLD, LONGEST_WAIT, Backoff, Cooldowns, replacement_call
from channels.base import ChannelError


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

    first, end, second = [record.getMessage() for record in caplog.records]
    assert first == second == "it is not heard"
    assert re.fullmatch(r"it is heard again after \d+ s", end)


@pytest.mark.parametrize(("told", "calls"), [(0.01, 2), (LONGEST_HOLD + 1, 1), (None, 1)])
async def test_a_call_in_the_place_of_a_refused_one_waits_a_little_and_is_made_once_more(
    told: float | None, calls: int
) -> None:
    made: list[None] = []

    async def refused() -> None:
        made.append(None)
        raise ChannelError("no", retry_after=told)

    with pytest.raises(ChannelError):
        await replacement_call(refused)

    assert len(made) == calls


@pytest.mark.parametrize(("left", "calls"), [(0.004, 1), (10.0, 0)])
def test_a_timer_that_fires_a_little_early_is_early_enough(left: float, calls: int) -> None:
    cooldowns, made = Cooldowns(), []
    with suppress(ChannelError), cooldowns.call("message"):
        raise ChannelError("slower", retry_after=left)

    with suppress(ChannelError), cooldowns.call("message"):
        made.append("message")

    assert len(made) == calls
