"""A scheduler without the rest of the gateway: a real store, an inbox, and a clock that a test moves."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from channels.base import Accepted, InboundEvent, NotTakenIn, ScheduleFired
from channels.memory import MemoryChannel
from gateway.delivery.delivery import Delivery
from gateway.permissions.access import Access, People
from gateway.schedule.jobs.wakes import Wakes
from gateway.store.job import Firing, Job
from gateway.store.store import Store
from tests.agent_core.kit import numbered
from tests.gateway.bot import NO_PACE, PEOPLE
from tests.gateway.jobs.kit import Calendar, moment, short_ids


@dataclass
class Ward:
    """Environment of a scheduler. `life` ends with the program; the store's file and the platform outlive it."""

    store: Store
    clock: Calendar
    channel: MemoryChannel
    wakes: Wakes
    fired: list[ScheduleFired] = field(default_factory=list)
    """Events accepted for the first time, oldest first."""
    offered: list[ScheduleFired] = field(default_factory=list)
    """All events, including repeated ones."""
    is_full: bool = False
    """True if the disk is full."""

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
        await self.wakes.look()
        await self.wakes.settled()
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
    tick: Callable[[Job, float], object] = _always,
    lines: list[str] | None = None,
) -> AsyncIterator[Ward]:
    """Open a ward; `lines` receives the console output."""
    clock = clock or Calendar()
    channel = channel or MemoryChannel(limits=NO_PACE)
    async with AsyncExitStack() as life:
        store = await life.enter_async_context(Store.open(home, clock, numbered()))
        console = [] if lines is None else lines
        wakes = wakes_on(store, clock, channel, people=people, tick=tick, lines=console)
        life.push_async_callback(wakes.close)
        found = Ward(store, clock, channel, wakes)
        wakes.accept = found.accept
        yield found


def wakes_on(
    store: Store,
    clock: Calendar,
    channel: MemoryChannel,
    *,
    people: People = PEOPLE,
    tick: Callable[[Job, float], object] = _always,
    lines: list[str] | None = None,
) -> Wakes:
    console = [] if lines is None else lines
    return Wakes(
        store,
        Access(people, [channel], set(), clock, console.append),
        Delivery([channel], store, clock),
        clock,
        platforms=[channel.name],
        tick=tick,  # type: ignore[arg-type]
        language="en",
        new_id=short_ids(),
    )
