"""The suite of `parley.testing.tables` passes on plugins that keep their promises, and finds those that do not."""

import pytest

from gateway.plugin import Plugin
from gateway.store.connection import Connection
from gateway.store.erasures import Forgotten
from parley.testing import Bot, StartBot
from parley.testing.tables import TableTests
from tests.plugins.both_databases import OnBoth
from tests.plugins.poll import Poll
from tests.plugins.test_erased import Kept


async def votes(bot: Bot) -> None:
    await bot.hears("/poll lunch?", sender="bob")
    await bot.channel.presses("Tea", sender="bob")
    await bot.app.settled()


class TestPoll(OnBoth):
    plugin = Kept

    async def use(self, bot: Bot) -> None:
        await votes(bot)


class Forgetful(Poll):
    """Says that it erases, and leaves the votes."""

    def erased(self, forgotten: Forgotten, connection: Connection) -> None:
        for chat in forgotten.direct:
            connection.execute("DELETE FROM poll_polls WHERE chat = ?", (str(chat),))


class Wasteful(Poll):
    """Has a table that nobody fills."""

    migrations = (*Poll.migrations, "CREATE TABLE poll_more (id INTEGER PRIMARY KEY);")


async def used(start_bot: StartBot, plugin: type[Plugin]) -> tuple[Bot, TableTests]:
    class Suite(TableTests):
        async def use(self, bot: Bot) -> None:
            await votes(bot)

    Suite.plugin = plugin
    suite, bot = Suite(), await start_bot(plugins=(plugin,))
    await suite.use(bot)
    return bot, suite


async def test_rows_that_are_left_of_a_person_are_found(start_bot: StartBot) -> None:
    bot, suite = await used(start_bot, Forgetful)

    with pytest.raises(AssertionError, match="bob"):
        await suite.test_nothing_of_a_person_is_left_once_they_are_forgotten(bot)


async def test_a_table_without_rows_is_found(start_bot: StartBot) -> None:
    bot, suite = await used(start_bot, Wasteful)

    with pytest.raises(AssertionError, match="poll_more"):
        await suite.test_use_fills_each_table(bot)
