"""An SQLite connection on a thread of its own. Whole pieces of work go there: each crossing costs more than a query."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")
Work = Callable[[sqlite3.Connection], T]


class Database:
    """Does one piece of work after the other."""

    def __init__(self, path: Path, thread: ThreadPoolExecutor, connection: sqlite3.Connection) -> None:
        self.path = path
        self._thread = thread
        self._connection = connection

    @classmethod
    @asynccontextmanager
    async def open(cls, path: Path) -> AsyncIterator["Database"]:
        """What is committed is on disk, whatever happens to the process or the power. Raises sqlite3.Error."""
        loop = asyncio.get_running_loop()
        with ThreadPoolExecutor(1, thread_name_prefix=path.stem) as thread:
            connection = await loop.run_in_executor(thread, _connect, path)
            try:
                yield cls(path, thread, connection)
            finally:
                thread.submit(connection.close)

    async def run(self, work: Work[T]) -> T:
        """Give the work the connection; raises what the work raises. A caller that is cancelled does not stop it."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, work, self._connection)


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, cached_statements=256)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA busy_timeout = 10000")
    except sqlite3.Error:
        connection.close()
        raise
    return connection
