"""Each slot fires once, however often the scheduler looks, whatever clocks do, and whenever the program ends."""

import asyncio
from dataclasses import replace
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from channels.base import Accepted, ChatKey, InboundEvent, ScheduleFired, Sender
from channels.memory import MemoryChannel
from gateway.delivery.delivery import Delivery
from gateway.permissions.roles import People
from gateway.schedule.heartbeat.settings import HeartbeatSettings
from gateway.schedule.jobs.due_jobs import MOST_AT_ONCE
from gateway.store.job import HOUR, CheckIn, FiringState, Job, JobState, Pause, Report, Slot
from gateway.store.rule import Cron, Once
from tests.gateway.in_force import in_force
from tests.gateway.jobs.kit import ANN, NINE, TEAM, Calendar, a_job, moment, short_ids
from tests.gateway.jobs.waking import ward

HOURLY = Cron(expression="0 * * * *")


def at(local: str) -> str:
    return Slot(moment(local)).name


# On time


async def test_a_slot_fires_when_it_has_come_and_not_again(tmp_path: Path) -> None:
    async with ward(tmp_path) as here:
        await here.has(a_job("x"))

        assert await here.at("2026-11-23 08:59") == []
        assert await here.at("2026-11-23 09:00") == [at("2026-11-23 09:00")]
        assert await here.look() == []
        assert await here.at("2026-11-24 09:00") == [at("2026-11-24 09:00")]

    [event, _] = here.fired
    assert event.event_id == f"sched:abc123:{event.slot}"
    assert (event.chat, event.sender.id, event.sender.language) == (ANN, "ann", "en")
    assert event.at == moment("2026-11-23 09:00")


async def test_what_is_due_once_is_done_then(tmp_path: Path) -> None:
    async with ward(tmp_path) as here:
        await here.has(a_job("x", Once(at=moment("2026-11-23 09:00"))))

        assert len(await here.at("2026-11-23 09:00")) == 1

        assert (await here.job()).state is JobState.DONE
        assert await here.due.next_due() is None


@pytest.mark.parametrize("state", [JobState.DRAFT, JobState.PAUSED, JobState.DONE, JobState.REMOVED])
async def test_only_active_jobs_are_due(tmp_path: Path, state: JobState) -> None:
    async with ward(tmp_path) as here:
        await here.has(a_job("x", state=state))

        assert await here.at("2026-11-23 09:00") == []
        assert await here.due.next_due() is None


async def test_the_next_tick_is_at_the_next_job(tmp_path: Path) -> None:
    async with ward(tmp_path) as here:
        await here.has(a_job("x"), a_job("y", HOURLY, name="def456"))
        await here.at("2026-11-23 09:10")

        assert await here.due.next_due() == moment("2026-11-23 10:00")


async def test_what_becomes_due_during_a_tick_is_next(tmp_path: Path) -> None:
    async with ward(tmp_path) as here:
        await here.has(a_job("x"), a_job("y", HOURLY, name="def456"))
        await here.at("2026-11-23 08:59")
        here.clock.move_to(moment("2026-11-23 09:00"))

        assert await here.due.next_due() == moment("2026-11-23 09:00")


# Missed slots


async def test_down_over_three_firings_there_is_one_run(tmp_path: Path) -> None:
    """The run is late but within the grace, and named after the last slot.

    The other slots are recorded as missed, and the chat gets only the report itself.
    """
    clock, channel = Calendar(), MemoryChannel()
    async with ward(tmp_path, clock=clock, channel=channel) as here:
        await here.has(a_job(Report(instructions="look"), HOURLY))
    async with ward(tmp_path, clock=clock, channel=channel) as here:
        assert await here.at("2026-11-23 11:20") == [at("2026-11-23 11:00")]

        assert await here.missed() == [at("2026-11-23 09:00"), at("2026-11-23 10:00")]
        assert channel.screen == []
        assert await here.at("2026-11-23 12:00") == [at("2026-11-23 12:00")]


async def test_beyond_the_grace_it_is_skipped_and_said_so(tmp_path: Path) -> None:  # S2-47
    """Each chat gets one silent message with the missed jobs, their times and the next time."""
    async with ward(tmp_path) as here:
        await here.has(
            a_job(Report(instructions="look"), name="daily1"),
            a_job(Report(instructions="look"), Cron(expression="0 9,10 * * *"), name="twice1"),
            a_job("x", name="other1", chat=TEAM),
        )

        assert await here.at("2026-11-24 22:00") == []
        assert await here.look() == []

        assert here.channel.screen_of(ANN) == [
            "Missed 6 times, and now it is too late:\n\n"
            "- look (`daily1`), 2 times, last due Tue 24 Nov 09:00\n"
            "- look (`twice1`), 4 times, last due Tue 24 Nov 10:00\n\n"
            "The next time is Wed 25 Nov 09:00."
        ]
        assert len(here.channel.screen_of(TEAM)) == 1
        assert all(message.silent for _, message in here.channel.posts)
        assert [firing.state for firing in await here.history("daily1")] == [FiringState.MISSED] * 2


