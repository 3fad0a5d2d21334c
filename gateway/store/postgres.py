"""PostgreSQL connections that accept the SQLite statements of the tables, each on a thread of its own.

Errors are raised as sqlite3.OperationalError with SQLite's code for the same trouble, so the writer waits for a
database that is away as it waits for a full disk.
"""

import asyncio
import re
import socket
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import cache, partial
from typing import Self, TypeAlias, TypeVar, cast

import psycopg
from psycopg.abc import Buffer
from psycopg.adapt import Loader
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.pq import TransactionStatus
from psycopg.rows import TupleRow

from gateway.errors import is_machine_trouble
from gateway.store import rewrites
from gateway.store.connection import NUL, CommitUnknown, Connection, Fence, Fenced, Rows, Work

T = TypeVar("T")
Raw: TypeAlias = "psycopg.Connection[TupleRow]"
Prepare = Callable[["PostgresConnection"], None]

LOOK_EVERY = 5.0
"""Seconds of waiting for a statement after which the server is asked if it still works on it."""
TRY_AGAIN_EVERY = 1.0
"""Seconds."""
PATIENCE = 60.0
"""Seconds for which a read waits for a database that is away."""
FETCHED = 200
"""Rows that a stream fetches at once."""
_OPTIONS = {
    "application_name": "parley",
    "client_encoding": "utf8",
    "connect_timeout": "10",
    "keepalives_idle": "5",
    "keepalives_interval": "2",
    "keepalives_count": "3",
    "tcp_user_timeout": "10000",
    "target_session_attrs": "read-write",  # after a failover the address may lead to a standby for a while
}
_SESSION = (
    # The server ends a session whose client is gone, and with it releases the lock and the transaction.
    b"SET tcp_keepalives_idle = 5; SET tcp_keepalives_interval = 2; SET tcp_keepalives_count = 3;"
    b" SET idle_in_transaction_session_timeout = '5s'"
)
_WRITING = "BEGIN; SELECT pg_current_xact_id()::text, {}"
_ALONE = "TRUE"
_UNFENCED = "EXISTS (SELECT FROM nodes WHERE id = '{}' AND NOT fenced FOR KEY SHARE)"
"""The row is locked before a node is fenced, so a transaction that has read this commits before."""
_READING = b"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_CODES = {
    "08": sqlite3.SQLITE_BUSY,  # the connection
    "25": sqlite3.SQLITE_READONLY,  # a standby after a failover; a transaction that was idle for too long
    "40": sqlite3.SQLITE_BUSY_SNAPSHOT,  # a deadlock with another process
    "53": sqlite3.SQLITE_NOMEM,  # no memory or connection left
    "55": sqlite3.SQLITE_BUSY,  # a lock
    "57": sqlite3.SQLITE_BUSY,  # shut down or cancelled by an operator
    "58": sqlite3.SQLITE_IOERR,
}
"""SQLite's codes by the class of PostgreSQL's."""
_FULL = "53100"
_WORKS = (
    "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE pid = %s"
    " AND (state = 'active' OR state_change > clock_timestamp() - make_interval(secs => %s)))"
)
_TOKENS = re.compile(r"'(?:[^']|'')*'|::|:([a-z_][a-z_0-9]*)|\?|%")


class PostgresError(sqlite3.OperationalError):
    """An error of PostgreSQL. `sqlite_errorcode` is SQLite's for the same trouble."""

    def __init__(self, text: str, code: int) -> None:
        super().__init__(" ".join(text.split()))
        self.sqlite_errorcode = code


