"""The audit file has who lets webhooks in."""

import pytest

from gateway.plugins.hooks.plugin import HooksPlugin
from tests.gateway.conftest import StartBot
from tests.plugins.recorded_changes import changes


async def test_a_webhook_is_in_the_audit_without_its_secret(start_bot: StartBot) -> None:
    bot = await start_bot(plugins=(HooksPlugin,))
    for line in (
        *("/hook add pay stripe", "/hook secret pay whsec_abcdefgh12345678", "/hook post pay Paid by {{data.name}}"),
        *("/hook", "/hook list", "/hook rm pay"),
    ):
        await bot.hears(line)

    assert await changes(bot) == [
        ("/hook", "add pay", "memory:ann"),
        ("/hook", "secret pay", "memory:ann"),
        ("/hook", "post pay", "memory:ann"),
        ("/hook", "rm pay", "memory:ann"),
    ]


@pytest.mark.parametrize("sender", ["bob", "mallory"])
async def test_a_webhook_that_was_refused_is_no_change(start_bot: StartBot, sender: str) -> None:
    bot = await start_bot(plugins=(HooksPlugin,))
    await bot.hears("/hook add builds", sender=sender)

    assert await changes(bot) == []
