"""The content of a database as plain rows, the same on SQLite and on PostgreSQL, to copy a store from one to the other.

What a database computes from the rest is no content: the search index, the number of the schema. Neither is what the
processes that use it tell each other, nor what each copy has for itself: the id of the store, its count of transactions
and the marking of its home.
"""

import os
import sqlite3
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import Protocol

from msgspec import Struct

from gateway.errors import ParleyError
from gateway.store.connection import NUL, Connection
from gateway.store.file_connection import connect, lay_out
from gateway.store.opening import FILE, WITH_LOG, StoreDamaged, check, migrate
from gateway.store.plugin_tables import Dialect, make, recorded
from gateway.store.portable_sql import on_file
from gateway.store.search import forget, index_older
from gateway.store.side_file import Mark, mark_of, write_mark

Row = tuple[object, ...]
Say = Callable[[str], None]
"""Takes a line about the progress."""

_COMPUTED = "said", "search_progress", "schema_version", "spending_sums"
NO_CONTENT = frozenset({*_COMPUTED, "nodes", "chat_owners", "leases", "page_commands", "page_links", "rewrites"})
"""Tables that are not copied."""
OWN = {"store": ("id", "sequence", "marked")}
"""Columns that are no content, by table."""
SAY_EVERY = 2.0
"""Seconds."""
_UNFINISHED = f"{FILE}.new"


class Contents(Protocol):
    """A database whose content is read, or filled in an open transaction."""

    dialect: Dialect
    """Of portable SQL."""

    @property
    def connection(self) -> Connection: ...

    def columns(self) -> Iterator[tuple[str, str]]:
        """Yield the table and the name of each column, in the order of the columns."""

    def rows(self, query: str) -> Iterator[Row]:
        """Yield the rows of a query without holding them all in memory."""

    def add(self, table: str, columns: Sequence[str], rows: Iterable[Row]) -> None:
        """Add rows to a table."""


class OnServer(Contents, Protocol):
    """The content of a database on a server."""

    @property
    def name(self) -> str:
        """The address as people may see it."""

    @property
    def is_empty(self) -> bool:
        """True if there is no table."""

    def check(self) -> None:
        """Raise ParleyError if the content is not that of a store of this version."""

    def created(self) -> AbstractContextManager[None]:
        """Create the tables, to be filled in the body; all of it is committed at its end."""

    def leave(self) -> None:
        """Let no Parley start with this content any more, now that it is elsewhere."""

    def come_back(self) -> None:
        """Let Parley start with this content, also after `leave` and in a home that is not marked."""


class ContentsDiffer(ParleyError):
    """A copy that was read back is not what was copied."""

    def __init__(self, table: str, read: "Fingerprint", found: "Fingerprint") -> None:
        counts = f"{found.count:,} of {read.count:,} rows arrived" if found.count != read.count else "a row has changed"
        super().__init__(
            f"The copy of the table {table} differs from the original: {counts}. Nothing was kept of the copy, and the "
            "original is as it was. Try again; if it happens again, report it with this sentence."
        )


class Fingerprint(Struct):
    """The number of rows that were seen, and a hash of all of them in any order."""

    count: int = 0
    total: int = 0

    def seen(self, rows: Iterable[Row]) -> Iterator[Row]:
        """Yield the rows and take them in."""
        for row in rows:
            self.count += 1
            self.total = (self.total + int.from_bytes(blake2b(repr(row).encode(), digest_size=16).digest())) % 2**128
            yield row


class FileContents:
    """The content of SQLite's file."""

    dialect: Dialect = staticmethod(on_file)

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection

    def columns(self) -> Iterator[tuple[str, str]]:
        yield from self.connection.execute(
            "SELECT tables.name, columns.name FROM pragma_table_list AS tables"
            " JOIN pragma_table_info(tables.name) AS columns"
            " WHERE tables.schema = 'main' AND tables.type = 'table' AND tables.name NOT LIKE 'sqlite_%'"
            " ORDER BY tables.name, columns.cid"
        )

    def rows(self, query: str) -> Iterator[Row]:
        for row in self.connection.execute(query):
            yield tuple(value.replace("\0", NUL) if isinstance(value, str) else value for value in row)

    def add(self, table: str, columns: Sequence[str], rows: Iterable[Row]) -> None:
        marks = ", ".join("?" * len(columns))
        self.connection.executemany(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})", rows)  # noqa: S608


