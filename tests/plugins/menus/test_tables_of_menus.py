"""The table of the menus passes the tests of every plugin, but that its rows stay when a person is forgotten."""

from gateway.plugins.menus.plugin import MenusPlugin
from gateway.plugins.menus.table import MenuPlace, Menus
from parley.testing import Bot
from tests.plugins.both_databases import OnBoth


class TestMenus(OnBoth):
    plugin = MenusPlugin

    async def use(self, bot: Bot) -> None:
        core = bot.made.plugins[0].core
        await core.store.table(Menus).save(MenuPlace(bot.channel.chat("bob")), "digest")

    async def test_nothing_of_a_person_is_left_once_they_are_forgotten(self, bot: Bot) -> None:
        before = await self.content(bot)

        await bot.hears("/forget me", sender="bob")
        await bot.channel.presses("Erase for good", sender="bob")
        await bot.app.settled()

        assert await self.content(bot) == before, "a menu is taken away later, and says nothing"