async def test_one_alone_is_told_as_one(tmp_path: Path) -> None:
    async with ward(tmp_path) as here:
        await here.has(a_job("x"))

        await here.at("2026-11-23 18:00")

        assert here.channel.screen == [
            "Missed, and now it is too late: x (`abc123`), due Mon 23 Nov 09:00.\n\nThe next time is Tue 24 Nov 09:00."
        ]


async def test_what_was_missed_is_told_in_the_language_of_the_job(tmp_path: Path) -> None:
    async with ward(tmp_path) as here:
        await here.has(a_job("x", language="zh"))

        await here.at("2026-11-23 18:00")

        assert here.channel.screen == [
            "错过了，现在补做已经太晚：x (`abc123`)，原定时间：11月23日 周一 09:00。\n\n下一次是 11月24日 周二 09:00。"
        ]


async def test_a_reminder_for_one_moment_is_made_up_however_late(tmp_path: Path) -> None:
    """The event has the time at which it was due, so that the delivery can say how late it is."""
    async with ward(tmp_path) as here:
        await here.has(a_job("call mum", Once(at=moment("2026-11-23 09:00"))))

        assert await here.at("2026-11-30 12:00") == [at("2026-11-23 09:00")]

        assert here.fired[0].at == moment("2026-11-23 09:00")
        assert here.channel.screen == []


async def test_what_a_crash_kept_from_being_said_is_said_in_the_next_life(tmp_path: Path) -> None:
    """The missed slot and its message are stored in one transaction."""
    clock = Calendar()
    async with ward(tmp_path, clock=clock, channel=_Broken()) as here:
        await here.has(a_job("x"))
        clock.move_to(moment("2026-11-23 18:00"))
        await here.due.fire()
    async with ward(tmp_path, clock=clock) as here:
        assert await here.look() == []
        [post] = await here.store.outbox.unsent()

    assert post.key.endswith(":proactive:0")
    assert "x (`abc123`), due Mon 23 Nov 09:00" in post.message.markdown


class _Broken(MemoryChannel):
    """A platform whose sends never return."""

    async def send(self, *_: object) -> None:  # type: ignore[override]
        await asyncio.Event().wait()


# Users without permission and platforms without connection


async def test_whose_person_may_not_speak_any_more_is_paused(tmp_path: Path) -> None:
    """The owner is not asked to let the user in, because the user did not write."""
    async with ward(tmp_path) as here:
        await here.has(a_job("x", person="mallory"))

        assert await here.at("2026-11-23 09:00") == []

        job = await here.job()
        assert (job.state, job.pause) == (JobState.PAUSED, Pause.NOT_ALLOWED)
        assert here.offered == []
    assert here.channel.screen == []


async def test_on_a_platform_that_is_not_connected_it_waits(tmp_path: Path) -> None:
    """When the platform is connected again, the rule for missed slots applies."""
    clock = Calendar()
    there = ChatKey(platform="elsewhere", account="a", chat="c")
    people = People(owners=frozenset({"memory:ann", "elsewhere:ann"}), allow=frozenset())
    async with ward(tmp_path, clock=clock, people=people) as here:
        await here.has(a_job("x", chat=there))
        assert await here.at("2026-11-23 09:00") == []
        assert (await here.job()).next_at == moment("2026-11-23 09:00")
    async with ward(tmp_path, clock=clock, people=people, channel=MemoryChannel(name="elsewhere")) as here:
        assert await here.at("2026-11-23 10:00") == [at("2026-11-23 09:00")]


async def test_a_thousand_that_wait_keep_nobody_from_firing(tmp_path: Path) -> None:
    there = ChatKey(platform="elsewhere", account="a", chat="c")
    async with ward(tmp_path) as here:
        await here.has(*(a_job("x", chat=there, name=f"w{number}") for number in range(MOST_AT_ONCE + 10)), a_job("y"))

        assert await here.at("2026-11-23 09:00") == [at("2026-11-23 09:00")]


async def test_a_full_disk_loses_nothing(tmp_path: Path) -> None:
    async with ward(tmp_path) as here:
        await here.has(a_job("x"))
        here.is_full = True
        assert await here.at("2026-11-23 09:00") == []

        here.is_full = False
        assert await here.at("2026-11-23 09:05") == [at("2026-11-23 09:00")]


@pytest.mark.parametrize(
    "broken",
    [{"zone": "Mars/Olympus"}, {"rule": Cron(expression="99 9 * * *")}, {"rule": Once(at=-1e12), "next_at": -1e12}],
)
async def test_a_job_that_nobody_can_keep_is_paused_and_the_others_fire(
    tmp_path: Path, broken: dict[str, object]
) -> None:
    async with ward(tmp_path) as here:
        await here.has(a_job("y", name="def456"), replace(a_job("x"), **broken))  # type: ignore[arg-type]

        assert await here.at("2026-11-23 09:00") == [at("2026-11-23 09:00")]

        assert (await here.job()).pause is Pause.FAILURES


