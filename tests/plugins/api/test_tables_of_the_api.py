"""The tables of the API keep what is promised of the tables of plugins."""

import json

from gateway.plugins.api.plugin import ApiPlugin
from parley.testing.bot import Bot
from tests.plugins.api.conftest import key_of
from tests.plugins.both_databases import OnBoth


class TestTablesOfTheApi(OnBoth):
    plugin = ApiPlugin

    async def use(self, bot: Bot) -> None:
        await bot.hears("/role memory:bob admin")
        headers = {"Authorization": f"Bearer {await key_of(bot, sender='bob')}"}
        call = {"name": "schedule", "arguments": {"what": "wake bob", "when": "at 9"}}
        asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
        answer = await bot.requests("/mcp", "POST", json.dumps(asked).encode(), headers=headers)
        assert answer.status == 200
        await bot.app.settled()
        plugin = next(each for each in bot.made.plugins if isinstance(each, ApiPlugin))
        [key] = await plugin.keys.in_chat(bot.channel.chat("bob"))
        await plugin.keys.begun("api-of-bob", key)

    async def test_rows_stay_over_a_restart(self, bot: Bot) -> None:
        """Those of keys stay; a call is over with its process."""
        before = await self.content(bot)

        await bot.restart()

        assert await self.content(bot) == {**before, "api_calls": []}

    async def test_rows_stay_while_the_plugin_is_switched_off(self, bot: Bot) -> None:
        before = await self.content(bot)

        await bot.restart(plugins=())
        await bot.restart(plugins=(ApiPlugin,))

        assert await self.content(bot) == {**before, "api_calls": []}
