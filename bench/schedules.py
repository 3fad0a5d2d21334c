"""Cost of ten thousand jobs while none is due, and the time a look takes if all are due in one minute."""

import asyncio
import logging
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import structlog

from agent_core.clock import SystemClock, new_id
from agent_core.origin import CLEAN
from bench.figures import Figure, median
from bench.stage import Stage, stage
from channels.base import Accepted, ChatKey, InboundEvent
from channels.memory import MemoryChannel
from gateway.delivery.delivery import Delivery
from gateway.permissions.access import Access
from gateway.permissions.policy import Policy
from gateway.permissions.request import new_request_id
from gateway.permissions.roles import People, Roles
from gateway.permissions.rules import Rules
from gateway.schedule.jobs.due_jobs import DueJobs
from gateway.schedule.jobs.job_rights import JobRights
from gateway.schedule.jobs.missed import MissedSlots
from gateway.settings.current import CurrentSettings
from gateway.settings.limits import QuotaSettings
from gateway.settings.settings import Settings
from gateway.store.job import Job, JobState, Report
from gateway.store.rule import Cron
from gateway.store.store import Store
from tests.emulators.model_script import Answer, ModelRequest, says

JOBS = 10_000
ON = "telegram"
TIMES = 3
SETTLE_S = 2.0
IDLE_S = 31.0
"""Long enough to include one of the looks that happen every half minute."""
DAY = 86_400.0
OWNER = People(owners=frozenset({"memory:ann"}), allow=frozenset())


def respond(asked: ModelRequest) -> Answer:
    return says("Good morning.")


async def figures() -> list[Figure]:
    # Log lines for each job are part of the cost, but not printed.
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    async with stage(respond, ON) as scene:
        empty, cpu_empty, idle_empty = await _lives(scene)
        async with Store.open(scene.folder / "home", SystemClock(), new_id) as store:
            await _fill(store, ChatKey(platform=ON, account="1", chat="1"), time.time() + DAY)
        full, cpu_full, idle_full = await _lives(scene)
    look = await _look_at_nothing()
    together, each, longest = await _look_at_all()
    return [
        Figure("start to first poll, without jobs", empty, "s"),
        Figure(f"start to first poll, with {JOBS} jobs", full, "s", 2),
        Figure("CPU until then, without jobs", cpu_empty, "s"),
        Figure(f"CPU until then, with {JOBS} jobs", cpu_full, "s"),
        Figure("share of a core while nothing is due, without jobs", idle_empty, "%"),
        Figure(f"share of a core while nothing is due, with {JOBS} jobs", idle_full, "%", 1),
        Figure("a look while nothing is due", look, "ms", 50),
        Figure(f"{JOBS} jobs on one minute, until all are taken in", together, "s", 60),
        Figure("a job of those", each, "ms"),
        Figure("longest that others waited meanwhile", longest, "ms", 250),
    ]


async def _lives(scene: Stage) -> tuple[float, float, float]:
    """Return seconds until it listens, CPU seconds until then, and per cent of a core while idle."""
    spans, spent, busy = [], [], 0.0
    for number in range(TIMES):
        async with scene.bot() as bot:
            spans.append(bot.listened - bot.started)
            spent.append(bot.cpu)
            await asyncio.sleep(SETTLE_S)
            if number == TIMES - 1:
                before = bot.cpu
                await asyncio.sleep(IDLE_S)
                busy = bot.cpu - before
    return median(spans), median(spent), 100 * busy / IDLE_S


async def _look_at_nothing() -> float:
    """Return the milliseconds of a look with nothing due."""
    spans = []
    async with _filled(time.time() + DAY) as due:
        await due.fire()  # the first look after a start reads more
        for _ in range(50):
            began = time.perf_counter()
            await due.fire()
            await due.next_due()
            spans.append(1_000 * (time.perf_counter() - began))
    return median(spans)


async def _look_at_all() -> tuple[float, float, float]:
    """Return seconds for all due jobs, milliseconds per job, and the longest time in milliseconds without a turn of the
    event loop."""
    async with _filled(time.time() - 1) as due:
        turns = asyncio.create_task(_longest_turn())
        began = time.perf_counter()
        await due.fire()
        span = time.perf_counter() - began
        turns.cancel()
        longest = await turns
    return span, 1_000 * span / JOBS, 1_000 * longest


async def _longest_turn() -> float:
    """Measure the longest turn of the event loop until cancelled."""
    longest, last = 0.0, time.perf_counter()
    try:
        while True:
            await asyncio.sleep(0)
            now = time.perf_counter()
            longest, last = max(longest, now - last), now
    except asyncio.CancelledError:
        return longest


@asynccontextmanager
async def _filled(next_at: float) -> AsyncIterator[DueJobs]:
    """Open a store in which all jobs are due at that time. Events of firing jobs are accepted but not processed."""
    clock, channel = SystemClock(), MemoryChannel()
    with tempfile.TemporaryDirectory(prefix="parley-bench-") as folder:
        async with Store.open(Path(folder), clock, new_id) as store:
            await _fill(store, ChatKey(platform="memory", account="here", chat="ann"), next_at)

            async def tick(_job: Job, _now: float) -> bool:
                return True

            async def accept(event: InboundEvent) -> Accepted:
                return Accepted.DUPLICATE if await store.inbox.accept(event) is None else Accepted.NEW

            rules = Rules(Policy(), Access(Roles(OWNER), [channel], (), clock))
            missed = MissedSlots(
                store,
                Delivery([channel], store, clock),
                clock,
                CurrentSettings(Settings(home=Path(folder))),
                new_request_id,
            )
            yield DueJobs(
                store,
                JobRights(store, rules, QuotaSettings),
                clock,
                accept,
                missed,
                platforms=[channel.name],
                tick=tick,
            )


async def _fill(store: Store, chat: ChatKey, next_at: float) -> None:
    """Insert reports for as many users, at different minutes of the day but due next at the same moment."""
    jobs = [
        Job(
            id=f"job{number}",
            chat=chat.model_copy(update={"chat": f"{chat.chat}{number}"}),
            person="ann",
            language="en",
            zone="Europe/Paris",
            rule=Cron(expression=f"{number % 60} {number % 24} * * 1-5"),
            work=Report(instructions="Tell me what is new in my folder of notes, in five lines."),
            created=time.time(),
            state=JobState.ACTIVE,
            next_at=next_at,
            origin=CLEAN,
        )
        for number in range(JOBS)
    ]
    for start in range(0, JOBS, 1_000):
        await asyncio.gather(*(store.jobs.add(job) for job in jobs[start : start + 1_000]))