class PostgresConnection:
    """A connection for one thread, opened on first use and again after it was lost."""

    def __init__(self, url: str, prepare: Prepare = lambda _: None, fence: Fence | None = None) -> None:
        """`prepare` is called with each new connection; it may refuse it by an error.

        `fence` is the node whose right to write is checked at the begin of each transaction.
        """
        self.url = url
        self._prepare = prepare
        self._writing = _WRITING.format(_ALONE if fence is None else _UNFENCED.format(fence.id)).encode()
        self._raw: Raw | None = None
        self._transaction = ""
        """The id of the last transaction that was begun to write."""

    @property
    def in_transaction(self) -> bool:
        open_ones = TransactionStatus.INTRANS, TransactionStatus.INERROR
        return self._raw is not None and self._raw.info.transaction_status in open_ones

    def execute(self, statement: str, values: Sequence[object] | Mapping[str, object] = (), /) -> Rows:
        """Execute a statement. Raises PostgresError, and CommitUnknown if the answer to a COMMIT was lost."""
        if statement == "BEGIN IMMEDIATE":
            return self._begin()
        if statement == "COMMIT":
            return self._commit()
        return self._run(lambda raw: raw.execute(translated(statement), _plain(values)))

    def executemany(self, statement: str, values: Iterable[Sequence[object]], /) -> Rows:
        def work(raw: Raw) -> Rows:
            cursor = raw.cursor()
            cursor.executemany(translated(statement), [_plain(each) for each in values])
            return cursor

        return self._run(work)

    def script(self, statements: str) -> None:
        """Execute several statements as they are."""
        self._run(lambda raw: raw.execute(statements.encode(), prepare=False))

    def stream(self, query: str) -> Iterator[TupleRow]:
        """Yield the rows of a query in an open transaction, which are fetched in small numbers."""
        with self._raised(), self._open().cursor("stream") as cursor:
            cursor.itersize = FETCHED
            yield from cursor.execute(query.encode())

    def copy_in(self, table: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        """Add rows to a table in bulk."""
        statement = f"COPY {table} ({', '.join(columns)}) FROM STDIN".encode()
        with self._raised(), self._open().cursor() as cursor, cursor.copy(statement) as copy:
            for row in rows:
                copy.write_row(row)

    def begin_reading(self) -> None:
        """Begin a transaction that sees the database as of one moment."""
        self._run(lambda raw: raw.execute(_READING))

    def rollback(self) -> None:
        if self.in_transaction:
            self._run(lambda raw: raw.execute(b"ROLLBACK"))

    def close(self) -> None:
        if self._raw is not None:
            self._raw.close()
            self._raw = None

    def abort_if_dead(self) -> None:
        """Abort the statement that another thread waits for if the server is not working on it."""
        if self._raw is not None:
            abort_if_dead(self._raw, self.url)

    def _begin(self) -> Rows:
        cursor = self._run(lambda raw: raw.execute(self._writing, prepare=False))
        cursor.nextset()
        [(self._transaction, may_write)] = cursor.fetchall()
        if not may_write:
            self.rollback()
            raise Fenced
        return cursor

    def _commit(self) -> Rows:
        try:
            return self._run(lambda raw: raw.execute(b"COMMIT"))
        except PostgresError as error:
            if self._raw is None:
                raise CommitUnknown(error, partial(was_made, transaction=self._transaction)) from error
            raise

    def _run(self, work: Callable[[Raw], T]) -> T:
        with self._raised():
            return work(self._open())

    @contextmanager
    def _raised(self) -> Iterator[None]:
        """Raise PostgresError for errors of the driver."""
        try:
            yield
        except psycopg.Error as error:
            code = _code(error)
            if self._raw is not None and self._raw.closed:
                self._raw, code = None, sqlite3.SQLITE_BUSY
            raise PostgresError(f"{error}{_fix(error)}", code) from error

    def _open(self) -> Raw:
        return self._raw or self._connect()

    def _connect(self) -> Raw:
        try:
            raw = psycopg.connect(address(self.url), autocommit=True)
        except psycopg.Error as error:
            raise PostgresError(str(error), sqlite3.SQLITE_BUSY) from error
        raw.adapters.register_loader("numeric", _Number)
        self._raw = raw
        try:
            raw.execute(_SESSION, prepare=False)
            self._prepare(self)
        except psycopg.Error as error:
            was_lost = raw.closed
            self.close()
            if was_lost:
                raise PostgresError(str(error), sqlite3.SQLITE_BUSY) from error
            raise
        except PostgresError:
            self.close()
            raise
        return raw


class PostgresWriter:
    """The writing connection, on a thread of its own."""

    def __init__(self, connection: PostgresConnection) -> None:
        self._connection = connection
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="postgres")

    @classmethod
    @asynccontextmanager
    async def open(cls, url: str, prepare: Prepare = lambda _: None, fence: Fence | None = None) -> AsyncIterator[Self]:
        """Open a connection, which is made by the first work."""
        database = cls(PostgresConnection(url, prepare, fence))
        try:
            yield database
        finally:
            database._thread.submit(database._connection.close)  # also if the waiting for it is cut off
            await asyncio.to_thread(database._thread.shutdown)

    async def run(self, work: Work[T]) -> T:
        """Run `work` with the connection and return its result."""
        return await self._in_thread(work)

    async def give_back_pages(self) -> bool:
        """Do nothing: PostgreSQL frees space by itself."""
        return False

    async def scrub(self) -> None:
        """See `Writes`. The files keep deleted rows until they are rewritten or the space is reused."""
        await self._in_new_connection(rewrites.vacuum)

    async def rewrite(self) -> list[str]:
        """See `Writes`."""
        return await self._in_new_connection(rewrites.rewrite)

    async def _in_new_connection(self, work: Work[T]) -> T:
        """Run `work` on a new connection, so that this one can still write."""
        async with PostgresWriter.open(self._connection.url) as other:
            return await other.run(work)

    async def _in_thread(self, work: Callable[[PostgresConnection], T]) -> T:
        running = asyncio.get_running_loop().run_in_executor(self._thread, work, self._connection)
        try:
            while not (await asyncio.wait([running], timeout=LOOK_EVERY))[0]:
                await asyncio.to_thread(self._connection.abort_if_dead)
            return running.result()
        finally:
            running.cancel()


