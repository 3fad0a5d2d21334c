"""A bot behind a real server, and the official client of OpenAI with a key for it."""

import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from openai import AsyncOpenAI

from gateway.plugins.api.plugin import ApiPlugin
from tests.gateway.bot import Bot
from tests.gateway.operation import watched

Connect = Callable[[Bot], Awaitable[AsyncOpenAI]]


async def key_of(bot: Bot, name: str = "editor", sender: str = "ann") -> str:
    """Make a key, and return it."""
    await bot.hears(f"/key add {name}", sender=sender)
    return key_in(bot.screen[-1])


def key_in(message: str) -> str:
    """Return the key that a message shows."""
    found = re.search(r"parley-[0-9a-f]{48}", message)
    assert found, message
    return found[0]


@pytest.fixture
async def connect(tmp_path: Path) -> AsyncIterator[Connect]:
    """Returns the official client, with a new key of Ann."""
    async with AsyncExitStack() as life:

        async def connected(bot: Bot) -> AsyncOpenAI:
            session = await life.enter_async_context(watched(bot, tmp_path, (ApiPlugin,)))
            key = await key_of(bot)
            client = AsyncOpenAI(api_key=key, base_url=f"{session._base_url}v1", max_retries=0)  # noqa: SLF001
            return await life.enter_async_context(client)

        yield connected
