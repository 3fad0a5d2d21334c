"""Rows of plugins go with a chat to which its platform gives another id, also while the plugin is off."""

from collections.abc import Sequence
from typing import ClassVar

from channels.base import ChatKey
from channels.moved import chat_moved
from gateway.plugin import Plugin
from tests.gateway.conftest import StartBot
from tests.postgres import execute

OLD = ChatKey(platform="memory", account="here", chat="#team")
NEW = ChatKey(platform="memory", account="here", chat="#crew")
TABLES = """
CREATE TABLE polls (id INTEGER PRIMARY KEY, chat TEXT NOT NULL, message_id TEXT, topic TEXT NOT NULL);
CREATE UNIQUE INDEX polls_topic ON polls (chat, topic);
CREATE TABLE polls_pins (message_id TEXT NOT NULL, chat TEXT NOT NULL, PRIMARY KEY (chat, message_id));
CREATE TABLE polls_people (person TEXT PRIMARY KEY, votes INTEGER NOT NULL);
"""
ROWS = (
    f"INSERT INTO polls VALUES (1, '{OLD}', '7', 'lunch'), (2, '{OLD}', '8', 'tea'), (3, '{NEW}', '1', 'tea')",  # noqa: S608
    f"INSERT INTO polls_pins VALUES ('7', '{OLD}'), ('1', '{NEW}')",  # noqa: S608
    "INSERT INTO polls_people VALUES ('bob', 2)",
)


class Polls(Plugin):
    """Has tables with rows of chats, and others."""

    name = "polls"
    migrations: ClassVar[Sequence[str]] = (TABLES,)


async def test_rows_of_a_plugin_that_is_off_go_with_a_chat_that_gets_another_id(
    start_bot: StartBot, database: str | None
) -> None:
    bot = await start_bot(plugins=(Polls,), database=database)
    await bot.stop()
    bot = await start_bot(plugins=(), database=database)
    for statement in ROWS:
        execute(bot.home, database, f"{statement} RETURNING 1")

    await bot.channel.deliver(chat_moved(OLD, NEW.chat, 0))
    await bot.app.settled()

    polls = execute(bot.home, database, "SELECT id, chat, message_id, topic FROM polls ORDER BY id")
    assert polls == [(1, str(NEW), None, "lunch"), (3, str(NEW), "1", "tea")]
    assert execute(bot.home, database, "SELECT message_id, chat FROM polls_pins") == [("1", str(NEW))]
    assert execute(bot.home, database, "SELECT person, votes FROM polls_people") == [("bob", 2)]