class PostgresReader(PostgresWriter):
    """The reading connection. A read waits up to a minute for an unavailable database."""

    async def run(self, work: Work[T]) -> T:
        return await self.query(partial(_in_snapshot, work))

    async def query(self, work: Callable[[PostgresConnection], T]) -> T:
        """Run work that makes a single query, without a transaction."""
        loop = asyncio.get_running_loop()
        until = loop.time() + PATIENCE
        while True:
            try:
                return await self._in_thread(work)
            except PostgresError as error:
                if not is_machine_trouble(error) or loop.time() > until:
                    raise
            await asyncio.sleep(TRY_AGAIN_EVERY)


class _Number(Loader):
    """Loads sums of integers, which PostgreSQL returns as numeric, as SQLite returns them."""

    def load(self, data: Buffer) -> float:
        text = bytes(data)
        return float(text) if b"." in text else int(text)


def address(url: str) -> str:
    """Return the connection string for psycopg, with options that detect a lost server soon."""
    return make_conninfo(url, **options(url))


def options(url: str) -> dict[str, str]:
    """Return the connection options that the address does not set."""
    given = conninfo_to_dict(url)
    return {name: value for name, value in _OPTIONS.items() if name not in given}


def is_waiting(raw: Raw) -> bool:
    """Return True while a thread waits for the answer to a statement."""
    return raw.info.transaction_status == TransactionStatus.ACTIVE


def abort_if_dead(raw: Raw, url: str) -> None:
    """Abort the statement that another thread waits for if the server is not working on it.

    Behind a proxy, the other side of a connection may be gone without a sign.
    """
    if not is_waiting(raw) or _is_at_work(url, raw.info.backend_pid) or not is_waiting(raw):
        return
    with suppress(OSError, psycopg.Error), socket.fromfd(raw.fileno(), socket.AF_INET, socket.SOCK_STREAM) as line:
        line.shutdown(socket.SHUT_RDWR)


def _is_at_work(url: str, session: int) -> bool:
    """Return True if the server can be reached, and works on a statement of a session, or did so just now."""
    try:
        with psycopg.connect(address(url), autocommit=True) as raw:
            return raw.execute(_WORKS, [session, LOOK_EVERY]).fetchone() == (True,)
    except psycopg.Error:
        return False


@cache
def translated(statement: str) -> bytes:
    """Return a statement with psycopg's placeholders."""

    def token(found: re.Match[str]) -> str:
        text, name = found[0], found[1]
        if text == "?":
            return "%s"
        return f"%({name})s" if name else text.replace("%", "%%")

    return _TOKENS.sub(token, statement).encode()


def _plain(values: Sequence[object] | Mapping[str, object]) -> Sequence[object] | Mapping[str, object]:
    if isinstance(values, Mapping):
        return {name: _value(value) for name, value in values.items()}
    return [_value(value) for value in values]


def _value(value: object) -> object:
    """Return a value for PostgreSQL in place of one for SQLite."""
    match value:
        case str():
            return str(value).replace("\0", NUL)
        case bool():
            return int(value)
        case _:
            return value


def _in_snapshot(work: Work[T], connection: PostgresConnection) -> T:
    connection.begin_reading()
    try:
        return work(connection)
    finally:
        connection.rollback()  # nothing was written


def was_made(connection: Connection, transaction: str) -> bool:
    """Return True if a transaction was committed. Raises PostgresError while its old session is not over.

    A number that the server has not given out yet was lost with a server that this one stands in for.
    """
    query = (
        "SELECT CASE WHEN CAST(:id AS xid8) < pg_current_xact_id() THEN pg_xact_status(CAST(:id AS xid8))"
        " ELSE 'lost' END"
    )
    (status,) = connection.execute(query, {"id": transaction}).fetchone()
    if status == "in progress":
        raise PostgresError("the last transaction is not over yet", sqlite3.SQLITE_BUSY)
    return cast(bool, status == "committed")


def _fix(error: psycopg.Error) -> str:
    if error.sqlstate != _FULL:
        return ""
    return "; make room on the disk of the PostgreSQL server, then Parley goes on by itself"


def _code(error: psycopg.Error) -> int:
    if error.sqlstate == _FULL:
        return sqlite3.SQLITE_FULL
    return _CODES.get((error.sqlstate or "")[:2], sqlite3.SQLITE_ERROR)
