"""APScheduler wakes whoever looks what is due, at the moment of the next job. It knows no job: the table does.

It goes by the date, and sleeps for a day where somebody sets that back for a day; so there is a look every now and then
as well, by a clock that nobody sets. That finds what a sleeping machine has missed, too.

Imported by its name, when the channels are on their way: it takes a third of a second, which no start should.
"""

import asyncio
from contextlib import suppress
from datetime import UTC, datetime, timedelta

import structlog
from apscheduler.schedulers.asyncio import AsyncIOScheduler
from apscheduler.triggers.date import DateTrigger

from agent_core.clock import Clock
from gateway.jobs.wakes import Wakes

_NEXT = "next"
_HOW = {"misfire_grace_time": None, "coalesce": True, "max_instances": 1}
LONGEST = 24 * 3600.0
"""Seconds to the next job; what is later is found by a look in between, and may be no date."""

log = structlog.get_logger(__name__)


class Waker:
    """Wakes until it is cancelled."""

    def __init__(self, wakes: Wakes, clock: Clock, look_every: float) -> None:
        """`look_every`: seconds between two looks at most."""
        self._wakes = wakes
        self._clock = clock
        self._look_every = look_every
        self._wanted = asyncio.Event()
        self._scheduler = AsyncIOScheduler(timezone=UTC, job_defaults=_HOW)

    async def run(self) -> None:
        self._scheduler.start()
        self._wakes.wake = self._wanted.set
        try:
            while True:
                self._wanted.clear()
                await self._look()
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._wanted.wait(), self._look_every)
        finally:
            self._wakes.wake = None
            self._scheduler.shutdown(wait=False)

    async def _look(self) -> None:
        """Whatever goes wrong in it: the next look is not to be missed."""
        looking = asyncio.create_task(self._look_and_plan(), name="look what is due")
        try:
            await asyncio.wait([looking])
        finally:
            looking.cancel()
        if error := looking.exception():
            log.error("a look at what is due failed; there is another one soon", exc_info=error)

    async def _look_and_plan(self) -> None:
        await self._wakes.look()
        at = await self._wakes.next_due()
        if at is not None:
            # The house may have another clock than the scheduler.
            wait = min(LONGEST, max(0.0, at - self._clock.time()))
            trigger = DateTrigger(datetime.now(UTC) + timedelta(seconds=wait))
            self._scheduler.add_job(self._wake, trigger, id=_NEXT, replace_existing=True)

    async def _wake(self) -> None:
        self._wanted.set()
