"""Tables of PostgreSQL whose files still hold erased rows, until they are rewritten.

No query finds a deleted row, and a VACUUM lets new rows take its place, but its bytes stay in the file until one does.
A rewritten file (VACUUM FULL) is free of them, and nobody can use the table meanwhile.
"""

import sqlite3

import structlog

from gateway.store.connection import Connection

VACUUM_WITHIN = "20s"
"""The longest time for one table, so that the end of the process does not wait for more."""
LOCK_WITHIN = "300ms"
"""How long the rewriting waits for others that use the table; who comes after it waits behind it."""
REWRITE_WITHIN = "3s"
"""How long messages may have to wait for the rewriting of a table. It is enough for some 400 MB."""
_NOTE = (
    "INSERT INTO rewrites (name, file, erased)"
    " SELECT relname, pg_relation_filenode(relid), pg_current_xact_id()::text FROM pg_stat_xact_user_tables"
    " WHERE schemaname = current_schema() AND n_tup_upd + n_tup_del > 0"
    " ON CONFLICT (name) DO UPDATE SET file = excluded.file, erased = excluded.erased"
)
"""Notes the tables in which the open transaction has deleted or changed rows."""
_DUE = (
    "SELECT name FROM rewrites JOIN pg_class ON pg_class.oid = to_regclass(quote_ident(name))"
    " WHERE pg_relation_filenode(pg_class.oid) = file ORDER BY relpages"
)
"""A rewrite makes a new file."""
_COPIED = (
    "UPDATE rewrites SET file = pg_relation_filenode(pg_class.oid) FROM pg_class"
    " WHERE name = ? AND pg_class.oid = to_regclass(quote_ident(name)) AND age(relfrozenxid) >= age(erased::xid8::xid)"
)
"""Notes the new file of a table in which somebody could still see what was erased, so that it was copied.

A rewrite puts `relfrozenxid` to the oldest transaction that anybody sees. A VACUUM changes it too, so this has to
follow at once.
"""

log = structlog.get_logger(__name__)


def note(connection: Connection) -> None:
    """Note in the transaction that erases rows that their tables have to be rewritten. SQLite's file is, at once."""
    if not isinstance(connection, sqlite3.Connection):
        connection.execute(_NOTE)


def due(connection: Connection) -> list[str]:
    """Return the tables that have to be rewritten, small ones first."""
    return [name for (name,) in connection.execute(_DUE).fetchall()]


def vacuum(connection: Connection) -> None:
    """Free the place of erased rows while others read and write. A table that takes too long is left to PostgreSQL."""
    for name in due(connection):
        _try(connection, f'VACUUM (SKIP_LOCKED) "{name}"', VACUUM_WITHIN)


def rewrite(connection: Connection) -> list[str]:
    """Rewrite the tables that can be had for it at once and are done soon. Returns those that are left."""
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
        log.info("what is left of erased rows stays for now", statement=statement, reason=str(error))
    connection.execute("RESET statement_timeout")
