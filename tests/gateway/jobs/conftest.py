"""The bot of the job tests, with a clock that tests move."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from tests.gateway.jobs.kit import TimedBot, make_timed_bot

StartTimedBot = Callable[..., Awaitable[TimedBot]]


@pytest.fixture
async def start_bot(tmp_path: Path) -> AsyncIterator[StartTimedBot]:
    """`await start_bot("first answer", calls(...), tools=(...))` runs one in an empty home until the test ends."""
    async with AsyncExitStack() as stack:

        async def start(*turns: object, **how: object) -> TimedBot:
            bot = make_timed_bot(tmp_path, turns, **how)  # type: ignore[arg-type]
            await bot.start()
            stack.push_async_callback(bot.stop)
            return bot

        yield start
