"""APScheduler wakes whoever looks what is due: at the moment of the next job, and every now and then, for the machine
may sleep and its clock may jump. It knows no job, and what it forgets is in the table.

Imported by its name, when the channels are on their way: it takes a third of a second, which no start should.
"""

import asyncio
from datetime import UTC, datetime, timedelta

import structlog
from apscheduler.schedulers.asyncio import AsyncIOScheduler
from apscheduler.triggers.date import DateTrigger
from apscheduler.triggers.interval import IntervalTrigger

from agent_core.clock import Clock
from gateway.jobs.wakes import Wakes

_NEXT, _OFTEN = "the next job", "now and then"
_HOW = {"misfire_grace_time": None, "coalesce": True, "max_instances": 1}
LONGEST = timedelta(days=1)
"""To the next job; whatever is later is found by a look in between."""

log = structlog.get_logger(__name__)


class Waker:
    """Wakes until it is cancelled."""

    def __init__(self, wakes: Wakes, clock: Clock, look_every: float) -> None:
        """`look_every`: seconds."""
        self._wakes = wakes
        self._clock = clock
        self._look_every = look_every
        self._wanted = asyncio.Event()

    async def run(self) -> None:
        scheduler = AsyncIOScheduler(timezone=UTC, job_defaults=_HOW)
        scheduler.add_job(self._wake, IntervalTrigger(seconds=self._look_every, timezone=UTC), id=_OFTEN)
        scheduler.start()
        self._wakes.wake = self._wanted.set
        try:
            while True:
                self._wanted.clear()
                looking = asyncio.create_task(self._look(scheduler), name="look what is due")
                try:
                    await asyncio.wait([looking])
                finally:
                    looking.cancel()
                if error := looking.exception():
                    log.error("nobody knows what is due; there is another look soon", exc_info=error)
                await self._wanted.wait()
        finally:
            self._wakes.wake = None
            scheduler.shutdown(wait=False)

    async def _look(self, scheduler: AsyncIOScheduler) -> None:
        await self._wakes.look()
        at = await self._wakes.next_due()
        if at is not None:
            # Ours may be another clock than the scheduler's.
            wait = min(LONGEST, timedelta(seconds=max(0.0, at - self._clock.time())))
            trigger = DateTrigger(datetime.now(UTC) + wait)
            scheduler.add_job(self._wake, trigger, id=_NEXT, replace_existing=True)

    async def _wake(self) -> None:
        self._wanted.set()