@contextmanager
def new_file(home: Path) -> Iterator[FileContents]:
    """Create the store of `home`, to be filled in the body; at its end the file is there, or else it never was.

    Raises StoreDamaged, sqlite3.Error and OSError.
    """
    path = home / _UNFINISHED
    _remove(path)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    try:
        with closing(connect(path)) as connection:
            lay_out(connection)
            connection.execute("PRAGMA synchronous = OFF")  # the whole file is put on the disk below
            migrate(connection, path)
            connection.execute("BEGIN IMMEDIATE")
            yield FileContents(connection)
            connection.execute("UPDATE store SET id = lower(hex(randomblob(16))), sequence = 1")
            connection.execute("COMMIT")
            if verdict := check(connection):
                raise StoreDamaged(path, verdict)
            mark = mark_of(connection)
        _put_in_place(path, home, mark or Mark("", 0))
    finally:
        _remove(path)


def is_taken(home: Path) -> bool:
    """Return True if there is a store in `home`, or a part of one."""
    return any((home / name).exists() for name in WITH_LOG)


def copy(source: Contents, target: Contents, say: Say) -> int:
    """Copy all content, compare it, and build the search index of the copy. Returns the number of rows.

    Tables of plugins are made first, from what the source has recorded, so no plugin has to be there for it. Raises
    ContentsDiffer.
    """
    copied = 0
    for each in recorded(source.connection):
        make(target.connection, each, target.dialect)
    for table, columns in _tables(source).items():
        copied += _copy_table(source, target, table, columns, say)
    forget(target.connection)
    _index(target.connection, say)
    return copied


def are_equal(one: Contents, other: Contents) -> bool:
    """Return True if both have the same content."""
    tables = _tables(one)
    return tables == _tables(other) and all(
        _fingerprint(one, table, columns) == _fingerprint(other, table, columns) for table, columns in tables.items()
    )


def _copy_table(source: Contents, target: Contents, table: str, columns: Sequence[str], say: Say) -> int:
    (total,) = source.connection.execute(f"SELECT count(*) FROM {table}").fetchone()  # noqa: S608
    target.connection.execute(f"DELETE FROM {table}")  # noqa: S608 - the schema begins some tables with a row
    read = Fingerprint()
    target.add(table, columns, _told(read.seen(source.rows(_select(table, columns))), table, total, say))
    found = _fingerprint(target, table, columns)
    if found != read or read.count != total:
        raise ContentsDiffer(table, read, found)
    if total:
        say(f"{table}: {total:,} {'row' if total == 1 else 'rows'} copied and compared")
    return read.count


def _tables(contents: Contents) -> dict[str, list[str]]:
    """Return the columns of the content by table. They are read from the database: no list can miss a new table."""
    tables = defaultdict[str, list[str]](list)
    for table, column in contents.columns():
        if table not in NO_CONTENT and column not in OWN.get(table, ()):
            tables[table].append(column)
    return dict(tables)


def _fingerprint(contents: Contents, table: str, columns: Sequence[str]) -> Fingerprint:
    fingerprint = Fingerprint()
    for _ in fingerprint.seen(contents.rows(_select(table, columns))):
        pass
    return fingerprint


def _select(table: str, columns: Sequence[str]) -> str:
    return f"SELECT {', '.join(columns)} FROM {table}"  # noqa: S608


def _told(rows: Iterable[Row], table: str, total: int, say: Say) -> Iterator[Row]:
    """Yield the rows, and tell how many of them there were every two seconds."""
    told = time.monotonic()
    for number, row in enumerate(rows):
        if time.monotonic() - told > SAY_EVERY:
            told = time.monotonic()
            say(f"{table}: {number:,} of {total:,} rows")
        yield row


def _index(connection: Connection, say: Say) -> None:
    told = time.monotonic()
    while index_older(connection):
        if time.monotonic() - told > SAY_EVERY:
            told = time.monotonic()
            (left,) = connection.execute("SELECT before FROM search_progress").fetchone()
            say(f"search index: {left:,} messages left")


def _put_in_place(path: Path, home: Path, mark: Mark) -> None:
    """Move a finished store into its place. The side file is first: a store that is missing is noticed at a start."""
    for file in (path, home):
        handle = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
    write_mark(home, mark)
    path.rename(home / FILE)


def _remove(path: Path) -> None:
    for file in (path, path.with_name(f"{path.name}-journal")):
        file.unlink(missing_ok=True)
