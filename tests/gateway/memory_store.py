"""A store whose one SQLite database is in memory, for tests that open very many."""

import asyncio
import sqlite3
from typing import TypeVar, cast

from agent_core.clock import Clock, NewId
from gateway.security.secrets import Secrets
from gateway.store.database import Reader, Work
from gateway.store.signals import NoSignals
from gateway.store.store import Store
from gateway.store.writer import Change, Writer
from tests.ready_store import ready

T = TypeVar("T")


class MemoryDatabase:
    """One connection, which reads and writes on the event loop: each change is a transaction of its own.

    It outlives the stores that use it, as a file does; a store over the same database is a restart.
    """

    def __init__(self) -> None:
        self.signals = NoSignals()
        self._connection = sqlite3.connect(":memory:", isolation_level=None, cached_statements=256)
        ready().backup(self._connection)

    def store(self, clock: Clock, new_id: NewId) -> Store:
        return Store(cast(Writer, self), cast(Reader, self), clock, new_id, Secrets())

    def submit(self, change: Change[T], *, patient: bool = True, later: bool = False) -> "asyncio.Future[T]":
        """Make a change when others had their turn, as the writer of a file does; in the order of the calls."""
        del patient, later
        return asyncio.ensure_future(self._commit(change))

    async def _commit(self, change: Change[T]) -> T:
        await asyncio.sleep(0)
        self._connection.execute("BEGIN")
        try:
            result = change(self._connection)
            self._connection.execute("COMMIT")
        finally:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
        return result

    async def run(self, work: Work[T]) -> T:
        await asyncio.sleep(0)
        return work(self._connection)

    async def query(self, work: Work[T]) -> T:
        return await self.run(work)

    def close(self) -> None:
        self._connection.close()
