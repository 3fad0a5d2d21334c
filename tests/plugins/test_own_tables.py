"""The SQL of a plugin touches the tables of the plugin only, on both databases."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import ClassVar

import pytest

from channels.base import OutboundMessage
from gateway.chat.replies import Answer, Settling
from gateway.commands.command import Command, Invocation, reply
from gateway.permissions.rights import LOOK, always
from gateway.plugin import Plugin
from gateway.store.connection import Connection
from gateway.store.erasures import Forgotten
from gateway.store.owed import Owed
from gateway.store.own_tables import NotItsTable, OwnTables
from gateway.store.plugin_tables import PluginTables, PluginTablesRefused
from gateway.store.rows import Run, RunEnd
from gateway.store.table import Table
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot
from tests.gateway.test_forget import erases
from tests.plugins.test_owed import last_failure
from tests.postgres import execute

NOTES = "CREATE TABLE notes_lines (id INTEGER PRIMARY KEY, text TEXT NOT NULL);"
OTHERS = "SELECT count(*) FROM runs"

FINE = [
    "SELECT text FROM notes_lines WHERE id = ?",
    "SELECT text FROM notes_lines WHERE id = :id ORDER BY text",
    "INSERT INTO notes_lines (text) VALUES (?) ON CONFLICT (id) DO UPDATE SET text = excluded.text",
    "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3) SELECT i FROM n",
    "SELECT json_extract(text, '$.a') FROM notes_lines",
    "SELECT count(*) FROM notes_lines WHERE text LIKE ? ESCAPE '\\'",
    "DELETE FROM notes_lines WHERE text = 'it''s -- all'",
    "UPDATE notes_lines SET text = upper(text) RETURNING id",
]
REFUSED = [
    OTHERS,
    "DELETE FROM outbox",
    "UPDATE notes_lines SET text = (SELECT text FROM transcript LIMIT 1)",
    "INSERT INTO notes_lines (text) SELECT id FROM runs",
    "SELECT 1 FROM notes_lines JOIN runs ON true",
    "SELECT * FROM notes_lines UNION SELECT id, id FROM runs",
    "SELECT name FROM sqlite_master",
    "SELECT name FROM main.sqlite_schema",
    "SELECT * FROM pragma_table_list",
    "SELECT relname FROM pg_class",
    "SELECT * FROM public.runs",
    "PRAGMA table_list",
    "ATTACH 'parley.db' AS other",
    "CREATE TABLE notes_more (id INTEGER)",
    "DROP TABLE notes_lines",
    "COMMIT",
    "SELECT load_extension('x')",
    "SELECT pg_sleep(1)",
    "SELECT 1; DELETE FROM outbox",
    "SELECT 1 FROM notes_lines -- \r , (SELECT 1 FROM runs)",
    "SELECT id FROM notes_lines WHERE text = E'\\'' OR EXISTS (SELECT 1 FROM runs) OR text = ''",
    "SELECT $$ ' $$, (SELECT 1 FROM runs), ' '",
    "SELECT 1 /* /* */ FROM runs */",
    "SELECT `id` FROM notes_lines",
    "no SQL",
]


@pytest.mark.parametrize("sql", FINE)
def test_a_statement_about_its_own_tables_is_taken(sql: str) -> None:
    OwnTables(PluginTables("notes", (NOTES,))).check(sql)


@pytest.mark.parametrize("sql", REFUSED)
def test_a_statement_about_more_is_refused(sql: str) -> None:
    with pytest.raises(NotItsTable, match="the plugin notes may touch its own tables only"):
        OwnTables(PluginTables("notes", (NOTES,))).check(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "CREATE TABLE notes_of (run TEXT REFERENCES runs (id));",
        "CREATE TABLE notes_of (run TEXT); INSERT INTO notes_of SELECT id FROM runs;",
        "CREATE TABLE notes_of AS SELECT id FROM runs;",
        "CREATE TABLE IF NOT EXISTS notes_of (run TEXT);",
    ],
)
def test_a_migration_that_reads_or_binds_others_is_refused(sql: str) -> None:
    with pytest.raises(PluginTablesRefused):
        PluginTables("notes", (sql,)).on_trial()


class Lines(Table):
    """A table of a plugin that asks for more than its own rows."""

    async def count(self, sql: str) -> int:
        def read(connection: Connection) -> int:
            (count,) = connection.execute(sql).fetchone()
            return int(count)

        return await self.read(read)

    async def clear(self, sql: str) -> None:
        await self.write(lambda connection: connection.execute(sql).rowcount)


SQL = {
    "own": ("SELECT count(*) FROM notes_lines", "DELETE FROM notes_lines"),
    "other": ("SELECT count(*) FROM outbox", "DELETE FROM outbox"),
}


class Notes(Plugin):
    """Counts what its argument names."""

    name: ClassVar[str] = "notes"
    migrations: ClassVar[Sequence[str]] = (NOTES,)

    async def count(self, given: Invocation) -> OutboundMessage:
        lines = self.core.store.table(Lines)
        read, write = SQL[given.arguments]
        try:
            await lines.clear(write)
        except NotItsTable:
            with pytest.raises(NotItsTable):
                await lines.count(read)
            return reply("not mine")
        return reply(f"{await lines.count(read)} there")

    def commands(self) -> Sequence[Command]:
        return (Command("count", {"en": "Count", "zh": "计数"}, self.count, rights=always(LOOK)),)


async def test_the_tables_that_a_plugin_is_given_reach_its_own_rows_only(start_bot: StartBot) -> None:
    bot = await start_bot(plugins=[Notes])

    await bot.hears("/count own")
    await bot.hears("/count other")

    assert bot.screen == ["0 there", "not mine"]


class Meddles(Plugin):
    """Changes a table of Parley in whatever it is given a connection for."""

    name: ClassVar[str] = "notes"
    migrations: ClassVar[Sequence[str]] = (NOTES,)

    async def clear(self, given: Invocation) -> Answer:
        return Settling(meddle)

    def commands(self) -> Sequence[Command]:
        return (Command("clear", {"en": "Clear", "zh": "清空"}, self.clear, rights=always(LOOK)),)

    def ended(self, run: Run, how: RunEnd, tx: Connection) -> Iterable[Owed]:
        meddle(tx)
        return ()

    def erased(self, forgotten: Forgotten, connection: Connection) -> None:
        meddle(connection)


def meddle(connection: Connection) -> None:
    connection.execute("DELETE FROM outbox")


async def settle(bot: Bot) -> None:
    await bot.hears("/clear")


async def end(bot: Bot) -> None:
    await bot.hears("hello")


async def erase(bot: Bot) -> None:
    await erases(bot)


@pytest.mark.parametrize(
    ("use", "where"),
    [(settle, "/clear"), (end, "ended"), (erase, "erased")],
    ids=["the change of a Settling", "ended", "erased"],
)
async def test_the_connections_that_a_plugin_is_given_reach_its_own_rows_only(
    start_bot: StartBot, use: Callable[[Bot], Awaitable[None]], where: str
) -> None:
    bot = await start_bot("Hello.", plugins=[Meddles])

    await use(bot)

    failed, reason = last_failure(bot, "notes")
    assert failed == where
    assert reason.startswith("the plugin notes may touch its own tables only")
    assert execute(bot.home, None, "SELECT count(*) FROM outbox") != [(0,)]
