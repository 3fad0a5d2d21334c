"""A bot whose clock tests move and whose store is on PostgreSQL, for tests that use it in place of the usual one."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from tests.gateway.jobs.conftest import StartTimedBot
from tests.gateway.jobs.kit import TimedBot, make_timed_bot
from tests.postgres import UrlOf


@pytest.fixture(name="start_bot")
async def start_timed_bot_on_postgres(tmp_path: Path, url_of: UrlOf) -> AsyncIterator[StartTimedBot]:
    async with AsyncExitStack() as stack:

        async def start(*turns: object, **how: object) -> TimedBot:
            bot = make_timed_bot(tmp_path, turns, **how, database=url_of(tmp_path))  # type: ignore[arg-type]
            await bot.start()
            stack.push_async_callback(bot.stop)
            return bot

        yield start
