"""The tables of sign-ins keep what is promised of the tables of plugins."""

from channels.memory import MemoryChannel
from gateway.plugins.mcp.plugin import McpPlugin
from gateway.plugins.mcp.table import Account, SignIn, SignIns, ToAsk, begin, is_to_be_asked, sign_in
from gateway.store.connection import Connection
from parley.testing.bot import Bot
from tests.plugins.both_databases import OnBoth


class TestTablesOfSignIns(OnBoth):
    plugin = McpPlugin

    async def use(self, bot: Bot) -> None:
        assert isinstance(bot.channel, MemoryChannel)
        await bot.hears("hello", sender="bob")
        chat, who, now = bot.channel.chat("bob"), "memory:bob", bot.clock.time()
        plugin = next(each for each in bot.made.plugins if isinstance(each, McpPlugin))

        def change(connection: Connection) -> None:
            for state in ("1", "2"):
                begin(connection, SignIn(state, "garden", "https://x", who, who, "bob", chat, "en", "sealed", now))
                if state == "1":
                    sign_in(connection, state, Account("garden", who, who, chat, "en", "sealed"))
            is_to_be_asked(connection, ToAsk("pond", who, who, chat, "en", "UTC"), now)

        await plugin.core.store.table(SignIns).write(change)
