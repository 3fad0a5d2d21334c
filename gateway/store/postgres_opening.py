"""Opening a store on PostgreSQL: connects, locks the database for one process, and migrates it."""

import sqlite3
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, closing, contextmanager
from functools import partial
from importlib import resources
from importlib.resources.abc import Traversable

import psycopg
from psycopg.conninfo import conninfo_to_dict

from gateway.errors import ParleyError
from gateway.store.connection import Connection
from gateway.store.postgres import PostgresConnection, PostgresError, PostgresReader, PostgresWriter

LOCK = 0x5041524C4559
"""The number of the advisory lock; it spells PARLEY."""
OLDEST = 14
"""The oldest version of PostgreSQL that has what the store uses."""
LOCK_SECONDS = 5.0
"""Seconds for which the lock of a process that has just died is waited for."""
_LOCK_EVERY = 0.1
_HOLDER = (
    "SELECT coalesce(host(client_addr), 'this machine') FROM pg_locks JOIN pg_stat_activity USING (pid)"
    " WHERE locktype = 'advisory' AND granted AND (classid::bigint << 32) + objid::bigint = ? LIMIT 1"
)


class DatabaseUnusable(ParleyError):
    """PARLEY_DATABASE_URL names a database that cannot be used."""


class Locked(PostgresError):
    """Another process holds the lock of the database."""

    def __init__(self, holder: str) -> None:
        super().__init__(f"another Parley, from {holder}, uses the database", sqlite3.SQLITE_BUSY)
        self.holder = holder


class DatabaseBusy(ParleyError):
    """Another process uses the same database."""

    def __init__(self, name: str, holder: str) -> None:
        super().__init__(
            f"Another Parley (from {holder}) already uses {name}. "
            "Stop it, or name another database in PARLEY_DATABASE_URL."
        )


class DatabaseTooNew(ParleyError):
    """The database was written by a later version."""

    def __init__(self, name: str, found: int, known: int) -> None:
        super().__init__(
            f"{name} has schema {found}, but this Parley knows {known}. "
            "Start the newer version, or name another database in PARLEY_DATABASE_URL."
        )


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[tuple[PostgresWriter, PostgresReader]]:
    """Open one connection for writing, which holds the database's lock, and one for reading.

    Raises DatabaseUnusable, DatabaseBusy and DatabaseTooNew.
    """
    name = shown(url)
    async with AsyncExitStack() as stack:
        writing = await stack.enter_async_context(PostgresWriter.open(url, _take_lock))
        reading = await stack.enter_async_context(PostgresReader.open(url))
        try:
            await writing.run(partial(migrate, name=name))
        except Locked as error:
            raise DatabaseBusy(name, error.holder) from error
        except PostgresError as error:
            raise DatabaseUnusable(
                f"{name} cannot be used ({error}). See that PostgreSQL runs there and that PARLEY_DATABASE_URL has the "
                "right user, password and database."
            ) from error
        yield writing, reading


@contextmanager
def reading(url: str) -> Iterator[PostgresConnection]:
    """Open a connection that sees the database as of one moment, without its lock.

    Raises DatabaseUnusable and DatabaseTooNew.
    """
    name = shown(url)
    with closing(PostgresConnection(url)) as connection:
        try:
            connection.execute("SET idle_in_transaction_session_timeout = 0")  # what is read may be worked on for long
            connection.begin_reading()
            _check_server(connection, name)
            found, known = schema_of(connection), number_of(migrations()[-1])
            if found > known:
                raise DatabaseTooNew(name, found, known)
            if found < known:
                raise DatabaseUnusable(
                    f"{name} is empty or of an older Parley. Start this one once to bring it up to date."
                )
            yield connection
        except PostgresError as error:
            raise DatabaseUnusable(
                f"{name} cannot be read ({error}). See that PostgreSQL runs there, and PARLEY_DATABASE_URL."
            ) from error


def about(connection: Connection, url: str) -> str:
    """Return the version and the size of a database in one line."""
    version, size = connection.execute(
        "SELECT current_setting('server_version'), pg_database_size(current_database())"
    ).fetchone()
    return f"{shown(url)} can be read: version {version}, {size / 2**20:.1f} MB"


def shown(url: str) -> str:
    """Return an address without its user and password. Raises DatabaseUnusable if it is none."""
    try:
        parts = conninfo_to_dict(url)
    except psycopg.Error as error:
        raise DatabaseUnusable(
            "PARLEY_DATABASE_URL cannot be read; it looks like postgresql://user:password@host:5432/database."
        ) from error
    port = f":{parts['port']}" if parts.get("port") else ""
    return f"PostgreSQL at {parts.get('host') or 'this machine'}{port}, database {parts.get('dbname') or 'default'},"


def migrations() -> list[Traversable]:
    """Return the migrations in order, each with its schema number at the start of its name."""
    folder = resources.files("gateway.store") / "migrations" / "postgres"
    return sorted((item for item in folder.iterdir() if item.name.endswith(".sql")), key=lambda item: item.name)


def number_of(step: Traversable) -> int:
    return int(step.name.partition("_")[0])


def migrate(connection: PostgresConnection, name: str) -> None:
    """Apply missing migrations, each in its own transaction. Raises DatabaseTooNew and DatabaseUnusable."""
    _check_server(connection, name)
    steps = migrations()
    found, known = schema_of(connection), number_of(steps[-1])
    if found > known:
        raise DatabaseTooNew(name, found, known)
    for step in steps:
        if number_of(step) > found:
            connection.execute("BEGIN IMMEDIATE")
            connection.script(step.read_text())
            connection.execute("UPDATE schema_version SET number = ?", (number_of(step),))
            connection.execute("COMMIT")


def schema_of(connection: Connection) -> int:
    """Return the number of the last migration applied to the database; 0 for a new one."""
    (there,) = connection.execute("SELECT to_regclass('schema_version') IS NOT NULL").fetchone()
    if not there:
        return 0
    (number,) = connection.execute("SELECT number FROM schema_version").fetchone()
    return int(number)


def _check_server(connection: Connection, name: str) -> None:
    encoding, version = connection.execute(
        "SELECT current_setting('server_encoding'), current_setting('server_version_num')"
    ).fetchone()
    if encoding != "UTF8":
        raise DatabaseUnusable(f"{name} has the encoding {encoding}; create one with ENCODING 'UTF8'.")
    if int(version) < OLDEST * 10_000:
        raise DatabaseUnusable(f"{name} runs version {int(version) // 10_000}; Parley needs {OLDEST} or later.")


def _take_lock(connection: PostgresConnection) -> None:
    """Lock the database until the connection ends. Raises Locked."""
    until = time.monotonic() + LOCK_SECONDS
    while connection.execute("SELECT pg_try_advisory_lock(?)", (LOCK,)).fetchone() != (True,):
        if time.monotonic() > until:
            holder = connection.execute(_HOLDER, (LOCK,)).fetchone()
            raise Locked(holder[0] if holder else "another machine")
        time.sleep(_LOCK_EVERY)
