"""A slot's name keeps its firing unique: with two schedulers, after a crash, and when clocks are changed."""

import asyncio
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

from channels.base import Accepted, InboundEvent
from gateway.schedule.jobs.due_jobs import Accept
from gateway.security.secrets import Secrets
from gateway.store.database import Database, Reader
from gateway.store.job import JobState, Report, Slot
from gateway.store.jobs import Advance
from gateway.store.opening import FILE
from gateway.store.rule import Cron, Every, Once
from gateway.store.store import Store
from gateway.store.writer import Writer
from tests.agent_core.kit import numbered
from tests.gateway.jobs.kit import Calendar, a_job, moment
from tests.gateway.jobs.waking import another_ward, ward

HOURLY = Cron(expression="0 * * * *")


def at(local: str) -> str:
    return Slot(moment(local)).name


# Several schedulers


async def test_two_who_look_at_one_store_fire_once(tmp_path: Path) -> None:
    """Only the event id prevents a second firing; neither scheduler knows of the other."""
    async with ward(tmp_path) as here:
        other = another_ward(here)
        asked, both_have_looked = set[str](), asyncio.Event()

        def as_seen_by(scheduler: str) -> Accept:
            async def accept(event: InboundEvent) -> Accepted:
                asked.add(scheduler)
                if len(asked) == 2:
                    both_have_looked.set()
                await both_have_looked.wait()
                return await here.accept(event)

            return accept

        here.inbox, other.inbox = as_seen_by("one"), as_seen_by("another")
        await here.has(*(a_job("x", name=f"job{number:03}") for number in range(50)))
        here.clock.move_to(moment("2026-11-23 09:00"))

        await asyncio.gather(here.due.fire(), other.due.fire(), other.due.fire())

    assert len(here.offered) > 50
    assert len(here.fired) == len({event.event_id for event in here.fired}) == 50


async def test_two_programs_on_one_file_fire_once(tmp_path: Path) -> None:
    """Each program has its own view of the table, as if the store's lock had failed, and the table decides."""
    async with ward(tmp_path) as here, AsyncExitStack() as life:
        await here.has(*(a_job("x", name=f"job{number:03}") for number in range(50)))
        writing = await life.enter_async_context(Database.open(tmp_path / FILE))
        reading = await life.enter_async_context(Reader.open(tmp_path / FILE))
        writer = Writer(writing)
        life.push_async_callback(writer.close)
        store = Store(writer, reading, here.clock, numbered(), Secrets())
        taken_in: list[str] = []

        async def accept(event: InboundEvent) -> Accepted:
            seq = await store.inbox.accept(event)
            if seq is None:
                return Accepted.DUPLICATE
            taken_in.append(event.event_id)
            return Accepted.NEW

        other = another_ward(here, store)
        other.inbox = accept
        here.clock.move_to(moment("2026-11-23 09:00"))

        await asyncio.gather(here.due.fire(), other.due.fire())

        assert await here.due.next_due() == await other.due.next_due() == moment("2026-11-24 09:00")
    names = [*taken_in, *(event.event_id for event in here.fired)]
    assert len(names) == len(set(names)) == 50


async def test_two_who_find_the_same_missed_say_so_once(tmp_path: Path) -> None:
    async with ward(tmp_path) as here:
        other = another_ward(here)
        await here.has(a_job("x"))
        here.clock.move_to(moment("2026-11-23 18:00"))

        await asyncio.gather(here.due.fire(), other.due.fire())
        await asyncio.gather(here.delivery.settled(), other.delivery.settled())

        assert await here.missed() == [at("2026-11-23 09:00")]
    assert len(here.channel.screen) == 1


async def test_a_crash_between_taking_in_and_moving_on_fires_once(tmp_path: Path) -> None:
    """The next process accepts the event again without effect, and advances the job."""
    clock = Calendar()
    async with ward(tmp_path, clock=clock) as here:
        job = a_job("x")
        await here.has(job)
        assert len(await here.at("2026-11-23 09:00")) == 1
        await here.store.jobs.change(job.id, lambda _: job)  # as before the crash
    async with ward(tmp_path, clock=clock) as here:
        assert await here.look() == []

        assert len(here.offered) == 1
        assert (await here.job()).next_at == moment("2026-11-24 09:00")


async def test_a_crash_there_and_a_long_sleep_after_it_is_nothing_missed(tmp_path: Path) -> None:
    clock = Calendar()
    async with ward(tmp_path, clock=clock) as here:
        job = a_job("x")
        await here.has(job)
        assert len(await here.at("2026-11-23 09:00")) == 1
        await here.store.jobs.change(job.id, lambda _: job)  # as before the crash
    async with ward(tmp_path, clock=clock) as here:
        assert await here.at("2026-11-23 20:00") == []

        assert await here.missed() == []
        assert here.channel.screen == []


async def test_a_job_that_was_changed_meanwhile_stays_as_it_is(tmp_path: Path) -> None:
    """A user pauses or moves a job between the scheduler's look at the table and its update."""
    async with ward(tmp_path) as here:
        await here.has(a_job("x"), a_job("y", name="def456"))
        accept = here.accept

        async def meanwhile(event: object) -> object:
            await here.store.jobs.change("abc123", lambda job: replace(job, state=JobState.PAUSED, next_at=None))
            await here.store.jobs.change("def456", lambda job: replace(job, next_at=moment("2026-11-23 15:00")))
            return await accept(event)  # type: ignore[arg-type]

        here.inbox = meanwhile  # type: ignore[assignment]
        await here.at("2026-11-23 09:00")

        assert (await here.job()).state is JobState.PAUSED
        assert (await here.job("def456")).next_at == moment("2026-11-23 15:00")


