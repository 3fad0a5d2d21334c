"""A bot whose store is on PostgreSQL, for tests that use it in place of the usual one."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from tests.gateway.bot import Bot, BotOptions
from tests.gateway.conftest import StartBot
from tests.postgres import UrlOf


@pytest.fixture(name="start_bot")
async def start_bot_on_postgres(tmp_path: Path, url_of: UrlOf) -> AsyncIterator[StartBot]:
    async with AsyncExitStack() as stack:

        async def start(*turns: object, **how: object) -> Bot:
            bot = Bot(tmp_path, turns, BotOptions(**how, database=url_of(tmp_path)))  # type: ignore[arg-type]
            await bot.start()
            stack.push_async_callback(bot.stop)
            return bot

        yield start
