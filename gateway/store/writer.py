"""The only writer of the database, with group commit.

A commit costs the same for one change as for a hundred, so all queued changes go into one transaction. A change is on
disk when its `await` returns.

If the disk takes no writes (because it is full, say), the writer waits: accepted messages must not be lost, and nothing
later may be written before them. Only impatient changes fail, and at once, so that no new events are accepted.
"""

import asyncio
import os
import shutil
import sqlite3
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TypeVar

import structlog
from msgspec import Struct

from channels.base import NotTakenIn
from gateway.errors import is_machine_trouble
from gateway.store.connection import CommitUnknown, Connection, Fence, Fenced, Writes
from gateway.store.side_file import MarkKeeper, Numbering
from gateway.store.signals import NoSignals, Signals

T = TypeVar("T")
Change = Callable[[Connection], T]

MOST_TOGETHER = 256
TRY_AGAIN_EVERY = 1.0
"""Seconds."""
BALLAST = "ballast"
"""The file's name."""
REMEMBERED = 10.0
"""Seconds for which a refused change counts as a sign that the disk takes no writes, unless it has taken one since."""
LATER = 0.05
"""Seconds that a `later` change may wait for an urgent one."""
SHARE, MOST = 0.1, 0.1
"""Between two commits in a row the second waits for this share of the time that the first took, and at most so many
seconds. What others do with the first is then in the second, not in a third."""

log = structlog.get_logger(__name__)


class Outdated(ValueError):
    """A change was based on rows that another node has changed since. Nothing was written."""


class StoreUnavailable(NotTakenIn):
    """The disk takes no writes at the moment, or the store is closed."""


STORE_ERRORS = (StoreUnavailable, sqlite3.Error)
"""The errors of a store that cannot be written, or not be read, at the moment."""


class WriterFenced(StoreUnavailable):
    """This node was fenced, so its writer is closed for good."""

    def __init__(self) -> None:
        super().__init__(str(Fenced()))


