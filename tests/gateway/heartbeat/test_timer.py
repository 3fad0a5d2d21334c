"""APScheduler wakes for the next job; a monotonic timer also wakes at regular intervals."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from channels.base import Accepted, InboundEvent, NotTakenIn
from channels.memory import MemoryChannel
from gateway.delivery.delivery import Delivery
from gateway.permissions.access import Access
from gateway.permissions.policy import Policy
from gateway.permissions.roles import Roles
from gateway.permissions.rules import Rules
from gateway.schedule import timer
from gateway.schedule.jobs import due_jobs
from gateway.schedule.jobs.due_jobs import DueJobs
from gateway.schedule.jobs.job_rights import JobRights
from gateway.schedule.jobs.missed import MissedSlots
from gateway.schedule.timer import Timer
from gateway.settings.limits import QuotaSettings
from gateway.store.job import Job
from gateway.store.rule import Once
from gateway.store.store import Store
from tests.agent_core.kit import numbered
from tests.clock import OffsetClock
from tests.gateway.bot import PEOPLE
from tests.gateway.in_force import in_force
from tests.gateway.jobs.kit import a_job, short_ids
from tests.process import python, until

NEVER = 3_600.0
"""Seconds between two looks, longer than any test."""


class Woken:
    """A waker on a real store; `events` holds the jobs that fired."""

    def __init__(self, store: Store, clock: OffsetClock) -> None:
        channel = MemoryChannel()
        self.clock = clock
        self.waking: asyncio.Task[None]
        self.store = store
        self.events: asyncio.Queue[InboundEvent] = asyncio.Queue()
        self.planned = asyncio.Event()
        self.ticked = asyncio.Event()
        """Set after each tick."""
        self.breaks = False
        """True if the next tick fails before it fires anything."""
        self.trouble: Exception | None = None
        """The error with which the next event is refused."""
        delivery = Delivery([channel], store, clock)
        self.due = DueJobs(
            store,
            JobRights(store, Rules(Policy(), Access(Roles(PEOPLE), [channel], set(), clock)), QuotaSettings),
            clock,
            self._accept,
            MissedSlots(store, delivery, clock, in_force(), short_ids()),
            platforms=[channel.name],
            tick=self._wants,
        )

    async def tick(self) -> None:
        if self.breaks:
            self.breaks = False
            raise RuntimeError("a mistake")
        await self.due.fire()
        self.ticked.set()

    async def plan(self, name: str, seconds: float, since: float | None = None) -> Job:
        """Plan a job that is due in so many seconds, or so many after a moment."""
        at = (self.clock.time() if since is None else since) + seconds
        job = a_job("x", Once(at=at), name=name, next_at=at)
        assert await self.store.jobs.add(job)
        return job

    async def fires(self, within: float = 30.0) -> str:
        """Return the id of the next job that fires."""
        event = await asyncio.wait_for(self.events.get(), within)
        return event.event_id.split(":")[1]

    async def _accept(self, event: InboundEvent) -> Accepted:
        trouble, self.trouble = self.trouble, None
        if trouble is not None:
            raise trouble
        seq = await self.store.inbox.accept(event)
        if seq is not None:
            self.events.put_nowait(event)
        return Accepted.DUPLICATE if seq is None else Accepted.NEW

    async def _wants(self, _job: Job, _now: float) -> bool:
        return True


@asynccontextmanager
async def woken(home: Path, look_every: float = NEVER) -> AsyncIterator[Woken]:
    clock = OffsetClock()
    async with Store.open(home, clock, numbered()) as store:
        here = Woken(store, clock)
        waking = here.waking = asyncio.create_task(
            Timer(here.tick, here.due.next_due, here.planned, clock, look_every).run()
        )
        try:
            yield here
        finally:
            waking.cancel()
            await asyncio.wait([waking])


async def test_it_wakes_for_the_next_job(tmp_path: Path) -> None:
    """It wakes for the one after it too."""
    async with woken(tmp_path) as here:
        now = here.clock.time()
        jobs = [await here.plan("second", 0.6, now), await here.plan("first", 0.3, now)]
        here.planned.set()

        due = {job.id: job.next_at or 0 for job in jobs}
        while due:  # both at once, in any order, where the machine has slept for so long
            at = due.pop(await here.fires())
            assert here.clock.time() >= at


async def test_a_new_job_is_woken_for_at_once(tmp_path: Path) -> None:
    """The waker slept until a later job."""
    async with woken(tmp_path) as here:
        await here.plan("tomorrow", 86_400)
        here.planned.set()
        await here.plan("soon", 0.2)
        here.planned.set()

        assert await here.fires() == "soon"


async def test_it_looks_every_now_and_then(tmp_path: Path) -> None:
    """A job that became due unnoticed is found, as after the machine slept."""
    async with woken(tmp_path, look_every=0.1) as here:
        await here.plan("tomorrow", 86_400)
        here.planned.set()
        here.clock.ahead = 86_400.0

        assert await here.fires() == "tomorrow"


async def test_a_clock_set_back_by_a_day_does_not_put_it_to_sleep(tmp_path: Path) -> None:
    async with woken(tmp_path, look_every=0.1) as here:
        await here.plan("first", 0.0)
        here.planned.set()
        assert await here.fires() == "first"
        here.clock.ahead = -86_400.0
        await here.plan("second", 0.3)

        assert await here.fires() == "second"


async def test_it_ends_even_at_the_moment_when_something_is_planned() -> None:
    planned, ticked = asyncio.Event(), asyncio.Event()

    async def tick() -> None:
        ticked.set()

    async def next_due() -> None:
        return None

    timer = asyncio.create_task(Timer(tick, next_due, planned, OffsetClock(), NEVER).run())
    await ticked.wait()
    for _ in range(10):  # until it waits
        await asyncio.sleep(0)
    planned.set()
    timer.cancel()
    await asyncio.wait([timer], timeout=10)

    assert timer.cancelled()


async def test_it_ends_only_once_its_tick_has_ended() -> None:
    ticks, ended = asyncio.Event(), asyncio.Event()

    async def tick() -> None:
        ticks.set()
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.to_thread(ended.is_set)  # as a write that was begun
            ended.set()

    async def next_due() -> None:
        return None

    timer = asyncio.create_task(Timer(tick, next_due, asyncio.Event(), OffsetClock(), NEVER).run())
    await ticks.wait()
    timer.cancel()
    await asyncio.wait([timer])

    assert ended.is_set()  # else its lease would pass on meanwhile


async def test_a_look_that_fails_is_not_the_last(tmp_path: Path) -> None:
    async with woken(tmp_path, look_every=0.1) as here:
        here.breaks = True
        here.planned.set()
        await until(lambda: not here.breaks)
        await here.plan("soon", 0.0)

        assert await here.fires() == "soon"


async def test_a_look_that_fails_is_repeated_soon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timer, "AGAIN_AFTER", 0.1)
    async with woken(tmp_path) as here:
        await here.ticked.wait()
        here.breaks = True
        await here.plan("soon", 0.0)
        here.planned.set()

        assert await here.fires() == "soon"
        assert not here.breaks


def no_answer() -> sqlite3.Error:
    error = sqlite3.OperationalError("the database is away")
    error.sqlite_errorcode = sqlite3.SQLITE_BUSY
    return error


@pytest.mark.parametrize("trouble", [NotTakenIn("the database is away"), no_answer()])
async def test_what_could_not_be_stored_is_fired_soon(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trouble: Exception
) -> None:
    monkeypatch.setattr(due_jobs, "AGAIN_AFTER", 0.1)
    async with woken(tmp_path) as here:
        here.trouble = trouble
        await here.plan("soon", 0.0)
        here.planned.set()

        assert await here.fires() == "soon"


async def test_it_ends_when_it_is_cancelled(tmp_path: Path) -> None:
    async with woken(tmp_path) as here:
        await here.plan("tomorrow", 86_400)
        here.planned.set()

    assert here.waking.cancelled()


async def test_nothing_is_imported_once_the_program_is_up() -> None:
    """With no file handles left an import would fail, and no job would fire any more."""
    finished = await python(
        "-c",
        "import asyncio, sys, gateway.app.serve\n"
        "from agent_core.clock import SystemClock\n"
        "from gateway.schedule.timer import Timer\n"
        "ticks = []\n"
        "async def tick(): ticks.append(1)\n"
        "async def next_due(): return SystemClock().time()\n"
        "async def main():\n"
        "    before = set(sys.modules)\n"
        "    waking = asyncio.create_task(Timer(tick, next_due, asyncio.Event(), SystemClock(), 60.0).run())\n"
        "    while len(ticks) < 3: await asyncio.sleep(0.01)\n"
        "    waking.cancel()\n"
        "    print(sorted(name for name in set(sys.modules) - before if 'encodings' not in name))\n"
        "asyncio.run(main())\n",
    )

    assert (finished.out.strip(), finished.err) == ("[]", "")
