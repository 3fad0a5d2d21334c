"""A job has the rights that its author has when it fires, and says who set it if that was not the chat's own person."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from channels.base import Sender
from gateway.admin.desk import CommandRefused
from gateway.permissions.membership import By
from gateway.permissions.roles import Role
from gateway.schedule.jobs import jobs, outcome
from gateway.store.job import JobState, Pause
from gateway.store.person import Account
from tests.gateway.admin.desk import AdminWorld, admin_world
from tests.gateway.admin.test_schedules import NINE
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot
from tests.gateway.jobs.kit import a_job
from tests.gateway.jobs.waking import ward
from tests.process import REPOSITORY

LOCAL = Sender(id="local", name="You")


async def only_job(bot: Bot) -> tuple[JobState, Pause | None]:
    (job,) = await bot.made.store.jobs.everywhere()
    return job.state, job.pause


@pytest.mark.parametrize("lowered", ["/role memory:eve guest", "/block memory:eve", "/role memory:eve none"])
async def test_a_job_whose_author_lost_the_right_is_paused_and_those_who_can_act_are_told_once(
    start_bot: StartBot, lowered: str
) -> None:
    bot = await start_bot("Hello.", "Hello.")
    await bot.hears("/allow memory:eve")
    group = bot.channel.chat("eve", group="team")
    assert await bot.made.store.jobs.add(replace(NINE, chat=group, person="eve"))
    assert await only_job(bot) == (JobState.ACTIVE, None)

    await bot.hears(lowered)
    await bot.app.settled()
    assert await only_job(bot) == (JobState.PAUSED, Pause.NOT_ALLOWED)
    assert sum("scheduled jobs: 1" in text for text in bot.screen) <= 1

    await bot.hears("/allow memory:eve")
    await bot.hears("hello", sender="eve", group="team")
    assert await only_job(bot) == (JobState.ACTIVE, None)


async def test_a_job_that_an_owner_set_from_the_page_says_so(tmp_path: Path) -> None:
    async with admin_world(tmp_path, "Hi.", "Sales are fine.") as world:
        await world.bot.hears("hello", sender="bob")
        bob = world.bot.channel.chat("bob")
        shown = await world.desk.run(LOCAL, bob, "/cron add every day at 9:00 look at the sales", ())
        found = re.search(r"/cron confirm ([0-9a-z]{6})", str(shown))
        assert found is not None
        await world.desk.run(LOCAL, bob, f"/cron confirm {found[1]}", ())
        await world.desk.run(LOCAL, bob, f"/cron run {found[1]}", ())
        await world.bot.app.settled()
        assert any("Sales are fine." in each and "Set by" in each for each in world.bot.screen)


async def test_the_chats_own_person_is_not_named(tmp_path: Path) -> None:
    async with admin_world(tmp_path) as world:
        await world.bot.hears("/remind in 1 hour water the plants", sender="bob")
        (job,) = await world.bot.made.store.jobs.active()
        await world.bot.hears(f"/cron run {job.id}", sender="bob")
        await world.bot.app.settled()
        assert any(each == "⏰ water the plants" for each in world.bot.screen)


async def admin(world: AdminWorld) -> Sender:
    await world.bot.made.membership.give(
        By(world.bot.channel.chat("ann"), Sender(id="ann", name="Ann")), Account("memory:carl"), Role.ADMIN
    )
    return Sender(id="memory:carl", name="Carl")


async def test_an_admin_sets_nothing_in_an_owners_private_chat_through_the_page(tmp_path: Path) -> None:
    async with admin_world(tmp_path, "Hi.") as world:
        await world.bot.hears("hello")
        carl, ann = await admin(world), world.bot.channel.chat("ann")
        lines = ["/cron add every day at 9:00 read all", "/report chat", "/remind in 5 minutes x", "/heartbeat on"]
        lines += [
            "/undo",
            "/export",
            "/search hello",
            "/memory",
            "/model default",
            "/tz Asia/Tokyo",
            "/budget here 1 USD a day",
        ]
        for line in lines:
            with pytest.raises(CommandRefused, match="page_not_your_chat"):
                await world.desk.run(carl, ann, line, ())
        assert await world.bot.made.jobs.shown(ann) == []
        assert await world.bot.made.store.heartbeats.find(ann) is None


async def test_the_runs_of_one_person_in_a_day_are_limited_and_this_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outcome, "MOST_RUNS_A_DAY", 1)
    async with admin_world(tmp_path, "Sales are fine.", "Not asked.") as world:
        bob = world.bot.channel.chat("bob")
        now = world.bot.clock.time()
        await world.bot.made.store.jobs.add(replace(NINE, chat=bob, created=now))
        for _ in range(2):
            await world.bot.hears("/cron run abc123", sender="bob")
        assert sum("Sales are fine." in each for each in world.bot.screen) == 1
        assert any("at most 1 times a day" in each for each in world.bot.screen)
        assert len(world.bot.llm.requests) == 1


async def test_a_group_is_told_once_if_the_person_of_a_job_lost_the_right_there(tmp_path: Path) -> None:
    async with ward(tmp_path) as here:
        await here.has(a_job("water the plants", person="mallory", chat=here.channel.chat("mallory", group="team")))
        for _ in range(2):
            assert await here.at("2026-11-23 09:00") == []
        assert (await here.job()).pause is Pause.NOT_ALLOWED
        (told,) = here.channel.screen
        assert told.startswith("Paused, as its person may not have jobs here any more: water the plants (`abc123`)")


async def test_the_page_tells_the_limits_that_hold() -> None:
    told = (REPOSITORY / "docs" / "people.md").read_text("utf-8")
    assert f"at most {jobs.MOST_OF_PERSON} jobs on a platform" in told
    assert f"run at most {outcome.MOST_RUNS_A_DAY} times a day" in told
    assert f"a chat's {jobs.MOST_ACTIVE} places" in told
    assert jobs.MOST_ACTIVE - jobs.MOST_OF_OTHERS == 10, "the page writes it in words"
