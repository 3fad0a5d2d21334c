"""What a store of an earlier version has left to do after answers is kept by this one."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from gateway.store import postgres_opening
from gateway.store.opening import FILE, migrate, migrations
from tests.postgres import UrlOf, rows

OWED = 53
"""The number of the migration that made the table."""
DIGESTS = 54
"""That of the one that owes the outcome of messages that were held during quiet hours."""


async def made_before(number: int, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the tables of the version before a migration."""
    known = postgres_opening.migrations()
    with monkeypatch.context() as before:
        before.setattr(
            postgres_opening,
            "migrations",
            lambda: [each for each in known if postgres_opening.number_of(each) < number],
        )
        await postgres_opening.migrated(url)


async def test_on_postgres_an_answer_that_was_to_be_spoken_is_still_owed(
    tmp_path: Path, bare_url_of: UrlOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = bare_url_of(tmp_path)
    await made_before(OWED, url, monkeypatch)
    rows(url, "INSERT INTO spoken_answers VALUES ('run-1', 'memory:here:ann')")

    await postgres_opening.migrated(url)

    assert rows(url, "SELECT kind, key, chat, data, run, due, attempts FROM owed") == [
        ("speech", "run-1", "memory:here:ann", "{}", "run-1", 0.0, 0)
    ]


FIRINGS = """
INSERT INTO firings (job, slot, id, chat, due, state, delivery) VALUES
  ('daily', '2026-11-24T01:00:00Z', 'alone', 'memory:here:bob', 5, 'done', 'pending'),
  ('daily', '2026-11-24T02:00:00Z', 'first', 'memory:here:ann', 5, 'done', 'pending'),
  ('other', '2026-11-24T02:30:00Z', 'own', 'memory:here:ann', 6, 'done', 'pending'),
  ('other', '2026-11-24T03:00:00Z', 'second', 'memory:here:ann', 7, 'done', 'pending'),
  ('daily', '2026-11-24T04:00:00Z', 'third', 'memory:here:ann', 8, 'done', 'pending'),
  ('other', '2026-11-24T05:00:00Z', 'sent', 'memory:here:ann', 9, 'done', 'sent'),
  ('daily', '2026-11-24T06:00:00Z', 'held', 'memory:here:ann', 9, 'done', 'held')
"""
POSTS = """
INSERT INTO outbox (key, run, chat, body, state, at) VALUES
  ('digest-alone:proactive:0', 'digest-alone', 'memory:here:bob', '{}', 'pending', 9),
  ('digest-first:proactive:0', 'digest-first', 'memory:here:ann', '{}', 'sent', 9),
  ('digest-third:proactive:0', 'digest-third', 'memory:here:ann', '{}', 'failed', 9),
  ('job-other-20261124T023000Z:proactive:0', 'job-other-20261124T023000Z', 'memory:here:ann', '{}', 'pending', 9)
"""
"""Messages of several firings, or of one, and one of a firing that was not held."""
OWED_FOR = "SELECT kind, key, chat, data, run, due, attempts FROM owed ORDER BY at, key"
STILL_OWED = [
    ("digest", "alone", "memory:here:bob", "{}", "digest-alone", 0.0, 0),
    ("digest", "first", "memory:here:ann", "{}", "digest-first", 0.0, 0),
    ("digest", "second", "memory:here:ann", "{}", "digest-first", 0.0, 0),
    ("digest", "third", "memory:here:ann", "{}", "digest-third", 0.0, 0),
]


async def test_on_postgres_the_outcome_of_messages_that_were_held_is_owed(
    tmp_path: Path, bare_url_of: UrlOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = bare_url_of(tmp_path)
    await made_before(DIGESTS, url, monkeypatch)
    rows(url, FIRINGS)
    rows(url, POSTS)

    await postgres_opening.migrated(url)

    assert rows(url, OWED_FOR) == STILL_OWED


def test_the_outcome_of_messages_that_were_held_is_owed(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / FILE)) as connection:
        for number, step in enumerate(migrations()[: DIGESTS - 1], start=1):
            connection.executescript(f"{step.read_text()}\nPRAGMA user_version = {number};")
        connection.executescript(f"{FIRINGS};{POSTS};")

        migrate(connection, tmp_path / FILE)

        assert connection.execute(OWED_FOR).fetchall() == STILL_OWED


def test_these_migrations_are_of_what_is_owed() -> None:
    assert migrations()[OWED - 1].name == f"{OWED:04}_owed.sql"
    assert migrations()[DIGESTS - 1].name == f"{DIGESTS:04}_owed_digests.sql"
