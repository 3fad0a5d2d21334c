"""New stores as copies of one that was migrated, which takes a twentieth of the time of all migrations."""

import sqlite3
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock

from gateway.store import opening
from gateway.store.opening import FILE, migrate, schema_of
from gateway.store.plugin_tables import PluginTables

ITS_OWN = "UPDATE store SET id = lower(hex(randomblob(16))), born = strftime('%s', 'now')"
_in_turn = Lock()


def use_ready_stores() -> None:
    """Fill the file of a new store from `ready` before it is opened; others are migrated as always."""
    opening.migrate = _from_copy


@cache
def ready() -> sqlite3.Connection:
    """Return a migrated, empty database in memory."""
    made = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    with TemporaryDirectory() as folder:
        path = Path(folder) / FILE
        with_file = sqlite3.connect(path, isolation_level=None)
        migrate(with_file, path)
        with_file.backup(made)
        with_file.close()
    return made


def _from_copy(connection: sqlite3.Connection, path: Path, plugins: Sequence[PluginTables] = ()) -> None:
    if schema_of(connection) == 0 and connection.execute("SELECT 1 FROM sqlite_master").fetchone() is None:
        with _in_turn:
            ready().backup(connection)
        connection.execute(ITS_OWN)
    migrate(connection, path, plugins)