# Clocks that jump


async def test_a_clock_that_jumps_a_day_forth_and_back_fires_nothing_twice(tmp_path: Path) -> None:
    """After the clock is set back, all jobs are planned anew and none stays silent longer than needed."""
    async with ward(tmp_path) as here:
        hourly = a_job(
            Report(instructions="look"), Every(seconds=3_600, since=moment("2026-11-23 08:30")), name="hourly"
        )
        await here.has(hourly, a_job("y", name="daily1"))
        assert await here.at("2026-11-23 08:30") == [at("2026-11-23 08:30")]
        assert await here.at("2026-11-23 09:00") == [at("2026-11-23 09:00")]

        # A day too far: the slot that was due last fires late, as if the machine had slept.
        assert await here.at("2026-11-24 09:05") == [at("2026-11-24 08:30"), at("2026-11-24 09:00")]
        assert at("2026-11-23 09:30") in await here.missed("hourly")

        # Set right: the next hour is today's and was not missed; slots that fired a day early do not fire again.
        assert await here.at("2026-11-23 09:10") == []
        assert await here.missed("hourly") == []
        assert await here.at("2026-11-23 09:30") == [at("2026-11-23 09:30")]
        assert await here.at("2026-11-24 08:30") == []
        assert await here.at("2026-11-24 09:00") == []
        assert await here.at("2026-11-24 09:30") == [at("2026-11-24 09:30")]

    names = [event.event_id for event in here.fired]
    assert len(names) == len(set(names))
    assert here.channel.screen == []


async def test_a_clock_set_back_leaves_nothing_silent(tmp_path: Path) -> None:
    """After the clock is set back by a day, past slots do not fire again and later ones do, without a day's wait."""
    async with ward(tmp_path, clock=Calendar("2026-11-25 08:00")) as here:
        await here.has(a_job("x", HOURLY, created="2026-11-25 08:00"))
        assert len(await here.at("2026-11-25 09:00")) == 1

        assert await here.at("2026-11-24 09:30") == []
        assert await here.at("2026-11-24 10:00") == [at("2026-11-24 10:00")]
        # Days later it turns out that the clock was right before.
        assert await here.at("2026-11-25 09:00") == []
        assert await here.at("2026-11-25 10:00") == [at("2026-11-25 10:00")]


async def test_what_was_planned_by_a_clock_that_was_days_ahead_is_not_silent_for_days(tmp_path: Path) -> None:
    async with ward(tmp_path, clock=Calendar("2027-11-25 08:00")) as here:
        every = Every(seconds=3600, since=moment("2027-11-25 08:00"))
        await here.has(a_job("x", every, created="2027-11-25 08:00"))
        assert len(await here.at("2027-11-25 09:00")) == 1

        assert await here.at("2027-11-20 09:30") == []
        assert await here.at("2027-11-20 10:00") == [at("2027-11-20 10:00")]


async def test_a_clock_that_was_set_back_while_nobody_was_there(tmp_path: Path) -> None:
    """The newest accepted event shows how late it really is."""
    clock = Calendar("2026-11-25 08:00")
    async with ward(tmp_path, clock=clock) as here:
        await here.has(a_job("x", HOURLY, created="2026-11-25 08:00"))
        assert len(await here.at("2026-11-25 09:00")) == 1
    async with ward(tmp_path, clock=Calendar("2026-11-24 09:30")) as here:
        await here.look()

        assert await here.due.next_due() == moment("2026-11-24 10:00")


async def test_a_machine_that_begins_in_1970_fires_nothing_then(tmp_path: Path) -> None:
    """It does not report fifty missed years either, once the clock is right."""
    async with ward(tmp_path) as here:
        await here.has(a_job("x"))
        assert len(await here.at("2026-11-23 09:00")) == 1
    async with ward(tmp_path, clock=Calendar("1970-01-02 08:59")) as here:
        assert await here.look() == []
        assert await here.at("1970-01-02 09:00") == []

        await here.at("2026-11-23 09:01")

        assert here.channel.screen == []
        assert here.fired == []
        assert await here.at("2026-11-24 09:00") == [at("2026-11-24 09:00")]


async def test_a_clock_that_is_put_right_by_seconds_changes_nothing(tmp_path: Path) -> None:
    async with ward(tmp_path) as here:
        await here.has(a_job("x"))
        await here.look()
        await here.store.jobs.advance([Advance("abc123", moment("2026-11-23 09:00"), moment("2026-11-24 09:00"))])

        here.clock.move_to(here.clock.now - 40)
        await here.look()

        assert await here.due.next_due() == moment("2026-11-24 09:00")


async def test_what_is_due_once_keeps_its_moment_when_the_clock_is_set_back(tmp_path: Path) -> None:
    async with ward(tmp_path) as here:
        await here.has(a_job("x", Once(at=moment("2026-11-23 09:00"))))
        await here.look()

        assert await here.at("2026-11-22 09:00") == []
        assert await here.at("2026-11-23 09:00") == [at("2026-11-23 09:00")]
