"""Tasks that run beside their owner."""

import asyncio
from collections.abc import Coroutine
from typing import TypeVar

import structlog

log = structlog.get_logger(__name__)

T = TypeVar("T")


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
