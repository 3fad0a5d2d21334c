"""The one writer of the database: what is asked for at the same time is committed at the same time.

A commit to disk costs the same for one change as for a hundred, so the writer takes all that waits into one
transaction. A change is on disk when its `await` returns.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import aiosqlite

T = TypeVar("T")
Change = Callable[[aiosqlite.Connection], Awaitable[T]]

MOST_TOGETHER = 256


class Writer:
    """Owns the writing connection."""

    def __init__(self, connection: aiosqlite.Connection) -> None:
        self._connection = connection
        self._queue: asyncio.Queue[tuple[Change[object], asyncio.Future[object]] | None] = asyncio.Queue()
        self._task = asyncio.create_task(self._run(), name="store writer")

    def submit(self, change: Change[T]) -> "asyncio.Future[T]":
        """Queue a change; changes are made in the order of these calls. The future fails where the change failed."""
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._queue.put_nowait((change, future))  # type: ignore[arg-type]
        return future

    async def close(self) -> None:
        """Write what waits, then stop."""
        self._queue.put_nowait(None)
        await self._task

    async def _run(self) -> None:
        open_ = True
        while open_:
            batch = [await self._queue.get()]
            while len(batch) < MOST_TOGETHER and not self._queue.empty():
                batch.append(self._queue.get_nowait())
            changes = [item for item in batch if item is not None]
            open_ = len(changes) == len(batch)
            if not await self._commit(changes) and len(changes) > 1:
                # One of them failed; alone, each gets its own outcome.
                for change in changes:
                    await self._commit([change])

    async def _commit(self, batch: list[tuple[Change[object], asyncio.Future[object]]]) -> bool:
        """Make the changes in one transaction; False, with the futures open, where a batch of several failed."""
        if not batch:
            return True
        try:
            await self._connection.execute("BEGIN IMMEDIATE")
            results = [await change(self._connection) for change, _ in batch]
            await self._connection.execute("COMMIT")
        except (aiosqlite.Error, ValueError) as error:
            if self._connection.in_transaction:
                await self._connection.execute("ROLLBACK")
            if len(batch) == 1:
                _settle(batch[0][1], error=error)
            return False
        for (_, future), result in zip(batch, results, strict=True):
            _settle(future, result=result)
        return True


def _settle(future: "asyncio.Future[object]", *, result: object = None, error: Exception | None = None) -> None:
    """Nobody may wait any more: a cancelled caller does not take its change back."""
    if future.done():
        return
    if error is not None:
        future.set_exception(error)
    else:
        future.set_result(result)
