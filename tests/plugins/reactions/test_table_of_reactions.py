"""The table of reactions passes the tests of every plugin."""

from gateway.plugins.reactions.plugin import ReactionsPlugin
from gateway.plugins.reactions.table import LeftReaction, Reactions
from parley.testing import Bot
from tests.plugins.both_databases import OnBoth


class TestReactions(OnBoth):
    plugin = ReactionsPlugin

    async def use(self, bot: Bot) -> None:
        core = bot.made.plugins[0].core
        await core.store.table(Reactions).add(LeftReaction(1, bot.channel.chat("bob"), "m1"))
