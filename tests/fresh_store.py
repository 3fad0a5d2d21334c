"""The schema with which a new store begins: `python -m tests.fresh_store > gateway/store/fresh.sql`.

It is what all migrations make of an empty file, whose changes of tables take longer than all else at a first start.
"""

import sqlite3
import sys
import tempfile
from contextlib import closing
from pathlib import Path

from gateway.store.file_connection import connect
from gateway.store.opening import migrations

HEAD = "-- Made from the migrations by `python -m tests.fresh_store`: change those, and make it anew.\n"
ROWS = (
    "INSERT INTO store (born, id) VALUES (strftime('%s', 'now'), lower(hex(randomblob(16))));\n"
    "INSERT INTO search_progress (before) VALUES (1);\n"
)
"""The rows that migrations add to an empty store."""


def migrated(file: Path) -> sqlite3.Connection:
    """Return a connection to a new store that went through all migrations."""
    connection = connect(file)
    connection.executescript("\n".join(each.read_text() for each in migrations()))
    return connection


def schema_in(connection: sqlite3.Connection) -> list[str]:
    """Return the statements that make the tables and indexes of a store, without those that others make."""
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL%'")}
    found = connection.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid")
    return [sql for name, sql in found if name in tables or name.rpartition("_")[0] not in tables]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, closing(migrated(Path(folder) / "store")) as connection:
        sys.stdout.write("".join([HEAD, *(f"{each};\n" for each in schema_in(connection)), ROWS]))


if __name__ == "__main__":
    main()
