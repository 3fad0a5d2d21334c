"""Opens a store on PostgreSQL: migrates the database, one process at a time, and connects."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, closing, contextmanager
from functools import partial
from importlib import resources
from importlib.resources.abc import Traversable

import psycopg
import structlog
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.pq import PGconn, Ping
from psycopg.rows import TupleRow

from gateway.errors import MAY_PASS, ParleyError
from gateway.store.connection import CommitUnknown, Connection, Fence
from gateway.store.nodes import fence_all, hold_all
from gateway.store.plugin_tables import PluginTables, are_first, pending
from gateway.store.plugin_tables import apply as apply_of_plugins
from gateway.store.portable_sql import on_server
from gateway.store.postgres import PostgresConnection, PostgresError, PostgresReader, PostgresWriter, address

LOCK = 0x5041524C4559
"""Number of the advisory lock under which a process migrates; it spells PARLEY."""
NOTIFIED_WITHIN = 5.0
"""Timeout in seconds of the test if notifications arrive."""
OLDEST = 14
"""The oldest supported version of PostgreSQL."""
STARTS_WITHIN = 60.0
"""Seconds for which a start waits for an unavailable server."""
TRY_AGAIN_EVERY = 1.0
"""Seconds."""
HIGHEST_PORT = 65_535
STRICT = {"require", "verify-ca", "verify-full"}
"""Values of sslmode with which a server without TLS, or with another certificate, is refused."""
FIX = "See that PostgreSQL runs there, and PARLEY_DATABASE_URL."

log = structlog.get_logger(__name__)


class DatabaseUnusable(ParleyError):
    """PARLEY_DATABASE_URL names a database that cannot be used."""


class DatabaseAway(DatabaseUnusable):
    """The database may be back without a change of the settings."""

    exit_code = MAY_PASS


class DatabaseBehind(DatabaseUnusable):
    """The tables are missing, or older than this version; a start makes them."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{name} is empty or of an older Parley. Start this one once to bring it up to date.")


class DatabaseTooNew(ParleyError):
    """The database was written by a later version."""

    def __init__(self, name: str, found: int, known: int) -> None:
        super().__init__(
            f"{name} has schema {found}, but this Parley knows {known}. "
            "Start the newer version, or name another database in PARLEY_DATABASE_URL."
        )


