"""The scheduler: fires due jobs and sends what was held back, whenever something may be due."""

import asyncio

from agent_core.clock import Clock
from gateway.schedule.heartbeat.switches import Switches
from gateway.schedule.jobs.digest import Digests
from gateway.schedule.jobs.due_jobs import DueJobs
from gateway.schedule.jobs.missed_slots import MissedSlots
from gateway.schedule.jobs.unconfirmed import Unconfirmed
from gateway.schedule.waker import Waker

HEAD_START = 2.0
"""Seconds to let channels start listening."""


class Scheduler:
    """Runs beside the channels. Whatever is cut off stays recorded, and continues at the next start."""

    def __init__(
        self,
        due: DueJobs,
        missed: MissedSlots,
        unconfirmed: Unconfirmed,
        digests: Digests,
        switches: Switches,
        clock: Clock,
        *,
        planned: asyncio.Event,
    ) -> None:
        """`planned` is set when something may be due earlier than before."""
        self.due = due
        self._missed = missed
        self._unconfirmed = unconfirmed
        self._digests = digests
        self._switches = switches
        self._clock = clock
        self._planned = planned

    async def tick(self) -> None:
        """Do everything that is due now."""
        await self.due.look()
        await self._unconfirmed.look(self._clock.time())
        await self._digests.look()

    async def run(self, most: float) -> None:
        """Tick whenever something is due, and at least every `most` seconds, until cancelled."""
        await asyncio.sleep(min(HEAD_START, most))
        await Waker(self.tick, self.due.next_due, self._planned, self._clock, most).run()

    async def settled(self) -> None:
        """Wait until all notices and held messages are sent."""
        for each in (self._missed, self._digests, self._switches):
            await each.settled()

    async def close(self) -> None:
        """Cancel what is being sent."""
        for each in (self._missed, self._digests, self._switches):
            await each.close()
