"""Waiting for an event, for a time at most."""

import asyncio

import pytest

from agent_core.background import set_within
from agent_core.clock import SystemClock


class FastClock(SystemClock):
    """A system clock whose seconds are short."""

    async def sleep(self, seconds: float) -> None:
        await super().sleep(seconds / 1_000)


@pytest.mark.timeout(30)
async def test_the_wait_for_an_event_goes_by_the_clock_that_is_given() -> None:
    assert not await set_within(asyncio.Event(), 100.0, FastClock())
    assert not await set_within(asyncio.Event(), 0.01, SystemClock())


async def test_an_event_ends_the_wait() -> None:
    event = asyncio.Event()
    for clock in (SystemClock(), FastClock()):
        event.clear()
        asyncio.get_running_loop().call_later(0.01, event.set)
        assert await set_within(event, 60.0, clock)
        assert await set_within(event, 60.0, clock), "it is set already"
