"""A plugin has tables of its own, written once for both databases, which stay when it is gone."""

import asyncio
import re
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import ClassVar

import pytest

from channels.base import OutboundMessage
from gateway.cluster.node import Node
from gateway.commands.command import Command, Invocation, reply
from gateway.permissions.rights import LOOK, always
from gateway.plugin import Plugin
from gateway.store.connection import Connection
from gateway.store.opening import FILE, migrate
from gateway.store.plugin_tables import PluginTables, PluginTablesRefused, PluginTablesTooNew
from gateway.store.postgres_opening import migrated, opened
from gateway.store.snapshot import settle, take
from gateway.store.table import Table
from gateway.store.writer import Writer, WriterFenced
from tests.gateway.cluster.test_node import FACTS
from tests.gateway.conftest import StartBot
from tests.postgres import UrlOf, execute, rows

NOTES = """
-- Numbered in the order in which they were written; what is said may hold anything.
CREATE TABLE notes_lines (id INTEGER PRIMARY KEY, text TEXT NOT NULL);
"""
PINNED = """
ALTER TABLE notes_lines ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0;
CREATE INDEX notes_pinned ON notes_lines (pinned) WHERE pinned = 1;
UPDATE notes_lines SET pinned = 1 WHERE text = 'first';
"""

HALF = """
ALTER TABLE notes_lines ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0;
INSERT INTO notes_lines (nothing) VALUES (1);
"""


class Lines(Table):
    """The notes."""

    async def add(self, text: str) -> int:
        """Keep a note. Returns how many there are."""

        def change(connection: Connection) -> int:
            connection.execute("INSERT INTO notes_lines (text) VALUES (?)", (text,))
            (count,) = connection.execute("SELECT count(*) FROM notes_lines").fetchone()
            return int(count)

        return await self.write(change)

    async def all(self) -> list[str]:
        def read(connection: Connection) -> list[str]:
            return [text for (text,) in connection.execute("SELECT text FROM notes_lines ORDER BY id")]

        return await self.read(read)


class Notes(Plugin):
    """Keeps what people tell it."""

    name = "notes"
    migrations: ClassVar[Sequence[str]] = (NOTES,)

    async def note(self, given: Invocation) -> OutboundMessage:
        lines = self.core.store.table(Lines)
        count = await lines.add(given.arguments)
        return reply(f"{count}: {', '.join(await lines.all())}")

    def commands(self) -> Sequence[Command]:
        return (Command("note", {"en": "Note", "zh": "记录"}, self.note, rights=always(LOOK), arguments="TEXT"),)


class NewerNotes(Notes):
    """The next version, with a column more."""

    migrations = (NOTES, PINNED)


class BrokenNotes(Notes):
    """A version whose second change cannot be made."""

    migrations = (NOTES, HALF)


async def test_rows_stay_through_an_upgrade_of_the_plugin_and_while_it_is_away(
    start_bot: StartBot, database: str | None
) -> None:
    bot = await start_bot(plugins=(Notes,), database=database)
    await bot.hears("/note first")
    await bot.stop()
    bot = await start_bot("Hello.", plugins=(), database=database)
    await bot.hears("hi")
    await bot.stop()

    bot = await start_bot(plugins=(NewerNotes,), database=database)
    await bot.hears("/note second")

    assert bot.screen[-1] == "2: first, second"
    found = execute(bot.home, database, "SELECT id, text, pinned FROM notes_lines ORDER BY id")
    assert found == [(1, "first", 1), (2, "second", 0)]


async def test_tables_of_a_later_version_of_the_plugin_are_left_alone(
    start_bot: StartBot, database: str | None
) -> None:
    bot = await start_bot(plugins=(NewerNotes,), database=database)
    await bot.stop()

    with pytest.raises(PluginTablesTooNew, match="plugin notes have schema 2, but this version of it knows 1"):
        await start_bot(plugins=(Notes,), database=database)


async def test_a_migration_that_fails_changes_nothing_and_names_the_plugin(
    start_bot: StartBot, database: str | None
) -> None:
    bot = await start_bot(plugins=(Notes,), database=database)
    await bot.hears("/note first")
    await bot.stop()

    with pytest.raises(
        PluginTablesRefused, match=r"The plugin notes cannot make its tables: .*nothing.* \(migration 2\)"
    ):
        await start_bot(plugins=(BrokenNotes,), database=database)

    bot = await start_bot(plugins=(Notes,), database=database)
    await bot.hears("/note second")
    assert bot.screen[-1] == "2: first, second"


