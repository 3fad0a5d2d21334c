"""The timer of the scheduler: it ticks when the next job is due, and at regular intervals.

It wakes up at the time of the next job by APScheduler. That goes by the wall clock and would oversleep if that were set
back, so there are regular ticks by the monotonic clock as well; they also catch up after the machine was suspended.
APScheduler holds only the next wake-up; the jobs are in the store.

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
AGAIN_AFTER = 5.0
"""Seconds after which a tick that failed is made again."""

log = structlog.get_logger(__name__)


class Timer:
    """Ticks when the next job is due, and at regular intervals, until it is cancelled."""

    def __init__(
        self,
        tick: Callable[[], Awaitable[None]],
        next_due: Callable[[], Awaitable[float | None]],
        planned: asyncio.Event,
        clock: Clock,
        most: float,
    ) -> None:
        """Create a timer.

        Args:
            tick: Does what is due.
            next_due: Returns when something is due next, in seconds since the epoch.
            planned: Set when something may be due earlier than before.
            most: Seconds at most between two ticks.
        """
        self._tick = tick
        self._next_due = next_due
        self._planned = planned
        self._clock = clock
        self._most = most
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
                wait = self._most if await self._is_done() else min(self._most, AGAIN_AFTER)
                with suppress(TimeoutError):
                    async with asyncio.timeout(wait):
                        await self._planned.wait()
        finally:
            self._scheduler.shutdown(wait=False)

    async def _is_done(self) -> bool:
        """Run one tick. Return False after an error in it, which is logged and does not prevent the next one."""
        ticking = asyncio.create_task(self._tick_and_plan(), name="fire due jobs")
        try:
            await asyncio.wait([ticking])
        finally:
            ticking.cancel()
            await asyncio.wait([ticking])  # no other node may begin before that
        if error := ticking.exception():
            log.error("a tick of the scheduler failed; the next one follows soon", exc_info=error)
        return error is None

    async def _tick_and_plan(self) -> None:
        await self._tick()
        at = await self._next_due()
        if at is not None:
            # The application may use another clock than the scheduler.
            wait = min(LONGEST, max(0.0, at - self._clock.time()))
            # without an explicit zone it would open a file
            trigger = DateTrigger(datetime.now(UTC) + timedelta(seconds=wait), timezone=UTC)
            self._scheduler.add_job(self._planned.set, trigger, id=_NEXT, replace_existing=True)