class Ballast:
    """The placeholder file in the home folder.

    All methods block. None of them raises: the store works without the file.
    """

    def __init__(self, home: Path, size: int) -> None:
        """`size` is in bytes; 0 disables the file."""
        self._file = home / BALLAST
        self._size = size

    def create(self) -> None:
        """Create the file if three times its size is free, so that it never fills the disk itself."""
        with suppress(OSError):
            if self._size and not self._exists() and shutil.disk_usage(self._file.parent).free > 3 * self._size:
                handle = os.open(self._file, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
                try:
                    os.posix_fallocate(handle, 0, self._size)
                finally:
                    os.close(handle)

    def delete(self) -> bool:
        """Delete the file to free its space. Returns True if there was a file to delete."""
        with suppress(OSError):
            self._file.unlink()
            log.error("the disk is full: the reserve file was deleted; make room and restart to create it again")
            return True
        return False

    def _exists(self) -> bool:
        try:
            return self._file.stat().st_blocks * 512 >= self._size
        except OSError:
            return False


class _Job(Struct, frozen=True):
    change: Change[object]
    future: "asyncio.Future[object]"
    patient: bool


class Writer:
    """Queues changes and commits them together on the writing connection."""

    def __init__(
        self,
        database: Writes,
        *,
        mark: MarkKeeper | None = None,
        try_again_every: float = TRY_AGAIN_EVERY,
        make_room: Callable[[], bool] = lambda: False,
        fence: Fence | None = None,
        signals: Signals | None = None,
    ) -> None:
        """`mark` is told each commit; None: commits are not counted. `fence` is told when nothing may be written, and
        `signals` tell other nodes of changes.

        `make_room` frees space on a full disk and returns True if it could; it blocks.
        """
        self._make_room = make_room
        self.database = database
        """For work that cannot be part of a transaction, such as a VACUUM."""
        self.signals = signals or NoSignals()
        self._mark = mark
        self._numbering = Numbering()
        self._fence = fence
        self._is_fenced = False
        self._try_again_every = try_again_every
        self._jobs: deque[_Job] = deque()
        self._alone: deque[_Job] = deque()
        """Changes of a failed batch, to be committed one by one before all others."""
        self._wanted = asyncio.Event()
        self._timer: asyncio.TimerHandle | None = None
        self._closing = asyncio.Event()
        self._trouble: str | None = None
        """The reason why the disk takes no writes, while a change waits for it."""
        self._refused: tuple[str, float] | None = None
        """Why the disk has just refused a change, and when by the event loop's clock."""
        self._task = asyncio.create_task(self._run(), name="store writer")

    def submit(self, change: Change[T], *, patient: bool = True, later: bool = False) -> "asyncio.Future[T]":
        """Queue a change; changes are made in the order of these calls. A `later` change joins the next urgent one.

        The future fails if the change fails, or with StoreUnavailable if an impatient change would have to wait for the
        disk. It need not be awaited.
        """
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        job = _Job(change, future, patient)  # type: ignore[arg-type]
        if self._closing.is_set():
            _fail(job, StoreUnavailable("the store is closed"))
        elif self._is_fenced:
            _fail(job, WriterFenced())
        elif self._trouble is not None and not patient:
            _fail(job, StoreUnavailable(self._trouble))
        else:
            self._jobs.append(job)
            if not later:
                self._wanted.set()
            elif self._timer is None:
                self._timer = asyncio.get_running_loop().call_later(LATER, self._wanted.set)
        return future

    async def check(self) -> None:
        """Commit a transaction that changes nothing.

        Raises StoreUnavailable if the disk takes no writes, or has just refused one.

        A full disk may refuse what needs room, and take what needs none.
        """
        if self._refused is not None:
            reason, at = self._refused
            if asyncio.get_running_loop().time() - at < REMEMBERED:
                raise StoreUnavailable(reason)
        self._numbering = Numbering()  # numbering is what it writes
        await self.submit(lambda _: None, patient=False)

    async def close(self) -> None:
        """Write the queued changes, then stop."""
        self._closing.set()
        self._wanted.set()
        await self._task

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        while self._jobs or not self._closing.is_set():
            await self._wanted.wait()
            began = loop.time()
            batch = [*islice(self._jobs, MOST_TOGETHER)]
            for _ in batch:
                self._jobs.popleft()
            if not self._jobs:
                self._wanted.clear()
                if self._timer is not None:
                    self._timer.cancel()
                    self._timer = None
            if batch and await self._commit(batch) is not None:
                # One of them failed; committed alone, each gets its own result.
                self._alone.extend(batch)
                while self._alone:
                    await self._commit_alone(self._alone.popleft())
            if self._wanted.is_set() and not self._closing.is_set():
                await asyncio.sleep(min((loop.time() - began) * SHARE, MOST))

    async def _commit_alone(self, job: _Job) -> None:
        """Commit a change; on a disk error, a patient one is tried until it works."""
        while (error := await self._commit([job])) is not None:
            if not may_pass(error):
                if not isinstance(error, Outdated):
                    log.error("a change could not be written", exc_info=error)
                _fail(job, error)
                break
            if _is_in_each_others_way(error):
                continue
            if _is_full(error) and await asyncio.to_thread(self._make_room):
                continue
            self._refuse(str(error))
            if not job.patient or self._closing.is_set():
                _fail(job, StoreUnavailable(str(error)))
                break
            await self._wait_for_the_disk(str(error))
        self._trouble = None

    def _refuse(self, trouble: str) -> None:
        if self._refused is None:
            log.error("the store cannot be written; no new events are accepted until it can", reason=trouble)
        self._refused = trouble, asyncio.get_running_loop().time()

    async def _wait_for_the_disk(self, trouble: str) -> None:
        self._trouble = trouble
        self._alone = _patient(self._alone, trouble)
        self._jobs = _patient(self._jobs, trouble)
        with suppress(TimeoutError):
            async with asyncio.timeout(self._try_again_every):
                await self._closing.wait()

    async def _commit(self, batch: list[_Job]) -> Exception | None:
        """Commit changes in one transaction. Returns the error, if any; then nothing is changed and no future done."""
        changes = [job.change for job in batch]
        try:
            if self._mark is None:
                results = await self._made(changes)
            else:
                *results, sequence = await self._made([*changes, self._numbering])
                if isinstance(sequence, int):
                    self._mark.committed(sequence)
        except Fenced:
            self._fail_all([*batch, *self._alone, *self._jobs])
            return None
        except Exception as error:  # noqa: BLE001 (a mistake of one change ends neither the others nor the writer)
            return error
        if self._refused is not None:
            log.info("the store can be written again")
            self._refused = None
        for job, result in zip(batch, results, strict=True):
            # The caller may have been cancelled; its change is kept.
            if not job.future.done():
                job.future.set_result(result)
        return None

    def _fail_all(self, jobs: Sequence[_Job]) -> None:
        """Fail all changes for good: this process was fenced."""
        self._is_fenced = True
        self._alone.clear()
        self._jobs.clear()
        for job in jobs:
            _fail(job, WriterFenced())
        if self._fence is not None:
            self._fence.mark_fenced()

    async def _made(self, changes: Sequence[Change[object]]) -> list[object]:
        """Make changes in one transaction. If the answer is lost, the database is asked until it tells what it did."""
        try:
            return await self.database.run(partial(_together, changes=changes))
        except CommitUnknown as unknown:
            if not await self._was_made(unknown):
                raise
            return unknown.results

    async def _was_made(self, unknown: CommitUnknown) -> bool:
        was_made = None
        while was_made is None and not self._closing.is_set():
            try:
                was_made = await self.database.run(unknown.was_made)
            except sqlite3.Error as error:
                self._refuse(str(error))
                await self._wait_for_the_disk(str(error))
        if was_made:
            self._trouble = None
        return bool(was_made)


def _together(connection: Connection, changes: Sequence[Change[object]]) -> list[object]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        results = [change(connection) for change in changes]
        try:
            connection.execute("COMMIT")
        except CommitUnknown as unknown:
            unknown.results = results
            raise
    except StopIteration as error:  # no future can tell of it, and the writer would wait for ever
        raise RuntimeError("a change found nothing more") from error
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
    return results


def _patient(jobs: deque[_Job], trouble: str) -> deque[_Job]:
    """Keep the changes that wait for the disk and fail the others."""
    for job in jobs:
        if not job.patient:
            _fail(job, StoreUnavailable(trouble))
    return deque(job for job in jobs if job.patient)


def _fail(job: _Job, error: Exception) -> None:
    if not job.future.done():
        job.future.set_exception(error)
        job.future.exception()  # marks it as retrieved, so that asyncio does not complain if it is not awaited


def _is_full(error: Exception) -> bool:
    """Return True if the disk may be full; some file systems report that to SQLite only as an I/O error."""
    code: int = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    return code & 0xFF in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)


def _is_in_each_others_way(error: Exception) -> bool:
    """Return True if another process wanted the same rows at the same time; the next try finds them free."""
    return getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_BUSY_SNAPSHOT


def may_pass(error: Exception) -> bool:
    """Return True for a condition that may pass without a change of the program."""
    return isinstance(error, NotTakenIn) or is_machine_trouble(error)
