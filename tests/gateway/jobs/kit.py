"""A Parley whose clock tests move: jobs are put into its store and become due when the clock reaches them."""

import asyncio
import itertools
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from agent_core.messages import UserMessage, text_of
from agent_core.models.llm import LlmRequest
from agent_core.models.scripted import Turn
from agent_core.origin import CLEAN
from channels.base import Accepted, ChatKey, ScheduleFired, Sender
from channels.memory import NO_PACE, MemoryChannel
from gateway.schedule.jobs.firings import Firings
from gateway.schedule.times.recurrence import Timetable
from gateway.schedule.times.slots import next_slot, timetable
from gateway.store.job import Firing, Job, JobState, Reminder, Slot, Work
from gateway.store.rule import Cron, Every, Once, Recurrence, Rule
from gateway.store.store import Store
from tests.clock import HandClock
from tests.gateway.bot import Bot, BotOptions

PARIS = ZoneInfo("Europe/Paris")
BEGINS = "2026-11-23 08:00"
"""A Monday, at which the clock stands until a test moves it."""
NINE = Cron(expression="0 9 * * *")
ANN = ChatKey(platform="memory", account="here", chat="ann")
BOB = ChatKey(platform="memory", account="here", chat="bob")
TEAM = ChatKey(platform="memory", account="here", chat="#team")


def moment(local: str, zone: ZoneInfo = PARIS) -> float:
    """Return the seconds since the epoch, as in `moment("2026-11-23 09:00")`."""
    return datetime.fromisoformat(local).replace(tzinfo=zone).timestamp()


def meaning(rule: Rule | None) -> Once | Every | Timetable | None:
    """Return a value that is equal for a cron line and a recurrence rule that mean the same."""
    return timetable(rule) if isinstance(rule, Cron | Recurrence) else rule


class Calendar:
    """A clock whose date only a test moves. Waits take real time, or end at once if the clock is moved past their
    end."""

    def __init__(self, local: str = BEGINS) -> None:
        self.now = moment(local)
        self._ahead = 0.0
        """Seconds that moves have added to the monotonic clock."""
        self._moved = asyncio.Event()

    def time(self) -> float:
        return self.now

    def monotonic(self) -> float:
        return time.monotonic() + self._ahead

    async def sleep(self, seconds: float) -> None:
        until = self.monotonic() + seconds
        while (left := until - self.monotonic()) > 0:
            moved = self._moved
            with suppress(TimeoutError):
                async with asyncio.timeout(left):  # wait_for loses a cancellation at the moment of a move
                    await moved.wait()

    def move_to(self, at: float) -> None:
        """Move the clock. A move backwards changes only the date, as when a user sets the system clock."""
        self._ahead += max(0.0, at - self.now)
        self.now = at
        self._moved.set()
        self._moved = asyncio.Event()

    def advance(self, seconds: float) -> None:
        self.move_to(self.now + seconds)


def stopped_clock(local: str = BEGINS) -> HandClock:
    """A clock that stands at that moment, for tests of how much is allowed in so much time."""
    clock = HandClock()
    clock.now = moment(local)
    return clock


def a_job(
    work: Work | str,
    rule: Rule = NINE,
    *,
    name: str = "abc123",
    chat: ChatKey = ANN,
    person: str = "ann",
    created: str = BEGINS,
    zone: str = "Europe/Paris",
    **how: object,
) -> Job:
    """Return an active job with the first slot after its creation; a string as `work` makes a reminder."""
    at = moment(created)
    following = next_slot(rule, ZoneInfo(zone), at)
    job = Job(
        id=name,
        chat=chat,
        person=person,
        language="en",
        zone=zone,
        rule=rule,
        work=Reminder(text=work) if isinstance(work, str) else work,
        created=at,
        state=JobState.ACTIVE,
        next_at=following.at if following else None,
        origin=CLEAN,
    )
    return replace(job, **how)  # type: ignore[arg-type]


class TimedBot(Bot):
    """Bot with a `Calendar` as clock, unless a test passes another one."""

    def at(self, local: str) -> None:
        """Move the clock to this time in Paris without checking for due jobs."""
        self.calendar.move_to(moment(local))

    @property
    def calendar(self) -> Calendar:
        if not isinstance(self.clock, Calendar):
            raise TypeError("this bot goes by another clock")
        return self.clock

    @property
    def store(self) -> Store:
        return self.made.base.store

    @property
    def firings(self) -> Firings:
        return self.made.chats.firings

    async def has(self, *jobs: Job) -> None:
        """Add confirmed jobs to the store."""
        for job in jobs:
            assert await self.store.jobs.add(job)

    async def look(self) -> None:
        """Check what is due and wait for the effects."""
        await self.made.serving.scheduler.tick()
        await self.settled()

    async def fires(self, job: Job, local: str | None = None) -> Accepted:
        """Let a job fire at that time or at its next slot, with an event like the scheduler's. Returns before it has
        any effect; `settled` waits for that."""
        slot = Slot(moment(local)) if local else job.slot
        assert slot is not None
        return await self.made.events.handler.accept(fired(job, slot))

    async def settled(self) -> None:
        await self.app.settled()

    async def firing(self, job: Job | str, slot: str | None = None) -> Firing:
        """Return the firing of that slot, or the newest one."""
        name = job if isinstance(job, str) else job.id
        found = await self.store.firings.find(name, slot) if slot else (await self.store.firings.history(name, 1))[0]
        assert found is not None
        return found

    async def job(self, job: Job | str) -> Job:
        """Return the job in its current state."""
        found = await self.store.jobs.find(job if isinstance(job, str) else job.id)
        assert found is not None
        return found


def fired(job: Job, slot: Slot) -> ScheduleFired:
    """Return the event that the scheduler sends."""
    return ScheduleFired(
        event_id=f"sched:{job.id}:{slot.name}",
        chat=job.chat,
        sender=Sender(id=job.person, name="", language=job.language),
        at=slot.at,
        job=job.id,
        slot=slot.name,
    )


def make_timed_bot(home: Path, turns: Sequence[Turn], **how: object) -> TimedBot:
    clock = Calendar()
    channel = MemoryChannel(limits=NO_PACE, now=clock.time)
    given = {"clock": clock, "channel": channel, "new_request_id": short_ids(), **how}
    return TimedBot(home, turns, BotOptions(**given))  # type: ignore[arg-type]


def short_ids() -> Callable[[], str]:
    """Return ids of six characters, as users type them, in a predictable order."""
    numbers = itertools.count(1)
    return lambda: f"id{next(numbers):04}"


def seen(request: LlmRequest) -> str:
    """Return all text of a request that the model reads."""
    beside = (message.context for message in request.messages if isinstance(message, UserMessage))
    return "\n".join([*filter(None, beside), *(text_of(message.content) for message in request.messages)])
