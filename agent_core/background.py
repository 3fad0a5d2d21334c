"""Tasks that run beside their owner, and waiting for them."""

import asyncio
from collections.abc import Callable, Coroutine, Hashable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import TypeVar

import structlog

from agent_core.clock import Clock, SystemClock

log = structlog.get_logger(__name__)

T = TypeVar("T")
ENDS_WITHIN = 5.0
"""Seconds for work to end when its caller is cancelled."""


class Background:
    """A group of tasks that run beside their owner. One that fails is logged and does not affect the others."""

    def __init__(self, failed: str) -> None:
        """`failed` is the log message for a task that fails."""
        self._failed = failed
        self._tasks: set[asyncio.Task[object]] = set()

    def start(self, work: Coroutine[object, object, T], name: str | None = None) -> asyncio.Task[T]:
        """Run `work` in a task of this name, and return the task."""
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    @property
    def is_idle(self) -> bool:
        return not self._tasks

    async def join(self) -> None:
        """Wait until no task is left, including those that are started meanwhile."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def stop(self) -> None:
        """Cancel every task, and wait until they have ended."""
        while self._tasks:
            for task in self._tasks:
                task.cancel()
            await asyncio.wait(self._tasks)

    def _done(self, task: asyncio.Task[object]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()):
            log.error(self._failed, task=task.get_name(), exc_info=error)


class UnderWay:
    """Operations in progress, any number for each key."""

    def __init__(self) -> None:
        self._over: dict[Hashable, set[asyncio.Future[None]]] = {}
        self.keys = self._over.keys()
        """The keys with operations in progress."""

    def begin(self, key: Hashable) -> Callable[[], None]:
        """Count an operation as in progress. Return what ends it, which may be called again."""
        over = asyncio.get_running_loop().create_future()
        others = self._over.setdefault(key, set())
        others.add(over)
        return partial(self._end, key, others, over)

    @contextmanager
    def begun(self, key: Hashable) -> Iterator[None]:
        """Count an operation as in progress while the context is entered."""
        end = self.begin(key)
        try:
            yield
        finally:
            end()

    async def over(self, key: Hashable, patience: float) -> None:
        """Wait until the operations now in progress are over, for `patience` seconds at most."""
        if under_way := self._over.get(key):
            await asyncio.wait(under_way, timeout=patience)

    def _end(self, key: Hashable, others: "set[asyncio.Future[None]]", over: "asyncio.Future[None]") -> None:
        if not over.done():
            over.set_result(None)
            others.discard(over)
            if not others:
                del self._over[key]


@contextmanager
def staying() -> Iterator[None]:
    """Let what would end the program fail instead: in a task, a SystemExit stops the event loop.

    Raises RuntimeError for it.
    """
    try:
        yield
    except SystemExit as error:
        raise RuntimeError(f"it would have ended the program: SystemExit {error}") from error


async def _staying(work: Coroutine[object, object, T]) -> T:
    with staying():
        return await work


async def done_within(work: Coroutine[object, object, T], seconds: float, clock: Clock) -> T:
    """Return what `work` returns, within `seconds` by the clock. Raises TimeoutError, and then does not wait for it.

    If the caller is cancelled, `work` is cancelled too, and has a moment to come to its end. If it would end the
    program, that is a RuntimeError.
    """
    task, sleeping = asyncio.ensure_future(_staying(work)), asyncio.ensure_future(clock.sleep(seconds))
    try:
        await asyncio.wait((task, sleeping), return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
    except asyncio.CancelledError:
        task.cancel()
        await asyncio.wait((task,), timeout=ENDS_WITHIN)
        raise
    finally:
        sleeping.cancel()
        if not task.done():
            task.add_done_callback(_look_at)
            task.cancel()
    raise TimeoutError(f"it took more than {seconds:g} s")


def _look_at(task: "asyncio.Task[object]") -> None:
    """Take note of how a task ended, so that asyncio does not complain that nobody did."""
    if not task.cancelled():
        task.exception()


async def finished(work: Callable[[], T]) -> T:
    """Return what `work` returns, which blocks and runs in a thread.

    A caller that is cancelled is so once the work has come to its end.
    """
    task = asyncio.ensure_future(asyncio.to_thread(work))
    is_cancelled = False
    while not task.done():
        try:
            await asyncio.wait((task,))
        except asyncio.CancelledError:
            is_cancelled = True
    done = task.result()
    if is_cancelled:
        raise asyncio.CancelledError
    return done


async def set_within(event: asyncio.Event, seconds: float, clock: Clock) -> bool:
    """Wait until the event is set, at most `seconds` by the clock. Return True if it is set."""
    if event.is_set():
        return True
    if type(clock) is SystemClock:  # whose time is that of the event loop, so that no tasks are needed
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await event.wait()
        return event.is_set()
    waiting, sleeping = asyncio.ensure_future(event.wait()), asyncio.ensure_future(clock.sleep(seconds))
    try:
        await asyncio.wait((waiting, sleeping), return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (waiting, sleeping):
            task.cancel()
        await asyncio.gather(waiting, sleeping, return_exceptions=True)
    return event.is_set()