class DatabaseLeft(ParleyError):
    """The content of the database was moved to a file."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"{name} was moved to a file by `parley migrate`, so what it holds is out of date. Take "
            "PARLEY_DATABASE_URL out, or move the store back to an empty database."
        )


@asynccontextmanager
async def opened(
    url: str, fence: Fence | None = None, plugins: Sequence[PluginTables] = ()
) -> AsyncIterator[tuple[PostgresWriter, PostgresReader]]:
    """Open one connection for writing and one for reading, with the tables of these plugins.

    `fence` is the node whose right to write is checked. Raises DatabaseUnusable, DatabaseTooNew, PluginTablesTooNew and
    PluginTablesRefused.
    """
    await migrated(url, plugins)
    async with PostgresWriter.open(url, fence=fence) as writing, PostgresReader.open(url) as reading:
        yield writing, reading


async def wait_available(url: str) -> None:
    """Wait for a server that is away, starting, stopping or a standby; return at once for any other problem.

    Raises DatabaseAway after a minute, and DatabaseUnusable for an address that cannot be read.
    """
    name, loop, is_told = shown(url), asyncio.get_running_loop(), False
    until = loop.time() + STARTS_WITHIN
    while (reason := await _why_away(url)) is not None:
        if loop.time() > until:
            raise DatabaseAway(f"{name} is away ({reason}). {FIX}")
        if not is_told:
            where = name.rstrip(",")
            log.warning("Parley waits up to a minute for its database", database=where, reason=reason, fix=FIX)
        is_told = True
        await asyncio.sleep(TRY_AGAIN_EVERY)


async def migrated(url: str, plugins: Sequence[PluginTables] = ()) -> None:
    """Apply missing migrations, while other processes that want to do the same wait.

    Raises DatabaseUnusable, DatabaseTooNew, PluginTablesTooNew and PluginTablesRefused.
    """
    name = shown(url)
    async with PostgresWriter.open(url) as database:
        try:
            await database.run(partial(_migrate_in_turn, name=name, plugins=plugins))
        except (PostgresError, CommitUnknown) as error:
            kind = DatabaseUnusable if await _why_away(url) is None else DatabaseAway
            raise kind(
                f"{name} cannot be used ({error}). See that PostgreSQL runs there and that PARLEY_DATABASE_URL has the "
                "right user, password and database."
            ) from error


@contextmanager
def reading(url: str) -> Iterator[PostgresConnection]:
    """Open a connection to one snapshot of the database, without its lock.

    Raises DatabaseUnusable and DatabaseTooNew.
    """
    name = shown(url)
    with closing(PostgresConnection(url)) as connection:
        try:
            connection.execute("SET idle_in_transaction_session_timeout = 0")  # what is read may be worked on for long
            connection.begin_reading()
            check_server(connection, name)
            check_schema(connection, name)
            yield connection
        except PostgresError as error:
            raise DatabaseUnusable(f"{name} cannot be read ({error}). {FIX}") from error


def is_behind(url: str) -> bool:
    """Return True if the tables are missing, or older than this version. Raises other ParleyErrors."""
    try:
        with reading(url):
            return False
    except DatabaseBehind:
        return True


def about(connection: Connection, url: str) -> str:
    """Return the version and the size of a database in one line."""
    version, size = connection.execute(
        "SELECT current_setting('server_version'), pg_database_size(current_database())"
    ).fetchone()
    return f"{shown(url)} can be read: version {version}, {size / 2**20:.1f} MB"


def pooler_problem(url: str) -> str:
    """Return what a connection pooler breaks, or "" if nothing. Raises DatabaseUnusable.

    A pooler in transaction mode lets the second connection use the session of the first one.
    """
    number, channel = secrets.randbits(62), f"parley_trial_{secrets.token_hex(6)}"
    try:
        with _raw(url) as one, _raw(url) as two:
            one.execute("SELECT pg_advisory_lock(%s)", [number])
            one.execute(f"LISTEN {channel}")
            with two.transaction():
                is_free = two.execute("SELECT pg_try_advisory_xact_lock(%s)", [number]).fetchone()
                one.execute("SELECT 1")
            if is_free != (False,):
                return "a lock is lost between two statements"
            two.execute("SELECT pg_notify(%s, '')", [channel])
            if not list(one.notifies(timeout=NOTIFIED_WITHIN, stop_after=1)):
                return "notifications by LISTEN do not arrive"
    except psycopg.Error as error:
        raise DatabaseUnusable(f"{shown(url)} cannot be used ({_in_one_line(error)}). {FIX}") from error
    return ""


async def _why_away(url: str) -> str | None:
    """Return why a server accepts no connections that write, if that may pass by itself; otherwise None."""
    try:
        async with await psycopg.AsyncConnection.connect(address(url)):
            return None
    except psycopg.Error as error:
        reason, has_met = _in_one_line(error), error.pgconn is not None
    # A ping stops all threads of this process, so it is only tried where somebody has just answered or refused.
    if has_met and PGconn.ping(_for_ping(url)) in {Ping.OK, Ping.NO_ATTEMPT}:
        return reason if await _is_standby(url) else None
    return reason


def _for_ping(url: str) -> bytes:
    """Return an address that can be pinged even if the server's certificate or the password is refused."""
    pinged = {name: str(value) for name, value in conninfo_to_dict(url).items()}
    pinged |= {"connect_timeout": "2", "password": "unknown"}
    if pinged.get("sslmode") in STRICT:
        pinged = {name: value for name, value in pinged.items() if name not in {"sslrootcert", "sslnegotiation"}}
        pinged["sslmode"] = "prefer"
    return make_conninfo(**pinged).encode()


async def _is_standby(url: str) -> bool:
    try:
        async with await psycopg.AsyncConnection.connect(
            make_conninfo(address(url), target_session_attrs="any")
        ) as raw:
            return await (await raw.execute("SHOW transaction_read_only")).fetchone() == ("on",)
    except psycopg.Error:
        return False


def _is_port(text: str) -> bool:
    return not text or (text.isdecimal() and 0 < int(text) <= HIGHEST_PORT)


def _in_one_line(error: psycopg.Error) -> str:
    return " ".join(str(error).split())


def _raw(url: str) -> "psycopg.Connection[TupleRow]":
    return psycopg.connect(address(url), autocommit=True, prepare_threshold=None)


