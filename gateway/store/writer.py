"""The one writer of the database: what is asked for at the same time is committed at the same time.

A commit to disk costs the same for one change as for a hundred, so the writer takes all that waits into one
transaction. A change is on disk when its `await` returns.

A disk that takes nothing, because it is full, say, is waited for: what has been said must not be forgotten, and nothing
later may be written before it. Only impatient changes fail then, and at once, so that no new events are taken in.
"""

import asyncio
import contextlib
import sqlite3
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import structlog

from channels.base import NotTakenIn
from gateway.store.database import Database

T = TypeVar("T")
Change = Callable[[sqlite3.Connection], T]

DISK_TROUBLE = frozenset(
    {
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_NOMEM,
        sqlite3.SQLITE_READONLY,
    }
)
"""What may pass without anybody changing the program. The low byte of an error code is its kind."""
MOST_TOGETHER = 256
TRY_AGAIN_EVERY = 1.0
"""Seconds."""
LATER = 0.05
"""Seconds for which a change that nobody waits for waits for one that is urgent."""

log = structlog.get_logger(__name__)


class StoreUnavailable(NotTakenIn):
    """The disk takes nothing at the moment, or the store is closed."""


@dataclass(frozen=True)
class _Job:
    change: Change[object]
    future: "asyncio.Future[object]"
    patient: bool


class Writer:
    """Owns the connection that writes."""

    def __init__(self, database: Database, *, try_again_every: float = TRY_AGAIN_EVERY) -> None:
        self._database = database
        self._try_again_every = try_again_every
        self._jobs: deque[_Job] = deque()
        self._alone: deque[_Job] = deque()
        """Those of a batch that failed; they come before the others."""
        self._wanted = asyncio.Event()
        self._timer: asyncio.TimerHandle | None = None
        self._closing = asyncio.Event()
        self._trouble: str | None = None
        """Why the disk takes nothing, while a change waits for it."""
        self._task = asyncio.create_task(self._run(), name="store writer")

    def submit(self, change: Change[T], *, patient: bool = True, later: bool = False) -> "asyncio.Future[T]":
        """Queue a change; changes are made in the order of these calls. One for `later` goes with the next urgent one.

        The future fails where the change failed, and with StoreUnavailable where it was not to wait for the disk.
        Nobody has to look at it: a failure is logged.
        """
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        job = _Job(change, future, patient)  # type: ignore[arg-type]
        if self._closing.is_set():
            _fail(job, StoreUnavailable("the store is closed"))
        elif self._trouble is not None and not patient:
            _fail(job, StoreUnavailable(self._trouble))
        else:
            self._jobs.append(job)
            self._want(later=later)
        return future

    def _want(self, *, later: bool) -> None:
        if not later:
            self._wanted.set()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(LATER, self._wanted.set)

    async def close(self) -> None:
        """Write what waits, then stop."""
        self._closing.set()
        self._wanted.set()
        await self._task

    async def _run(self) -> None:
        while self._jobs or not self._closing.is_set():
            await self._wanted.wait()
            batch = [self._jobs.popleft() for _ in range(min(MOST_TOGETHER, len(self._jobs)))]
            if not self._jobs:
                self._rest()
            if batch and await self._commit(batch) is not None:
                # One of them failed; alone, each gets its own outcome.
                self._alone.extend(batch)
                while self._alone:
                    await self._commit_alone(self._alone.popleft())

    def _rest(self) -> None:
        """Nothing waits now."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if not self._closing.is_set():
            self._wanted.clear()

    async def _commit_alone(self, job: _Job) -> None:
        """Once, or, where the disk is the reason and the change patient, until it works."""
        while (error := await self._commit([job])) is not None:
            if not _passes(error):
                log.error("a change could not be written", exc_info=error)
                _fail(job, error)
                break
            if not job.patient or self._closing.is_set():
                _fail(job, StoreUnavailable(str(error)))
                break
            await self._wait_for_the_disk(str(error))
        if self._trouble is not None:
            log.info("the store is written again")
            self._trouble = None

    async def _wait_for_the_disk(self, trouble: str) -> None:
        if self._trouble is None:
            log.error("the store cannot be written; no new events are taken in until it can", reason=trouble)
        self._trouble = trouble
        self._alone = _patient(self._alone, trouble)
        self._jobs = _patient(self._jobs, trouble)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._closing.wait(), self._try_again_every)

    async def _commit(self, batch: list[_Job]) -> Exception | None:
        """Make the changes in one transaction; else say what failed, with nothing changed and the futures open."""
        try:
            results = await self._database.run(partial(_together, changes=[job.change for job in batch]))
        except (sqlite3.Error, ValueError, OverflowError) as error:
            return error
        for job, result in zip(batch, results, strict=True):
            # Nobody may wait any more: a cancelled caller does not take its change back.
            if not job.future.done():
                job.future.set_result(result)
        return None


def _together(connection: sqlite3.Connection, changes: Sequence[Change[object]]) -> list[object]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        results = [change(connection) for change in changes]
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
    return results


def _patient(jobs: deque[_Job], trouble: str) -> deque[_Job]:
    """Those that wait for the disk; the others fail."""
    for job in jobs:
        if not job.patient:
            _fail(job, StoreUnavailable(trouble))
    return deque(job for job in jobs if job.patient)


def _fail(job: _Job, error: Exception) -> None:
    if not job.future.done():
        job.future.set_exception(error)
        job.future.exception()  # looked at, so that asyncio does not complain where nobody awaits it


def _passes(error: Exception) -> bool:
    """Errors of the module itself, such as a closed connection, have no code."""
    code: int = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    return code & 0xFF in DISK_TROUBLE
