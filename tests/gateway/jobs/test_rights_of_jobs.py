"""A job has the rights that its author has when it fires, and says who set it if that was not the chat's own person."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from channels.base import Sender
from channels.memory import NO_PACE, MemoryChannel, user
from gateway.admin.desk import CommandRefused
from gateway.permissions.membership import By
from gateway.permissions.roles import People, Role
from gateway.settings.limits import QuotaSettings
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
    (job,) = await bot.made.base.store.jobs.everywhere()
    return job.state, job.pause


@pytest.mark.parametrize("lowered", ["/role memory:eve guest", "/block memory:eve", "/role memory:eve none"])
async def test_a_job_whose_author_lost_the_right_is_paused_and_those_who_can_act_are_told_once(
    start_bot: StartBot, lowered: str
) -> None:
    bot = await start_bot("Hello.", "Hello.")
    await bot.hears("/allow memory:eve")
    group = bot.channel.chat("eve", group="team")
    assert await bot.made.base.store.jobs.add(replace(NINE, chat=group, person="eve"))
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
        (job,) = await world.bot.made.base.store.jobs.active()
        await world.bot.hears(f"/cron run {job.id}", sender="bob")
        await world.bot.app.settled()
        assert any(each == "⏰ water the plants" for each in world.bot.screen)


async def admin(world: AdminWorld) -> Sender:
    await world.bot.made.people.membership.give(
        By(world.bot.channel.chat("ann"), Sender(id="ann", name="Ann")), Account("memory:carl"), Role.ADMIN
    )
    return Sender(id="memory:carl", name="Carl")


async def test_an_admin_sets_nothing_in_an_owners_private_chat_through_the_page(tmp_path: Path) -> None:
    async with admin_world(tmp_path, "Hi.") as world:
        await world.bot.hears("hello")
        carl, ann = await admin(world), world.bot.channel.chat("ann")
        lines = ["/cron add every day at 9:00 read all", "/report chat", "/remind in 5 minutes x", "/heartbeat on"]
        lines += [
            "/model default",
            "/tz Asia/Tokyo",
            "/budget here 1 USD a day",
        ]
        for line in lines:
            with pytest.raises(CommandRefused, match="page_not_your_chat"):
                await world.desk.run(carl, ann, line, ())
        assert await world.bot.made.jobs.jobs.shown(ann) == []
        assert await world.bot.made.base.store.heartbeats.find(ann) is None


async def test_the_runs_of_one_person_in_a_day_are_limited_and_this_is_told(
    tmp_path: Path,
) -> None:
    async with admin_world(tmp_path, "Sales are fine.", "Not asked.") as world:
        await world.bot.hears("/config set quotas.person_runs 1")
        bob = world.bot.channel.chat("bob")
        now = world.bot.clock.time()
        await world.bot.made.base.store.jobs.add(replace(NINE, chat=bob, created=now))
        for _ in range(2):
            await world.bot.hears("/cron run abc123", sender="bob")
        assert sum("Sales are fine." in each for each in world.bot.screen) == 1
        assert any("at most 1 times a day" in each for each in world.bot.screen)
        assert len(world.bot.llm.requests) == 1


@pytest.mark.parametrize("group", [None, "team"])
async def test_who_has_what_is_kept_of_them_erased_has_no_more_runs(start_bot: StartBot, group: str | None) -> None:
    quotas = QuotaSettings(person_runs=1)
    bot = await start_bot("Sales are fine.", "Not asked.", quotas=quotas, channel=MemoryChannel(limits=NO_PACE))
    chat = bot.channel.chat("bob", group=group)
    for again in (False, True):
        assert await bot.made.base.store.jobs.add(replace(NINE, chat=chat, created=bot.clock.time()))
        await bot.hears("/cron run abc123", sender="bob", group=group)
        if not again:
            await bot.hears("/forget me", sender="bob")
            await bot.channel.presses("Erase for good", sender="bob")
            await bot.app.settled()
            assert await bot.made.base.store.jobs.everywhere() == []

    assert "at most 1 times a day" in bot.screen[-1]
    assert len(bot.llm.requests) == 1


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
    quotas = QuotaSettings()
    assert f"at most {quotas.person_jobs} jobs" in told
    assert f"run at most {quotas.person_runs} times a day" in told
    assert f"a chat's {quotas.chat_jobs} places" in told
    assert quotas.owner_jobs == 10, "the page writes it in words"


PHONE = People(frozenset({"memory:ann"}), frozenset({"memory:bob", "phone:b7", "phone:bob"}))


class TwoPlatforms:
    """Bob has linked his accounts on two platforms; another person is called bob on the second one."""

    def __init__(self) -> None:
        self.phone = MemoryChannel(name="phone")

    async def start(self, start_bot: StartBot, *turns: str, **quotas: int) -> Bot:
        bot: Bot = await start_bot(*turns, beside=[self.phone], people=PHONE, quotas=QuotaSettings(**quotas))
        await bot.hears("/link", sender="bob")
        code = bot.screen[-1].partition("/link ")[2][:8]
        await self.hears(bot, f"/link {code}")
        await self.phone.presses("Yes, link it", sender="b7")
        await bot.app.settled()
        return bot

    async def hears(self, bot: Bot, text: str, sender: str = "b7") -> str:
        await self.phone.hears(text, sender=user(sender))
        await bot.app.settled()
        return self.phone.screen_of(self.phone.chat(sender))[-1]


async def test_linked_accounts_share_the_limit_of_jobs(start_bot: StartBot) -> None:
    platforms = TwoPlatforms()
    bot = await platforms.start(start_bot, person_jobs=2)
    await bot.hears("/remind in 1 hour water the plants", sender="bob")
    assert "water the roses" in await platforms.hears(bot, "/remind in 1 hour water the roses")

    told = await platforms.hears(bot, "/remind in 1 hour water the lawn")
    assert "You have 2 jobs already" in told
    assert "water the lawn" in await platforms.hears(bot, "/remind in 1 hour water the lawn", sender="bob")


async def test_linked_accounts_share_the_limit_of_runs(start_bot: StartBot) -> None:
    platforms = TwoPlatforms()
    bot = await platforms.start(start_bot, "Sales are fine.", "Not asked.", person_runs=1)
    now = bot.clock.time()
    await bot.made.base.store.jobs.add(replace(NINE, chat=bot.channel.chat("bob"), created=now))
    await bot.made.base.store.jobs.add(
        replace(NINE, id="abc124", chat=platforms.phone.chat("b7"), person="b7", created=now)
    )
    await bot.hears("/cron run abc123", sender="bob")
    await platforms.hears(bot, "/cron run abc124")
    assert len(bot.llm.requests) == 1
    await platforms.phone.until(lambda: any("at most 1 times a day" in each for each in platforms.phone.screen))
