"""Tests that the tables of every plugin pass: those of `TableTests`, which a subclass runs on its own plugin.

class TestTables(TableTests):
    plugin = PollPlugin

    async def use(self, bot: Bot) -> None:
        await bot.hears("/poll Lunch? | Pizza | Soup", sender="bob")
        await bot.channel.presses("Soup", sender="bob")
        await bot.app.settled()
"""

from abc import abstractmethod
from typing import ClassVar

import pytest

from gateway.plugin import Plugin
from gateway.store.connection import Connection
from gateway.store.plugin_tables import PluginTables
from gateway.store.table import Table
from parley.testing.bot import Bot
from parley.testing.fixtures import StartBot

Content = dict[str, list[tuple[object, ...]]]
"""The rows of each table of a plugin."""


class _Everything(Table):
    """The tables of a plugin, whatever they are."""

    async def of(self, names: list[str]) -> Content:
        """Return the rows of the tables with these names."""

        def read(connection: Connection) -> Content:
            queries = {name: f"SELECT * FROM {name}" for name in names}  # noqa: S608 - its migrations have these names
            return {name: sorted(connection.execute(query).fetchall(), key=repr) for name, query in queries.items()}

        return await self.read(read)


class TableTests:
    """Tests of the promises about the tables of a plugin.

    They run on SQLite. A subclass that also has the fixture `database` runs them on the PostgreSQL database of that
    address, which has to be empty, or on SQLite where it is None.
    """

    plugin: ClassVar[type[Plugin]]
    """The plugin with the tables."""

    @abstractmethod
    async def use(self, bot: Bot) -> None:
        """Let the user `bob` use the plugin in his direct chat, so that each of its tables has a row."""

    @pytest.fixture
    def database(self) -> str | None:
        """The address of the database, or None for SQLite's file."""
        return None

    @pytest.fixture
    async def bot(self, start_bot: StartBot, database: str | None) -> Bot:
        """A bot with the plugin, which was used."""
        bot = await start_bot(plugins=(self.plugin,), database=database)
        await self.use(bot)
        return bot

    async def content(self, bot: Bot) -> Content:
        """Return all rows of the plugin."""
        plugin = next(each for each in bot.made.plugins if isinstance(each, self.plugin))
        names = sorted(PluginTables(plugin.name, plugin.migrations, adopts=True).made)
        return await plugin.core.store.table(_Everything).of(names)

    async def test_use_fills_each_table(self, bot: Bot) -> None:
        content = await self.content(bot)

        empty = [name for name, rows in content.items() if not rows]
        assert not empty, f"`use` leaves these tables empty: {', '.join(empty)}"

    async def test_rows_stay_over_a_restart(self, bot: Bot) -> None:
        before = await self.content(bot)

        await bot.restart()

        assert await self.content(bot) == before

    async def test_rows_stay_while_the_plugin_is_switched_off(self, bot: Bot) -> None:
        before = await self.content(bot)

        await bot.restart(plugins=())
        await bot.restart(plugins=(self.plugin,))

        assert await self.content(bot) == before

    async def test_nothing_of_a_person_is_left_once_they_are_forgotten(self, bot: Bot) -> None:
        if self.plugin.erased is Plugin.erased:
            pytest.skip("the plugin does not erase: /forget says that its rows stay")

        await bot.hears("/forget me", sender="bob")
        await bot.channel.presses("Erase for good", sender="bob")
        await bot.app.settled()

        content = await self.content(bot)
        left = [row for rows in content.values() for row in rows if any("bob" in str(value) for value in row)]
        assert not left, f"these rows tell of bob: {left}"
