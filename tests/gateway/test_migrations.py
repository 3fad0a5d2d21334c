"""Stores of earlier versions are brought up to date without losing what they hold."""

import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

from gateway.store.opening import FILE, migrate, migrations, schema_of
from tests.process import REPOSITORY

LEDGER = 31
DIES = """
import os, signal, sqlite3, sys
from pathlib import Path
from gateway.store.opening import migrate

connection = sqlite3.connect(sys.argv[1], isolation_level=None)

def follow(statement):
    if "CREATE TABLE rewrites" in statement:
        os.kill(os.getpid(), signal.SIGKILL)

connection.set_trace_callback(follow)
migrate(connection, Path(sys.argv[1]))
"""
"""A program that is killed during one of the last migrations."""


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


def test_all_that_is_missing_is_made_in_one_transaction(tmp_path: Path) -> None:
    said: list[str] = []
    with closing(sqlite3.connect(tmp_path / FILE, isolation_level=None)) as connection:
        connection.executescript(f"{migrations()[0].read_text()}\nPRAGMA user_version = 1;")
        connection.set_trace_callback(said.append)
        migrate(connection, tmp_path / FILE)
        connection.set_trace_callback(None)

        assert sum(each.strip(" \n;") == "COMMIT" for each in said) == 1
        assert schema_of(connection) == len(migrations())


def test_an_upgrade_that_is_interrupted_changes_nothing_and_the_next_start_makes_it(tmp_path: Path) -> None:
    path = tmp_path / FILE
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.executescript("\n".join(each.read_text() for each in migrations()[:LEDGER]))
        connection.execute(f"PRAGMA user_version = {LEDGER}")
        connection.execute("PRAGMA journal_mode = WAL")
        before = connection.execute("SELECT name, sql FROM sqlite_master").fetchall()

    killed = subprocess.run([sys.executable, "-P", "-c", DIES, path], cwd=REPOSITORY, check=False)  # noqa: S603

    assert killed.returncode == -signal.SIGKILL
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        assert schema_of(connection) == LEDGER
        assert connection.execute("SELECT name, sql FROM sqlite_master").fetchall() == before
        migrate(connection, path)
        assert schema_of(connection) == len(migrations())