@pytest.mark.parametrize(
    ("sql", "why"),
    [
        ("CREATE TABLE lines (id INTEGER);", "the name lines does not begin with notes_"),
        ("CREATE TABLE notesy (id INTEGER);", "the name notesy does not begin with notes_"),
        ("CREATE TABLE notes (id INTEGER); CREATE INDEX by_id ON notes (id);", "the name by_id does not begin"),
        ("-- All of it.\nDELETE FROM transcript;", "the name transcript does not begin with notes_"),
        ("DROP TABLE IF EXISTS notes_of_others;", "it has not made notes_of_others"),
        ("update notes_of_others set text = '';", "it has not made notes_of_others"),
        ("ATTACH 'file.db' AS other;", "\"ATTACH 'file.db' AS other;\" is not a statement that makes or changes"),
        ("PRAGMA user_version = 0;", "'PRAGMA user_version = 0;' is not a statement"),
        ("SELECT 1;", "'SELECT 1;' is not a statement"),
        ("CREATE TABLE notes (id INTEGER)", "no semicolon follows 'CREATE TABLE notes"),
    ],
)
def test_a_migration_concerns_tables_of_the_plugin_only(sql: str, why: str) -> None:
    with pytest.raises(PluginTablesRefused, match=re.escape(why)):
        PluginTables("notes", (sql,))


async def test_nodes_that_start_at_once_make_the_tables_one_after_the_other(tmp_path: Path, url_of: UrlOf) -> None:
    url, tables = url_of(tmp_path), PluginTables("notes", (NOTES, PINNED))

    await asyncio.gather(*(migrated(url, (tables,)) for _ in range(4)))

    assert rows(url, "SELECT plugin, number FROM plugin_migrations WHERE plugin = 'notes' ORDER BY number") == [
        ("notes", 1),
        ("notes", 2),
    ]


async def test_a_node_without_the_plugin_goes_on_when_another_makes_its_first_tables(
    tmp_path: Path, url_of: UrlOf
) -> None:
    url = url_of(tmp_path)
    async with Node.joined(url, FACTS) as node, opened(url, node) as (connection, _):
        writer = Writer(connection, fence=node)

        await migrated(url, (PluginTables("notes", (NOTES, PINNED)),))

        await writer.submit(lambda each: each.execute("INSERT INTO notes_lines (text) VALUES ('first')"))
        await writer.close()
    assert rows(url, "SELECT text, pinned FROM notes_lines") == [("first", 0)]


async def test_a_node_of_an_older_version_writes_nothing_more_once_the_tables_have_changed(
    tmp_path: Path, url_of: UrlOf
) -> None:
    url = url_of(tmp_path)
    await migrated(url, (PluginTables("notes", (NOTES,)),))
    async with Node.joined(url, FACTS) as node, opened(url, node) as (connection, _):
        writer = Writer(connection, fence=node)
        await migrated(url, (PluginTables("notes", (NOTES,)),))
        await writer.submit(lambda each: each.execute("INSERT INTO notes_lines (text) VALUES ('first')"))

        await migrated(url, (PluginTables("notes", (NOTES, PINNED)),))

        with pytest.raises(WriterFenced):
            await writer.submit(lambda each: each.execute("DELETE FROM notes_lines"))
        await writer.close()
    assert rows(url, "SELECT text, pinned FROM notes_lines") == [("first", 1)]


def test_a_backup_that_is_restored_has_the_tables_of_a_plugin(tmp_path: Path) -> None:
    path, copy = tmp_path / FILE, tmp_path / "copy.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        migrate(connection, path, (PluginTables("notes", (NOTES,)),))
        connection.execute("INSERT INTO notes_lines (text) VALUES ('first')")

    take(path, copy)
    settle(copy, now=2.0, taken_at=1.0, next_at=lambda _: None)

    with closing(sqlite3.connect(copy, isolation_level=None)) as connection:
        migrate(connection, copy, (PluginTables("notes", (NOTES, PINNED)),))
        assert connection.execute("SELECT text, pinned FROM notes_lines").fetchall() == [("first", 1)]


def test_a_table_takes_only_values_of_its_types(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / FILE, isolation_level=None)) as connection:
        migrate(connection, tmp_path / FILE, (PluginTables("notes", (NOTES,)),))
        with pytest.raises(sqlite3.IntegrityError, match="cannot store BLOB value in TEXT column"):
            connection.execute("INSERT INTO notes_lines (text) VALUES (x'00')")


def test_the_number_of_a_removed_row_is_never_that_of_another(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / FILE, isolation_level=None)) as connection:
        migrate(connection, tmp_path / FILE, (PluginTables("notes", (NOTES,)),))
        numbers = []
        for _ in range(3):
            numbers += connection.execute("INSERT INTO notes_lines (text) VALUES ('x') RETURNING id").fetchall()
            connection.execute("DELETE FROM notes_lines")

    assert numbers == [(1,), (2,), (3,)]
