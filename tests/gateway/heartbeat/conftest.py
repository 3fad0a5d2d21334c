"""The Parley that tests of the heartbeat watch."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from agent_core.models.scripted import Turn
from tests.gateway.heartbeat.beating import PLANTS, Beating, make_beating

StartBeating = Callable[..., Awaitable[Beating]]


@pytest.fixture
async def start_beating(tmp_path: Path) -> AsyncIterator[StartBeating]:
    """`await start_beating("first answer", introduces=True)` runs one, on a Monday at eight, until the test ends."""
    async with AsyncExitStack() as stack:

        async def start(*turns: Turn, **how: object) -> Beating:
            bot = make_beating(tmp_path, *turns, **how)  # type: ignore[arg-type]
            await bot.start()
            stack.push_async_callback(bot.stop)
            return bot

        yield start


@pytest.fixture
async def start_looking(start_beating: StartBeating) -> StartBeating:
    """The same with a list of one thing; Ann has switched the heartbeat on at eight."""

    async def start(*turns: Turn, **how: object) -> Beating:
        bot = await start_beating(*turns, **how)
        bot.writes(PLANTS)
        await bot.hears("/heartbeat on")
        return bot

    return start
