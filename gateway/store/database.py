"""An SQLite connection on aiosqlite's thread. Whole pieces of work go there: each crossing costs more than a query."""

import asyncio
import os
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TypeVar

import aiosqlite

from gateway.private_files import is_open_to_others

T = TypeVar("T")
Work = Callable[[sqlite3.Connection], T]


class Database(aiosqlite.Connection):
    """Does one piece of work after the other."""

    @classmethod
    @asynccontextmanager
    async def open(cls, path: Path) -> AsyncIterator["Database"]:
        """What is committed is on disk, whatever happens to the process or the power. Raises sqlite3.Error."""
        async with cls(lambda: _connect(path), iter_chunk_size=64) as database:
            yield database

    async def __aenter__(self) -> "Database":
        try:
            await super().__aenter__()
        except sqlite3.Error:
            # The thread still answers then, and must not find that the loop is gone.
            await asyncio.to_thread(self._thread.join)
            raise
        return self

    async def run(self, work: Work[T]) -> T:
        """Give the work the connection; raises what the work raises. A caller that is cancelled does not stop it."""
        on_the_thread: Callable[[Work[T], sqlite3.Connection], Awaitable[T]] = self._execute
        return await on_the_thread(work, self._conn)


def _connect(path: Path) -> sqlite3.Connection:
    _make_private(path)
    connection = sqlite3.connect(path, isolation_level=None, cached_statements=256)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA busy_timeout = 10000")
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _make_private(path: Path) -> None:
    """The file, made where it is missing, is for us alone, and so is the log beside it. What cannot be done here is
    told by SQLite, or by the doctor.

    One that is there is not opened: to close it would take from us every lock that another connection of ours has on
    it, and whoever looks into the file then from outside would, on leaving, delete the log that we write to.
    """
    with suppress(OSError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    with suppress(OSError):
        for file in (path, *(path.with_name(f"{path.name}{end}") for end in ("-wal", "-shm"))):
            if is_open_to_others(file):
                file.chmod(0o600)
