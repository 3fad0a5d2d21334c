"""/forget reaches the rows of plugins, and says which it does not reach; nothing is erased if a plugin fails."""

from collections.abc import Sequence
from typing import ClassVar

import pytest
from structlog.testing import capture_logs

from gateway.plugin import Plugin
from gateway.store.connection import Connection
from gateway.store.erasures import Forgotten
from gateway.upkeep.backup import Wanted, make
from gateway.upkeep.restore import restore
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot
from tests.gateway.test_forget import erases
from tests.plugins.poll import Poll
from tests.plugins.test_presses import errors
from tests.postgres import execute

POLLS = "SELECT chat, question FROM poll_polls ORDER BY question"
VOTES = "SELECT person FROM poll_votes ORDER BY person"
SAID = "SELECT payload FROM inbox"
STAY = "Rows of these plugins stay for now, as they do not erase any or are switched off or gone"


class Kept(Poll):
    """A poll that erases what it holds of somebody."""

    def erased(self, forgotten: Forgotten, connection: Connection) -> None:
        for chat in forgotten.direct:
            connection.execute("DELETE FROM poll_polls WHERE chat = ?", (str(chat),))
        connection.execute("DELETE FROM poll_votes WHERE person = ?", (forgotten.account.id,))
        told.append(forgotten)


told: list[Forgotten] = []


class Stuck(Kept):
    """Fails after it has erased."""

    is_stuck: ClassVar[bool] = True

    def erased(self, forgotten: Forgotten, connection: Connection) -> None:
        super().erased(forgotten, connection)
        if self.is_stuck:
            raise LookupError("the rows are stuck")


async def voted(start_bot: StartBot, plugin: type[Plugin], database: str | None = None) -> Bot:
    """Bob has asked in his direct chat and voted there and in a group."""
    told.clear()
    bot = await start_bot(plugins=(plugin,), database=database)
    await bot.hears("/poll zebrafinch?", sender="bob")
    await bot.channel.presses("Tea", sender="bob")
    await bot.hears("/poll lunch?", group="team")
    for person in ("ann", "bob"):
        await bot.channel.presses("Tea", sender=person)
    await bot.app.settled()
    return bot


async def test_it_erases_rows_of_plugins_with_its_own(start_bot: StartBot, database: str | None) -> None:
    bot = await voted(start_bot, Kept, database)

    answer = await erases(bot)

    assert "poll" not in answer  # a database may have had tables of others
    assert [question for _, question in execute(bot.home, database, POLLS)] == ["lunch?"]
    assert execute(bot.home, database, VOTES) == [("ann",)]
    [forgotten] = told
    assert forgotten.principal == "memory:bob"
    assert forgotten.direct == (bot.channel.chat("bob"),)
    assert forgotten.groups == (bot.channel.chat("bob", group="team"),)


async def test_nothing_is_erased_if_a_plugin_fails_and_the_next_start_tries_again(
    start_bot: StartBot, database: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    bot = await voted(start_bot, Stuck, database)

    with capture_logs() as logs:
        answer = await erases(bot)

    assert "Not erased: the plugin poll failed to erase its rows" in answer
    assert any(name == "poll" for _, name in errors(logs))
    assert len(execute(bot.home, database, VOTES)) == 3
    assert "zebrafinch" in str(execute(bot.home, database, SAID))

    await bot.restart()
    assert "zebrafinch" in str(execute(bot.home, database, SAID))
    monkeypatch.setattr(Stuck, "is_stuck", False)
    await bot.restart()

    assert "zebrafinch" not in str(execute(bot.home, database, SAID))
    assert execute(bot.home, database, VOTES) == [("ann",)]


@pytest.mark.parametrize("plugins", [(Poll,), ()], ids=["does not say how", "is gone"])
async def test_it_names_plugins_whose_rows_stay(start_bot: StartBot, plugins: Sequence[type[Plugin]]) -> None:
    bot = await voted(start_bot, Poll)
    await bot.stop()
    bot = await start_bot(plugins=plugins, channel=bot.channel)

    await bot.hears("/forget me", sender="bob")
    assert f"{STAY}: poll." in bot.screen[-1]
    await bot.channel.presses("Erase for good", sender="bob")
    await bot.app.settled()

    assert "Erased. Messages:" in bot.screen[-1]
    assert f"{STAY}: poll." in bot.screen[-1]
    assert "zebrafinch" in str(execute(bot.home, None, POLLS))


@pytest.mark.parametrize("plugins", [(Poll,), ()], ids=["did not say how", "was gone"])
async def test_what_a_plugin_has_missed_is_erased_when_it_is_back(
    start_bot: StartBot, database: str | None, plugins: Sequence[type[Plugin]]
) -> None:
    bot = await voted(start_bot, Kept, database)
    await bot.restart(plugins=plugins)
    await erases(bot)
    assert "zebrafinch" in str(execute(bot.home, database, POLLS))

    await bot.restart(plugins=(Kept,))

    assert [question for _, question in execute(bot.home, database, POLLS)] == ["lunch?"]
    assert execute(bot.home, database, VOTES) == [("ann",)]
    [forgotten] = told
    assert forgotten.direct == (bot.channel.chat("bob"),)
    assert forgotten.groups == (bot.channel.chat("bob", group="team"),)
    await bot.restart()
    assert len(told) == 1


async def test_what_a_plugin_cannot_erase_when_it_is_back_is_tried_again_at_the_next_start(
    start_bot: StartBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    bot = await voted(start_bot, Stuck)
    await bot.restart(plugins=())
    await erases(bot)

    await bot.restart(plugins=(Stuck,))
    assert len(execute(bot.home, None, VOTES)) == 3
    monkeypatch.setattr(Stuck, "is_stuck", False)
    await bot.restart()

    assert execute(bot.home, None, VOTES) == [("ann",)]


async def test_of_ours_none_is_named(start_bot: StartBot) -> None:
    bot = await start_bot("Hello.")
    await bot.hears("hi", sender="bob")

    await bot.hears("/forget me", sender="bob")

    assert STAY not in bot.screen[-1]


async def test_a_restored_backup_is_erased_from_again(start_bot: StartBot) -> None:
    bot = await voted(start_bot, Kept)
    backup = bot.home / "backups" / "parley-2026-11-22.zip"
    backup.parent.mkdir()
    make(bot.home, backup, "0", Wanted(files=True), lambda _: False)
    await erases(bot)
    await bot.stop()
    restore(bot.home, backup, bot.clock.time())
    assert len(execute(bot.home, None, VOTES)) == 3

    await bot.restart()

    assert execute(bot.home, None, VOTES) == [("ann",)]
