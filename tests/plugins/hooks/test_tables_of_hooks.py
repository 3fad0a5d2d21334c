"""The tables of webhooks keep what is promised of the tables of plugins."""

from gateway.plugins.hooks.plugin import HooksPlugin
from parley.testing.bot import Bot
from tests.plugins.both_databases import OnBoth
from tests.plugins.hooks.sending import added, sent


class TestTablesOfHooks(OnBoth):
    plugin = HooksPlugin

    async def use(self, bot: Bot) -> None:
        await bot.hears("/role memory:bob admin")
        hook = await added(bot, by="bob")
        await sent(bot, hook, {"who": "bob"})
