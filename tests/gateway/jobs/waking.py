"""A scheduler without the rest of the gateway: a real store, an inbox, and a clock that a test moves."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from channels.base import Accepted, InboundEvent, NotTakenIn, ScheduleFired
from channels.memory import NO_PACE, MemoryChannel
from gateway.delivery.delivery import Delivery
from gateway.permissions.access import Access
from gateway.permissions.policy import Policy
from gateway.permissions.roles import People, Roles
from gateway.permissions.rules import Rules
from gateway.schedule.jobs.due_jobs import Accept, DueJobs, Gate
from gateway.schedule.jobs.job_rights import JobRights
from gateway.schedule.jobs.missed import MissedSlots
from gateway.settings.limits import QuotaSettings
from gateway.store.job import Firing, Job
from gateway.store.store import Store
from tests.agent_core.kit import numbered
from tests.gateway.bot import PEOPLE
from tests.gateway.in_force import in_force
from tests.gateway.jobs.kit import Calendar, moment, short_ids


class Ward:
    """Environment of the check for due jobs. The store's file and the platform outlive it."""

    def __init__(self, store: Store, clock: Calendar, channel: MemoryChannel, people: People, tick: Gate) -> None:
        self.store = store
        self.clock = clock
        self.channel = channel
        self.fired: list[ScheduleFired] = []
        """Events accepted for the first time, oldest first."""
        self.offered: list[ScheduleFired] = []
        """All events, including repeated ones."""
        self.is_full = False
        """True if the disk is full."""
        """Console output."""
        self.inbox: Accept = self.accept
        rights = JobRights(store, Rules(Policy(), Access(Roles(people), [channel], set(), clock)), QuotaSettings)
        self.delivery = Delivery([channel], store, clock)
        missed = MissedSlots(store, self.delivery, clock, in_force(), short_ids())
        self.due = DueJobs(store, rights, clock, self._take_in, missed, platforms=[channel.name], tick=tick)

    async def _take_in(self, event: InboundEvent) -> Accepted:
        return await self.inbox(event)

    async def accept(self, event: InboundEvent) -> Accepted:
        assert isinstance(event, ScheduleFired)
        if self.is_full:
            raise NotTakenIn("the disk is full")
        self.offered.append(event)
        seq = await self.store.inbox.accept(event)
        if seq is None:
            return Accepted.DUPLICATE
        self.fired.append(event)
        return Accepted.NEW

    async def has(self, *jobs: Job) -> None:
        for job in jobs:
            assert await self.store.jobs.add(job)

    async def at(self, local: str) -> list[str]:
        """Move the clock, check what is due, and return the slots that fire."""
        self.clock.move_to(moment(local))
        return await self.look()

    async def look(self) -> list[str]:
        before = len(self.fired)
        await self.due.fire()
        await self.delivery.settled()
        return [event.slot for event in self.fired[before:]]

    async def job(self, name: str = "abc123") -> Job:
        found = await self.store.jobs.find(name)
        assert found is not None
        return found

    async def missed(self, name: str = "abc123") -> list[str]:
        """Return the recorded slots, oldest first."""
        return [firing.slot for firing in reversed(await self.history(name))]

    async def history(self, name: str = "abc123") -> list[Firing]:
        return await self.store.firings.history(name, 1_000)


async def _always(_job: Job, _now: float) -> bool:
    return True


@asynccontextmanager
async def ward(
    home: Path,
    *,
    clock: Calendar | None = None,
    channel: MemoryChannel | None = None,
    people: People = PEOPLE,
    tick: Gate = _always,
) -> AsyncIterator[Ward]:
    clock = clock or Calendar()
    async with Store.open(home, clock, numbered()) as store:
        here = Ward(store, clock, channel or MemoryChannel(limits=NO_PACE), people, tick)
        try:
            yield here
        finally:
            await here.delivery.close()


def another_ward(here: Ward, store: Store | None = None) -> Ward:
    """Return another check on the same clock, channel and inbox, by default on the same store."""
    other = Ward(store or here.store, here.clock, here.channel, PEOPLE, _always)
    other.inbox = here.accept
    return other
