"""An SQLite connection on aiosqlite's thread. Work is sent there in large units: each hop costs more than a query."""

import asyncio
import os
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Self, TypeVar

import aiosqlite

from gateway.security.secrets import is_open_to_others
from gateway.store.file_connection import connect, lay_out

T = TypeVar("T")
Work = Callable[[sqlite3.Connection], T]
PAGES = 256
"""The most pages given back at a time."""
LOG_PAGES = 2000
"""Pages of the write-ahead log that are put in their places together, each once however often it changed."""


class Database(aiosqlite.Connection):
    """An SQLite connection that runs one unit of work after the other."""

    @classmethod
    @asynccontextmanager
    async def open(cls, path: Path) -> AsyncIterator[Self]:
        """Open the database. Committed changes are on disk and survive a crash or a power cut. Raises sqlite3.Error."""
        async with cls(lambda: _connect(path), iter_chunk_size=64) as database:
            yield database

    async def __aenter__(self) -> Self:
        try:
            await super().__aenter__()
        except sqlite3.Error:
            # The thread still has to answer; wait for it, so that it does not find a closed event loop.
            await asyncio.to_thread(self._thread.join)
            raise
        return self

    async def run(self, work: Work[T]) -> T:
        """Run `work` with the connection and return its result. Cancelling the caller does not stop it."""
        on_the_thread: Callable[[Work[T], sqlite3.Connection], Awaitable[T]] = self._execute
        return await on_the_thread(work, self._conn)

    async def give_back_pages(self) -> bool:
        """Return some free pages to the file system. Returns True if there are more.

        Does nothing for a file without incremental vacuum.
        """
        return await self.run(_give_back_pages)

    async def scrub(self) -> None:
        """Rewrite the file without the remains of deleted rows, and empty the write-ahead log.

        Raises sqlite3.Error, for example if there is no room for a copy.
        """
        await self.run(_scrub)

    async def rewrite(self) -> list[str]:
        """Do nothing: `scrub` has rewritten the file."""
        return []


class Reader(Database):
    """A connection that reads. Each unit of work sees the database as of one moment, however many queries it makes."""

    async def run(self, work: Work[T]) -> T:
        return await super().run(partial(_in_snapshot, work))

    async def query(self, work: Work[T]) -> T:
        """Run work that makes one query only."""
        return await super().run(work)


def _in_snapshot(work: Work[T], connection: sqlite3.Connection) -> T:
    connection.execute("BEGIN")
    try:
        return work(connection)
    finally:
        connection.rollback()  # nothing was written


def _give_back_pages(connection: sqlite3.Connection) -> bool:
    (is_incremental,) = connection.execute("PRAGMA auto_vacuum").fetchone()
    if not is_incremental:
        return False
    connection.execute(f"PRAGMA incremental_vacuum({PAGES})").fetchall()
    (free,) = connection.execute("PRAGMA freelist_count").fetchone()
    return bool(free)


def _scrub(connection: sqlite3.Connection) -> None:
    connection.execute("VACUUM")
    busy, *_ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    if busy:
        raise sqlite3.OperationalError("the write-ahead log is in use")


def _connect(path: Path) -> sqlite3.Connection:
    _make_private(path)
    connection = connect(path, cached_statements=256)
    try:
        lay_out(connection)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute(f"PRAGMA wal_autocheckpoint = {LOG_PAGES}")
        connection.execute("PRAGMA busy_timeout = 10000")
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _make_private(path: Path) -> None:
    """Create the file if it is missing and make it and its write-ahead log accessible to the owner only.

    Failures are ignored here: SQLite or the doctor report them. An existing file is not opened, because closing it
    would drop every lock that this process holds on it (POSIX locks belong to the process, not to the file descriptor);
    another process that reads the store could then delete the log in use.
    """
    with suppress(OSError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    with suppress(OSError):
        for file in (path, *(path.with_name(f"{path.name}{end}") for end in ("-wal", "-shm"))):
            if is_open_to_others(file):
                file.chmod(0o600)
