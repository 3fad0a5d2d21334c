"""The message of a firing, and when it is held until the morning."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from agent_core.clock import new_id
from agent_core.origin import CLEAN
from channels.attachments import Attachment
from channels.base import OutboundMessage
from channels.memory import NO_PACE, MemoryChannel
from gateway.delivery.delivery import Delivery
from gateway.permissions.access import Access
from gateway.permissions.roles import Roles
from gateway.schedule.jobs.firing_messages import FiringMessages
from gateway.store.job import CheckIn, Firing, FiringState, Heartbeat, Job, Report
from gateway.store.rule import Every
from gateway.store.store import Store
from tests.gateway.bot import PEOPLE
from tests.gateway.in_force import in_force
from tests.gateway.jobs.kit import ANN, Calendar, a_job, moment

REPORT = Report(instructions="Tell what is new in the notes, and nothing else that anybody could think of, ever")
DAILY = Every(seconds=86_400, since=0)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    async with Store.open(tmp_path, Calendar(), new_id) as store:
        yield store


def fired(job: Job, text: str, **how: object) -> Firing:
    firing = Firing(
        job.id, "2026-11-23T08:00:00Z", "k7m2xp", job.chat, moment("2026-11-23 09:00"), text=text, origin=CLEAN
    )
    return replace(firing, **{"state": FiringState.DONE, **how})  # type: ignore[arg-type]


def messages(store: Store, local: str = "2026-11-23 09:00", files: Sequence[Attachment] = ()) -> FiringMessages:
    channel, clock = MemoryChannel(limits=NO_PACE), Calendar(local)
    access = Access(Roles(PEOPLE), [channel], (), clock)
    delivery, written = Delivery([channel], store, clock), Attachment(name="report.md")
    return FiringMessages(store, delivery, access, clock, in_force(), lambda _: files, lambda *_: written)


async def message(store: Store, job: Job, firing: Firing, *files: Attachment) -> OutboundMessage:
    (post,) = await messages(store, files=files).posts(job, firing)
    return post.message


async def test_every_message_has_a_row_of_three_buttons(store: Store) -> None:
    job = a_job("Call the bank")

    said = await message(store, job, fired(job, "Call the bank"))

    assert said.markdown == "⏰ Call the bank"
    assert [[(each.label, each.action) for each in row] for row in said.buttons] == [
        [
            ("Snooze 1 h", "/proactive snooze k7m2xp 60"),
            ("Done", "/proactive done k7m2xp"),
            ("Less like this", "/proactive less k7m2xp"),
        ]
    ]


async def test_buttons_speak_the_language_of_whose_job_it_is_and_fit_every_platform(store: Store) -> None:
    job = a_job("给银行打电话", language="zh-hans")

    row = (await message(store, job, fired(job, "给银行打电话"))).buttons[0]

    assert [each.label for each in row] == ["1 小时后再提醒", "完成", "少发这类"]
    assert all(len(each.action.encode()) <= 64 for each in row)


async def test_a_report_without_a_title_gets_a_short_one(store: Store) -> None:
    job = a_job(REPORT)
    with_skill = a_job(REPORT.model_copy(update={"skill": "tell-jokes"}))
    shipped = a_job(REPORT.model_copy(update={"skill": "daily-report"}), language="zh")
    says = messages(store)

    assert says.words(job, fired(job, "Two notes.")) == (
        "**Report: Tell what is new in the notes, and nothing else that anybody could think of, ev…**\n\nTwo notes."
    )
    assert says.words(with_skill, fired(job, "Two notes.")) == "**Report: tell jokes**\n\nTwo notes."
    assert says.words(shipped, fired(job, "两条笔记。")) == "**笔记日报**\n\n两条笔记。"


@pytest.mark.parametrize("text", ["# Monday\n\nTwo.", "\n**Monday**\nTwo.", "**周一**：\nTwo."])
async def test_a_report_that_has_a_title_keeps_it(store: Store, text: str) -> None:
    job = a_job(REPORT)

    assert messages(store).words(job, fired(job, text)) == text


async def test_files_go_with_it_and_a_rehearsal_has_no_buttons(store: Store) -> None:
    job, chart = a_job(CheckIn()), Attachment(name="chart.png", path="chart.png")
    said = fired(job, "The build is red.", run="job-abc123")

    assert (await message(store, job, said, chart)).attachments == (chart,)
    assert (await message(store, job, replace(said, slot="test:1"))).buttons == ()
    assert (await message(store, job, replace(said, state=FiringState.FAILED), chart)).attachments == ()


async def looked_after(store: Store, **how: object) -> None:
    """Give Ann's chat a heartbeat."""
    await store.jobs.add(a_job(CheckIn(), DAILY, name="heart1"))
    await store.heartbeats.save(replace(Heartbeat(ANN, "ann", "heart1"), **how))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("local", "held"),
    [
        ("2026-11-23 20:59", False),
        ("2026-11-23 21:00", True),
        ("2026-11-24 03:00", True),
        ("2026-11-24 07:59", True),
        ("2026-11-24 08:00", False),
    ],
)
async def test_reports_wait_while_it_is_quiet(store: Store, local: str, held: bool) -> None:  # noqa: FBT001  # S2-46
    await looked_after(store)
    job, check_in = a_job(REPORT), a_job(CheckIn())

    assert await messages(store, local).is_held(job, fired(job, "x")) is held
    assert await messages(store, local).is_held(check_in, fired(check_in, "x")) is held
    assert await messages(store, local).is_held(job, fired(job, "x", state=FiringState.FAILED)) is held


async def test_reminders_and_what_was_asked_for_just_now_never_wait(store: Store) -> None:
    await looked_after(store)
    reminder, report = a_job("Call"), a_job(REPORT)
    at_night = messages(store, "2026-11-23 23:00")

    assert not await at_night.is_held(reminder, fired(reminder, "Call"))
    assert not await at_night.is_held(report, fired(report, "x", slot="run:1"))


async def test_quiet_hours_count_where_somebody_chose_them_or_the_heartbeat_is_on(store: Store) -> None:
    job, at_night = a_job(REPORT), messages(store, "2026-11-23 23:00")
    said = fired(job, "x")

    assert not await at_night.is_held(job, said)
    await looked_after(store, on=False)
    assert not await at_night.is_held(job, said)
    await looked_after(store, on=False, quiet_chosen=True)
    assert await at_night.is_held(job, said)
    await looked_after(store, on=True, quiet_from=None, quiet_to=None)
    assert not await at_night.is_held(job, said)


async def test_the_night_is_that_of_the_chat_s_zone(store: Store) -> None:
    await store.jobs.add(a_job(CheckIn(), DAILY, name="heart1", zone="Asia/Tokyo"))
    await store.heartbeats.save(Heartbeat(ANN, "ann", "heart1"))
    job = a_job(REPORT)

    assert await messages(store, "2026-11-23 14:00").is_held(job, fired(job, "x"))
    assert not await messages(store, "2026-11-24 02:00").is_held(job, fired(job, "x"))
