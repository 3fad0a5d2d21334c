"""A message writes few bytes to the disk, and a store of an earlier version keeps its pages and its posts."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from gateway.store.file_connection import PAGE, connect
from gateway.store.opening import FILE, migrate, migrations
from tests.clock import OffsetClock
from tests.gateway.conftest import StartBot
from tests.gateway.test_retention import DAY, rows, talked
from tests.gateway.test_store import opened

FEWER = 59
"""The number of the migration that left out indexes and stored posts in the order in which they were queued."""
MESSAGES = 10
MOST = 130_000
"""Bytes in the write-ahead log for a message and its short answer: some fifty pages with a head of 24 bytes each."""
POSTS = """
INSERT INTO outbox (
  key, run, chat, body, state, message_id, attempts, reason, at, said_at, unknown, unconfirmed, origin
) VALUES
  ('b:answer:0', 'b', 'memory:here:ann', '{"markdown": "second"}', 'pending', NULL, 0, NULL, 2.0, NULL, 1, 0, NULL),
  ('a:answer:0', 'a', 'memory:here:ann', '{"markdown": "third"}', 'failed', NULL, 2, 'gone', 3.0, NULL, 0, 1, NULL),
  ('c:answer:0', 'c', 'memory:here:ann', '{"markdown": "first"}', 'sent', 'm1', 1, NULL, 1.0, 1.5, 0, 0, 'data')
"""


@contextmanager
def earlier_store(home: Path) -> Iterator[sqlite3.Connection]:
    """Make a file as the version before this migration made it."""
    with closing(connect(home / FILE)) as connection:
        connection.execute("PRAGMA page_size = 4096")
        for number, step in enumerate(migrations()[: FEWER - 1], start=1):
            connection.executescript(f"{step.read_text()}\nPRAGMA user_version = {number};")
        yield connection


async def test_a_text_message_writes_few_bytes(start_bot: StartBot) -> None:
    bot = await start_bot(*["Hello!"] * (MESSAGES + 1))
    await bot.hears("hi")
    log = bot.home / f"{FILE}-wal"
    before = log.stat().st_size

    for _ in range(MESSAGES):
        await bot.hears("hi")

    assert 0 < (log.stat().st_size - before) / MESSAGES < MOST


def test_posts_of_an_earlier_store_are_kept_as_they_are(tmp_path: Path) -> None:
    with earlier_store(tmp_path) as connection:
        connection.execute(POSTS)
        query = "SELECT * FROM outbox ORDER BY at"
        before = connection.execute(query).fetchall()

        migrate(connection, tmp_path / FILE)

        assert connection.execute(query).fetchall() == before
        assert [key for (key,) in connection.execute("SELECT key FROM outbox ORDER BY rowid")] == [
            "c:answer:0",
            "b:answer:0",
            "a:answer:0",
        ]
        with pytest.raises(sqlite3.IntegrityError):
            connection.execute("INSERT INTO outbox (key, run, chat, body, at) VALUES ('a:answer:0', 'a', 'c', '{}', 4)")


async def test_an_earlier_store_keeps_its_pages(tmp_path: Path) -> None:
    with earlier_store(tmp_path):
        pass

    async with opened(tmp_path):
        pass

    assert rows(tmp_path, "PRAGMA page_size") == [(4096,)]


async def test_a_new_store_has_small_pages(tmp_path: Path) -> None:
    async with opened(tmp_path):
        pass

    assert rows(tmp_path, "PRAGMA page_size") == [(PAGE,)]
    assert rows(tmp_path, "PRAGMA auto_vacuum") == [(2,)]


async def test_a_run_that_one_night_passes_over_is_shortened_in_a_later_one(start_bot: StartBot) -> None:
    clock = OffsetClock()
    bot = await talked(start_bot, clock)
    clock.ahead += 31 * DAY
    await bot.made.serving.upkeep.look()
    assert rows(bot.home, "SELECT count(*) FROM runs WHERE shortened") == [(1,)]

    await bot.hears("/new")
    clock.ahead += DAY
    await bot.made.serving.upkeep.look()

    assert rows(bot.home, "SELECT count(*) FROM runs WHERE shortened") == [(2,)]


def test_this_migration_is_of_pages() -> None:
    assert migrations()[FEWER - 1].name == f"{FEWER:04}_fewer_pages.sql"
