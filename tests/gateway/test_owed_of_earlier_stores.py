"""What a store of an earlier version has left to do after answers is kept by this one."""

from pathlib import Path

import pytest

from gateway.store import postgres_opening
from gateway.store.opening import migrations
from tests.postgres import UrlOf, rows

OWED = 53
"""The number of the migration that made the table."""


async def test_on_postgres_an_answer_that_was_to_be_spoken_is_still_owed(
    tmp_path: Path, bare_url_of: UrlOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, known = bare_url_of(tmp_path), postgres_opening.migrations()
    with monkeypatch.context() as before:
        before.setattr(
            postgres_opening,
            "migrations",
            lambda: [each for each in known if postgres_opening.number_of(each) < OWED],
        )
        await postgres_opening.migrated(url)
    rows(url, "INSERT INTO spoken_answers VALUES ('run-1', 'memory:here:ann')")

    await postgres_opening.migrated(url)

    assert rows(url, "SELECT kind, key, chat, data, run, due, attempts FROM owed") == [
        ("speech", "run-1", "memory:here:ann", "{}", "run-1", 0.0, 0)
    ]


def test_the_table_came_with_this_migration() -> None:
    assert migrations()[OWED - 1].name == f"{OWED:04}_owed.sql"
