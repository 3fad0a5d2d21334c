"""The tables of devices keep what is promised of the tables of plugins."""

from gateway.plugins.push.plugin import PushPlugin
from gateway.plugins.push.table import Device, Devices
from parley.testing.bot import Bot
from tests.plugins.both_databases import OnBoth


class TestTablesOfPush(OnBoth):
    plugin = PushPlugin

    async def use(self, bot: Bot) -> None:
        devices = bot.made.base.store.table(Devices)
        await devices.private_key(lambda: "a key")
        await devices.keep(Device("browser", "memory:bob", "https://push.example/1", "key", "auth", "en"))