async def test_one_that_breaks_whoever_takes_it_in_keeps_no_other(tmp_path: Path) -> None:
    """The slot counts as missed, and the next one is tried again."""
    async with ward(tmp_path) as here:
        await here.has(a_job("x"), a_job("y", name="zzz789"))
        accept = here.accept

        async def breaks(event: InboundEvent) -> Accepted:
            if isinstance(event, ScheduleFired) and event.job == "abc123":
                raise RuntimeError("a mistake")
            return await accept(event)

        here.inbox = breaks
        await here.at("2026-11-23 09:00")

        assert [event.job for event in here.fired] == ["zzz789"]
        assert await here.missed() == [at("2026-11-23 09:00")]
        assert await here.due.next_due() == moment("2026-11-24 09:00")


async def test_many_of_somebody_who_may_not_speak_keep_no_other(tmp_path: Path) -> None:
    async with ward(tmp_path) as here:
        blocked = (a_job("x", name=f"a{number}", person="mallory") for number in range(2 * MOST_AT_ONCE))
        await here.has(*blocked, a_job("y", name="zzz789"))

        assert await here.at("2026-11-23 09:00") == [at("2026-11-23 09:00")]


# Check-ins


async def test_a_check_in_is_entered_only_if_there_is_something_to_look_at(tmp_path: Path) -> None:
    """A check-in that found nothing stores no row, and the next one is still planned."""
    answers = iter([False, True])

    async def tick(_job: Job, _now: float) -> bool:
        return next(answers)

    async with ward(tmp_path, tick=tick) as here:
        await here.has(a_job(CheckIn(), HOURLY))

        assert await here.at("2026-11-23 09:00") == []
        assert here.offered == []
        assert await here.at("2026-11-23 10:00") == [at("2026-11-23 10:00")]


async def test_a_check_in_that_cannot_be_asked_for_is_not_spoken_of(tmp_path: Path) -> None:
    async def tick(_job: Job, _now: float) -> bool:
        raise OSError("the folder is gone")

    async with ward(tmp_path, tick=tick) as here:
        await here.has(a_job(CheckIn(), HOURLY))

        assert await here.at("2026-11-23 09:00") == []

        assert await here.history() == []
        assert here.channel.screen == []
        assert await here.due.next_due() == moment("2026-11-23 10:00")


async def test_looks_that_were_missed_are_not_spoken_of(tmp_path: Path) -> None:
    async with ward(tmp_path) as here:
        await here.has(a_job(CheckIn(), HOURLY, grace=0.5 * HOUR))

        assert await here.at("2026-11-23 14:45") == []

        assert await here.history() == []
        assert here.channel.screen == []
        assert await here.at("2026-11-23 15:00") == [at("2026-11-23 15:00")]


# Many jobs at once


async def test_many_on_one_minute_all_fire_and_others_have_their_turn(tmp_path: Path) -> None:
    """Other tasks run between the steps."""
    turns = 0

    async def other() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0)
            turns += 1

    async with ward(tmp_path) as here:
        count = 3 * MOST_AT_ONCE + 1
        await here.has(*(a_job("x", NINE, name=f"job{number:04}") for number in range(count)))
        busy = asyncio.create_task(other())

        assert len(await here.at("2026-11-23 09:00")) == count

        busy.cancel()
        assert await here.due.next_due() == moment("2026-11-24 09:00")
    assert len({event.job for event in here.fired}) == count
    assert turns > 10


async def test_what_many_missed_in_one_chat_is_one_message(tmp_path: Path) -> None:
    """One message, however many steps it took to find them."""
    async with ward(tmp_path) as here:
        count = MOST_AT_ONCE + 10
        await here.has(*(a_job("x", NINE, name=f"job{number:04}") for number in range(count)))

        await here.at("2026-11-23 20:00")

        [text] = here.channel.screen
        assert f"{count} times" in text


# Drafts


async def test_drafts_that_nobody_said_yes_to_go_after_a_day(tmp_path: Path) -> None:
    async with ward(tmp_path) as here:
        await here.has(a_job("x", state=JobState.DRAFT), a_job("y", name="def456", state=JobState.PAUSED))

        await here.at("2026-11-24 07:00")
        assert await here.store.jobs.find("abc123") is not None
        await here.at("2026-11-24 08:01")

        assert await here.store.jobs.find("abc123") is None
        assert await here.store.jobs.find("def456") is not None


async def test_a_change_is_told_to_whoever_wakes(tmp_path: Path) -> None:
    async with ward(tmp_path) as here:
        planned = asyncio.Event()
        delivery = Delivery([here.channel], here.store, here.clock)
        switches = HeartbeatSettings(here.store, delivery, here.clock, in_force(), short_ids(), planned.set)

        await switches.on(ANN, Sender(id="ann", name="Ann"), "en", ZoneInfo("Europe/Paris"))

        assert planned.is_set()
