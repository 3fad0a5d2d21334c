"""A store from before reactions were a plugin keeps what it knows of them."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from channels.base import ChatKey, MessageReceived
from gateway.app.plugins import tables_of
from gateway.plugins.reactions.plugin import ReactionsPlugin
from gateway.plugins.reactions.table import LeftReaction, Reactions
from gateway.store.chat_settings import EVERYWHERE
from gateway.store.opening import FILE, migrations
from gateway.store.server import PostgresServer
from gateway.store.store import Extras, Store
from tests.agent_core.kit import numbered
from tests.clock import FakeClock
from tests.gateway.conftest import StartBot
from tests.plugins.reactions.reacting import Reacting
from tests.plugins.reactions.test_setting_of_reactions import is_on
from tests.postgres import UrlOf, execute

LAST = 51
"""The number of migrations that such a store has."""
CHAT = ChatKey(platform="telegram", account="42", chat="7")
LEFT = "INSERT INTO reactions (seq, chat, message_id, at) VALUES (3, 'telegram:42:7', 'm3', 5.0)"
EXTRAS = Extras(plugins=tables_of([ReactionsPlugin]))


@pytest.mark.parametrize("kind", ["SQLite", "PostgreSQL"])
async def test_those_that_are_left_are_known_after_an_upgrade(tmp_path: Path, bare_url_of: UrlOf, kind: str) -> None:
    database = bare_url_of(tmp_path) if kind == "PostgreSQL" else None
    if database is None:
        with closing(sqlite3.connect(tmp_path / FILE)) as file:
            steps = "\n".join(each.read_text() for each in migrations()[:LAST])
            file.executescript(f"{steps}\nPRAGMA user_version = {LAST};")
    else:
        await PostgresServer(database).migrate()
    execute(tmp_path, database, LEFT)

    for _ in range(2):
        async with Store.open(tmp_path, FakeClock(), numbered(), url=database, extras=EXTRAS) as store:
            rows = store.table(Reactions)
            assert await rows.left() == await rows.left(CHAT) == [LeftReaction(3, CHAT, "m3")]
    applied = "SELECT count(*) FROM plugin_migrations WHERE plugin = 'reactions'"
    assert execute(tmp_path, database, applied) == [(len(ReactionsPlugin.migrations),)]


async def test_one_of_a_message_that_is_done_is_removed_at_the_next_start(start_bot: StartBot) -> None:
    platform = Reacting()
    bot = await start_bot("Oslo.", channel=platform)
    await bot.hears("a trip to Oslo")
    platform.on("a trip to Oslo").add("👀")
    message = platform.heard[0]
    assert isinstance(message, MessageReceived)
    plugin = next(each for each in bot.made.plugins if isinstance(each, ReactionsPlugin))
    await plugin.core.store.table(Reactions).add(LeftReaction(1, message.chat, message.message_id))

    await bot.restart()

    await platform.until(lambda: platform.on("a trip to Oslo") == set())
    await platform.until(lambda: execute(bot.home, None, "SELECT * FROM reactions") == [])


async def test_that_they_were_switched_on_in_a_chat_counts_after_an_upgrade(start_bot: StartBot) -> None:
    bot = await start_bot()
    await bot.made.base.store.chat_settings.set(EVERYWHERE, "config.reactions", "on", "memory:ann")

    await bot.restart()

    assert is_on(bot)
