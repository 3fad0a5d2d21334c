"""The audit file has who makes and removes keys."""

import pytest

from gateway.plugins.api.plugin import ApiPlugin
from tests.gateway.conftest import StartBot
from tests.plugins.recorded_changes import changes


async def test_a_key_is_in_the_audit_without_its_secret(start_bot: StartBot) -> None:
    bot = await start_bot(plugins=(ApiPlugin,))
    for line in ("/key add editor", "/key", "/key rm editor"):
        await bot.hears(line)

    assert await changes(bot) == [("/key", "add editor", "memory:ann"), ("/key", "rm editor", "memory:ann")]


@pytest.mark.parametrize("sender", ["bob", "mallory"])
async def test_a_key_that_was_refused_is_no_change(start_bot: StartBot, sender: str) -> None:
    bot = await start_bot(plugins=(ApiPlugin,))
    await bot.hears("/key add editor", sender=sender)

    assert await changes(bot) == []
