"""The fixtures of `parley.testing`."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from parley.testing.bot import Bot, BotOptions

StartBot = Callable[..., Awaitable[Bot]]
"""Starts a bot: the turns of its model one by one, then its options by name."""


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
