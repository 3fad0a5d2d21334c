"""The screen of webhooks shows owners all, and admins their own."""

from gateway.plugins.hooks.plugin import HooksPlugin
from tests.gateway.conftest import StartBot
from tests.plugins.hooks.sending import added, sent


async def test_owners_see_all_webhooks_with_what_came_and_never_a_secret(start_bot: StartBot) -> None:
    bot = await start_bot(plugins=(HooksPlugin,))
    hook = await added(bot, "github", name="garden")
    await sent(bot, hook, {"action": "<b>opened</b>"})

    page = await bot.shows("hooks")

    assert "garden" in page
    assert "push" in page
    assert "told" in page
    assert hook.secret not in page
    assert hook.address not in page


async def test_admins_see_those_that_they_have_set(start_bot: StartBot) -> None:
    bot = await start_bot(plugins=(HooksPlugin,))
    await bot.hears("/role memory:bob admin")
    await added(bot, name="of-ann")
    await added(bot, name="of-bob", by="bob")

    page = await bot.shows("hooks", sender="bob")

    assert "of-bob" in page
    assert "of-ann" not in page


async def test_without_any_it_says_how_to_begin(start_bot: StartBot) -> None:
    bot = await start_bot(plugins=(HooksPlugin,))

    assert "/hook add" in await bot.shows("hooks")
