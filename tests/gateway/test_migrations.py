"""Stores of earlier versions are brought up to date without losing what they hold."""

import sqlite3
from contextlib import closing
from pathlib import Path

from gateway.store.opening import FILE, migrate, migrations

LEDGER = 31


def test_migrations_are_numbered_one_after_the_other() -> None:
    numbers = [int(each.name.partition("_")[0]) for each in migrations()]

    assert numbers == list(range(1, len(numbers) + 1))


def test_what_runs_had_used_before_there_was_a_table_of_calls_still_counts(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / FILE)) as connection:
        for number, step in enumerate(migrations()[: LEDGER - 1], start=1):
            connection.executescript(f"{step.read_text()}\nPRAGMA user_version = {number};")
        connection.executemany(
            "INSERT INTO runs (run, chat, session, person, started, model, tokens, cost_usd, kind)"
            " VALUES (?, ?, 's', 'ann', 5.0, ?, ?, ?, ?)",
            [
                ("run-1", "slack:T1:C1:17.0:1", "gpt", 100, 0.25, "chat"),
                ("task-2", "telegram:42:-1001", None, 7, 0.0, "task"),
                ("run-3", "telegram:42:-1001", "gpt", 0, 0.0, "chat"),
                ("run-4", "telegram:42:-1001", "gpt", 900, 1.0, "chat"),
            ],
        )
        connection.execute(
            "INSERT INTO spending VALUES ('c', 5.0, 'run-4', 'telegram:42:-1001', 'telegram:9', '',"
            " 'gpt', 900, 1, 'settled')"
        )
        connection.execute(
            "INSERT INTO firings (job, slot, id, chat, due, state, run)"
            " VALUES ('daily', '1', 'f', 'telegram:42:-1001', 5.0, 'done', 'task-2')"
        )
        connection.commit()

        migrate(connection, tmp_path / FILE)

        query = "SELECT run, at, chat, person, job, model, tokens, cost, state FROM spending ORDER BY run"
        assert list(connection.execute(query)) == [
            ("run-1", 5.0, "slack:T1:C1", "", "", "gpt", 100, 250_000_000, "settled"),
            ("run-4", 5.0, "telegram:42:-1001", "telegram:9", "", "gpt", 900, 1, "settled"),
            ("task-2", 5.0, "telegram:42:-1001", "", "daily", "", 7, 0, "settled"),
        ]
