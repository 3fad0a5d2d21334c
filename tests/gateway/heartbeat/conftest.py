"""The bot of the heartbeat tests."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path

import pytest

from agent_core.models.scripted import Turn
from tests.agent_core.kit import MakeModel
from tests.gateway.heartbeat.beating import PLANTS, Beating, make_beating

StartBeating = Callable[..., Awaitable[Beating]]


@pytest.fixture
async def start_beating(tmp_path: Path) -> AsyncIterator[StartBeating]:
    """`await start_beating("first answer", offers=True)` runs one, on a Monday at eight, until the test ends."""
    async with AsyncExitStack() as stack:

        async def start(*turns: Turn, **how: object) -> Beating:
            bot = make_beating(tmp_path, *turns, **how)  # type: ignore[arg-type]
            await bot.start()
            stack.push_async_callback(bot.stop)
            return bot

        yield start


@pytest.fixture
def wired_beating(model_of: MakeModel, start_beating: StartBeating) -> StartBeating:
    """Run `start_beating` over every client, each with its model at the other end of a wire."""

    async def start(*turns: Turn, **how: object) -> Beating:
        return await start_beating(*turns, over=model_of(), **how)

    return start


@pytest.fixture
def start_looking(start_beating: StartBeating) -> StartBeating:
    """Start one with a list of one item, on which Ann has switched on the heartbeat at eight."""
    return partial(_looking, start_beating)


@pytest.fixture
def wired_looking(wired_beating: StartBeating) -> StartBeating:
    """Run `start_looking` over every client."""
    return partial(_looking, wired_beating)


async def _looking(begin: StartBeating, *turns: Turn, **how: object) -> Beating:
    bot = await begin(*turns, **how)
    bot.writes(PLANTS)
    await bot.hears("/heartbeat on")
    return bot
