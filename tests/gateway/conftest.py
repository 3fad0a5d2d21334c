"""The bot of the gateway tests."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path

import pytest

from tests.agent_core.kit import MakeModel
from tests.agent_core.over_a_wire import model_of, pytest_generate_tests
from tests.gateway.bot import Bot, BotOptions

__all__ = ["model_of", "pytest_generate_tests", "start_bot", "wired_bot"]

StartBot = Callable[..., Awaitable[Bot]]


@pytest.fixture
async def start_bot(tmp_path: Path) -> AsyncIterator[StartBot]:
    """`await start_bot("first answer", calls(...), tools=(...))` runs one in an empty home until the test ends."""
    async with AsyncExitStack() as stack:

        async def start(*turns: object, **how: object) -> Bot:
            bot = Bot(tmp_path, turns, BotOptions(**how))  # type: ignore[arg-type]
            await bot.start()
            stack.push_async_callback(bot.stop)
            return bot

        yield start


@pytest.fixture
def wired_bot(model_of: MakeModel, start_bot: StartBot) -> StartBot:
    """`start_bot` over every client, each with its model at the other end of a wire."""

    async def start(*turns: object, **how: object) -> Bot:
        begin: StartBot = partial(start_bot, over=model_of())
        return await begin(*turns, **how)

    return start
