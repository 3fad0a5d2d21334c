"""The bot that gateway tests talk to."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from tests.gateway.bot import Bot, make_bot

StartBot = Callable[..., Awaitable[Bot]]


@pytest.fixture
async def start_bot(tmp_path: Path) -> AsyncIterator[StartBot]:
    """`await start_bot("first answer", calls(...), tools=(...))` runs one in an empty home until the test ends."""
    async with AsyncExitStack() as stack:

        async def start(*turns: object, **how: object) -> Bot:
            bot = make_bot(tmp_path, turns, **how)  # type: ignore[arg-type]
            await bot.start()
            stack.push_async_callback(bot.stop)
            return bot

        yield start
