"""Rewrites PostgreSQL tables whose files still hold erased rows.

VACUUM frees the space of a deleted row, but its bytes stay in the file until a new row overwrites them. VACUUM FULL
writes a new file without them, and locks the table meanwhile.
"""

import sqlite3

import structlog

from gateway.store.connection import Connection

VACUUM_WITHIN = "20s"
"""Timeout for one table, which limits how long a shutdown may have to wait."""
LOCK_WITHIN = "300ms"
"""Timeout for the lock of a table; later statements queue behind it."""
REWRITE_WITHIN = "3s"
"""Timeout for the rewriting of a table, while messages wait; enough for about 400 MB."""
_NOTE = (
    "INSERT INTO rewrites (name, file, erased)"
    " SELECT relname, pg_relation_filenode(relid), pg_current_xact_id()::text FROM pg_stat_xact_user_tables"
    " WHERE schemaname = current_schema() AND n_tup_upd + n_tup_del > 0"
    " ON CONFLICT (name) DO UPDATE SET file = excluded.file, erased = excluded.erased"
)
"""Records the tables in which the open transaction has deleted or updated rows."""
_DUE = (
    "SELECT name FROM rewrites JOIN pg_class ON pg_class.oid = to_regclass(quote_ident(name))"
    " WHERE pg_relation_filenode(pg_class.oid) = file ORDER BY relpages"
)
"""Selects the tables whose file is still the recorded one."""
_COPIED = (
    "UPDATE rewrites SET file = pg_relation_filenode(pg_class.oid) FROM pg_class"
    " WHERE name = ? AND pg_class.oid = to_regclass(quote_ident(name)) AND age(relfrozenxid) >= age(erased::xid8::xid)"
)
"""Records the new file of a table if the rewriting copied erased rows, because a transaction could still see them.

VACUUM FULL sets `relfrozenxid` to the oldest visible transaction. A plain VACUUM changes it too, so this statement has
to follow at once.
"""

log = structlog.get_logger(__name__)


def note(connection: Connection) -> None:
    """Record, in the transaction that erases rows, which tables have to be rewritten. SQLite needs no record."""
    if not isinstance(connection, sqlite3.Connection):
        connection.execute(_NOTE)


def due(connection: Connection) -> list[str]:
    """Return the tables that have to be rewritten, smallest first."""
    return [name for (name,) in connection.execute(_DUE).fetchall()]


def vacuum(connection: Connection) -> None:
    """Free the space of erased rows while others read and write. A table that takes too long is left to autovacuum."""
    for name in due(connection):
        _try(connection, f'VACUUM (SKIP_LOCKED) "{name}"', VACUUM_WITHIN)


def rewrite(connection: Connection) -> list[str]:
    """Rewrite the tables that can be locked and rewritten in time. Returns the remaining ones."""
    connection.execute(f"SET lock_timeout = '{LOCK_WITHIN}'")
    for name in due(connection):
        _try(connection, f'VACUUM (FULL) "{name}"', REWRITE_WITHIN)
        connection.execute(_COPIED, (name,))
    return due(connection)


def _try(connection: Connection, statement: str, within: str) -> None:
    connection.execute(f"SET statement_timeout = '{within}'")
    try:
        connection.execute(statement)
    except sqlite3.OperationalError as error:
        log.info("erased rows stay in the file for now", statement=statement, reason=str(error))
    connection.execute("RESET statement_timeout")
