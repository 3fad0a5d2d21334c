"""Wakes the check for due jobs at the time of the next one, by APScheduler, and at regular intervals.

APScheduler goes by the wall clock and would oversleep if that were set back, so there are regular checks by the
monotonic clock as well; they also catch up after the machine was suspended. APScheduler holds only the next wake-up;
the jobs are in the store.

Everything it needs is imported at start-up, as a later import fails when the process is out of file descriptors.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta

import structlog
from apscheduler.executors.debug import DebugExecutor
from apscheduler.jobstores.memory import MemoryJobStore
from apscheduler.schedulers.asyncio import AsyncIOScheduler
from apscheduler.triggers.date import DateTrigger

from agent_core.clock import Clock

_NEXT = "next"
_HOW = {"misfire_grace_time": None, "coalesce": True, "max_instances": 1}
LONGEST = 24 * 3600.0
"""Seconds; a later wake-up is not scheduled, as the regular checks will find it (and it may not be a valid date)."""

log = structlog.get_logger(__name__)


class Waker:
    """Runs until it is cancelled."""

    def __init__(
        self,
        tick: Callable[[], Awaitable[None]],
        next_due: Callable[[], Awaitable[float | None]],
        planned: asyncio.Event,
        clock: Clock,
        look_every: float,
    ) -> None:
        """Create a waker.

        Args:
            tick: Does what is due.
            next_due: Returns when something is due next, in seconds since the epoch.
            planned: Set when something may be due earlier than before.
            look_every: Most seconds between two ticks.
        """
        self._tick = tick
        self._next_due = next_due
        self._planned = planned
        self._clock = clock
        self._look_every = look_every
        self._scheduler = AsyncIOScheduler(
            timezone=UTC,
            job_defaults=_HOW,
            # calls at once; in a task of its own the call could still be waiting at the end, which logs a traceback
            executors={"default": DebugExecutor()},
            jobstores={"default": MemoryJobStore()},
        )

    async def run(self) -> None:
        self._scheduler.start()
        try:
            while True:
                self._planned.clear()
                await self._look()
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._planned.wait(), self._look_every)
        finally:
            self._scheduler.shutdown(wait=False)

    async def _look(self) -> None:
        """Run one check; an error in it is logged and does not prevent the next one."""
        looking = asyncio.create_task(self._look_and_plan(), name="look what is due")
        try:
            await asyncio.wait([looking])
        finally:
            looking.cancel()
        if error := looking.exception():
            log.error("a look at what is due failed; there is another one soon", exc_info=error)

    async def _look_and_plan(self) -> None:
        await self._tick()
        at = await self._next_due()
        if at is not None:
            # The application may use another clock than the scheduler.
            wait = min(LONGEST, max(0.0, at - self._clock.time()))
            # without an explicit zone it would open a file
            trigger = DateTrigger(datetime.now(UTC) + timedelta(seconds=wait), timezone=UTC)
            self._scheduler.add_job(self._planned.set, trigger, id=_NEXT, replace_existing=True)
