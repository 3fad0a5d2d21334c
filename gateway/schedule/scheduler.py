"""The scheduler: fires due jobs and sends what was held back, whenever something may be due."""

import asyncio

from agent_core.clock import Clock
from gateway.schedule.jobs.digest import Digests
from gateway.schedule.jobs.due_jobs import DueJobs
from gateway.schedule.jobs.missed import MissedSlots
from gateway.schedule.timer import Timer

HEAD_START = 2.0
"""Seconds after the start of the process to let channels start listening."""


class Scheduler:
    """Runs beside the channels. Whatever is cut off stays recorded, and continues at the next start."""

    def __init__(
        self,
        due: DueJobs,
        missed: MissedSlots,
        digests: Digests,
        clock: Clock,
        planned: asyncio.Event,
    ) -> None:
        """`planned` is set when something may be due earlier than before."""
        self.due = due
        self._missed = missed
        self._digests = digests
        self._clock = clock
        self._planned = planned
        self._head_start = HEAD_START

    async def tick(self) -> None:
        """Do everything that is due now."""
        await self.due.fire()
        await self._missed.report_unconfirmed()
        await self._digests.send_due()

    async def run(self, most: float) -> None:
        """Tick whenever something is due, and at least every `most` seconds, until cancelled."""
        await asyncio.sleep(min(self._head_start, most))
        self._head_start = 0.0  # this process may leave what is due to another one, and get it back
        await Timer(self.tick, self.due.next_due, self._planned, self._clock, most).run()

    async def settled(self) -> None:
        """Wait until all held messages are sent."""
        await self._digests.settled()

    async def close(self) -> None:
        """Cancel what is being sent."""
        await self._digests.close()