def shown(url: str) -> str:
    """Return an address without its user and password. Raises DatabaseUnusable if it is none."""
    try:
        parts = conninfo_to_dict(url)
    except psycopg.Error as error:
        raise DatabaseUnusable(
            "PARLEY_DATABASE_URL cannot be read; it looks like postgresql://user:password@host:5432/database."
        ) from error
    ports = str(parts.get("port") or HIGHEST_PORT).split(",")
    # In what follows a sign that was to be written otherwise, libpq reads a part of the password as one of these.
    if any("@" in str(parts.get(name, "")) for name in ("host", "port", "dbname")) or not all(map(_is_port, ports)):
        raise DatabaseUnusable(
            "PARLEY_DATABASE_URL cannot be read; it looks like postgresql://user:password@host:5432/database. In the "
            "user and the password @ is written as %40, : as %3A and / as %2F."
        )
    port = f":{parts['port']}" if parts.get("port") else ""
    return f"PostgreSQL at {parts.get('host') or 'this machine'}{port}, database {parts.get('dbname') or 'default'},"


def migrations() -> list[Traversable]:
    """Return the migrations in order, each with its schema number at the start of its name."""
    folder = resources.files("gateway.store") / "migrations" / "postgres"
    return sorted((item for item in folder.iterdir() if item.name.endswith(".sql")), key=lambda item: item.name)


def number_of(step: Traversable) -> int:
    return int(step.name.partition("_")[0])


def migrate(connection: PostgresConnection, name: str, plugins: Sequence[PluginTables] = ()) -> None:
    """Apply missing migrations in one transaction, after which nodes of an older Parley or plugin can write nothing.

    First tables of a plugin leave other nodes alone, as these do not use them.

    Raises DatabaseTooNew, DatabaseUnusable, PluginTablesTooNew and PluginTablesRefused.
    """
    check_server(connection, name)
    found = _known_schema(connection, name)
    missing = [step for step in migrations() if number_of(step) > found]
    if not missing and not pending(connection, plugins):
        return
    ends_others = bool(missing) or not are_first(pending(connection, plugins))
    connection.execute("BEGIN IMMEDIATE")
    if ends_others and _is_there(connection, "nodes"):
        hold_all(connection)
    for step in missing:
        apply(connection, step)
    apply_of_plugins(connection, pending(connection, plugins), on_server)
    if ends_others:
        fence_all(connection)
    connection.execute("COMMIT")


def check_schema(connection: Connection, name: str) -> None:
    """Raise DatabaseTooNew, DatabaseLeft and DatabaseUnusable for a schema that is not of this version."""
    if _known_schema(connection, name) < number_of(migrations()[-1]):
        raise DatabaseBehind(name)


def _known_schema(connection: Connection, name: str) -> int:
    """Return the number of the schema. Raises DatabaseTooNew and DatabaseLeft."""
    found, known = schema_of(connection), number_of(migrations()[-1])
    if found > known:
        raise DatabaseTooNew(name, found, known)
    if found < 0:
        raise DatabaseLeft(name)
    return found


def apply(connection: PostgresConnection, step: Traversable) -> None:
    """Apply a migration in the open transaction."""
    connection.script(step.read_text())
    connection.execute("UPDATE schema_version SET number = ?", (number_of(step),))


def schema_of(connection: Connection) -> int:
    """Return the number of the last migration applied to the database: 0 for a new one, negative once it was left."""
    if not _is_there(connection, "schema_version"):
        return 0
    (number,) = connection.execute("SELECT number FROM schema_version").fetchone()
    return int(number)


def _is_there(connection: Connection, table: str) -> bool:
    (found,) = connection.execute("SELECT to_regclass(?) IS NOT NULL", (table,)).fetchone()
    return bool(found)


def check_server(connection: Connection, name: str) -> None:
    """Raise DatabaseUnusable for an encoding or a version that Parley cannot use."""
    encoding, version = connection.execute(
        "SELECT current_setting('server_encoding'), current_setting('server_version_num')"
    ).fetchone()
    if encoding != "UTF8":
        raise DatabaseUnusable(f"{name} has the encoding {encoding}; create one with ENCODING 'UTF8'.")
    if int(version) < OLDEST * 10_000:
        raise DatabaseUnusable(f"{name} runs version {int(version) // 10_000}; Parley needs {OLDEST} or later.")


def _migrate_in_turn(connection: PostgresConnection, name: str, plugins: Sequence[PluginTables]) -> None:
    """Migrate under a lock. It ends at once, as the server may notice the end of the connection only later."""
    connection.execute("SELECT pg_advisory_lock(?)", (LOCK,))
    migrate(connection, name, plugins)
    connection.execute("SELECT pg_advisory_unlock(?)", (LOCK,))
