"""The overview: whether all is well, what waits, what it costs, what comes next, and what happened."""

import os
import time
from pathlib import Path

from aiohttp import ClientSession

from agent_core.models.scripted import SCRIPTED_MODEL
from channels.memory import NO_PACE, MemoryChannel, user
from gateway.admin.screens.overview import KNOWN
from gateway.permissions.roles import People
from tests.clock import OffsetClock
from tests.gateway.admin.desk import admin_world
from tests.gateway.approving import CHART, asked, recorder
from tests.gateway.jobs.kit import moment

NOON = moment("2026-11-23 12:00")
OWNER = People(owners=frozenset({"memory:ann"}), allow=frozenset({"memory:bob"}))


async def overview(client: ClientSession, language: str = "en") -> str:
    async with client.get("/admin/overview", headers={"Accept-Language": language}) as answer:
        assert answer.status == 200
        return await answer.text()


async def test_manage_opens_with_the_overview(tmp_path: Path) -> None:
    async with admin_world(tmp_path) as world, world.client() as client, client.get("/admin/") as answer:
        assert answer.url.path == "/admin/overview"


async def test_a_part_that_is_not_well_is_told_with_what_mends_it(tmp_path: Path) -> None:
    async with admin_world(tmp_path) as world, world.client() as client:
        text = await overview(client)
        assert "only this page and the terminal" in text
        assert '<a href="/admin/connect">Connect a platform</a>' in text
        assert "the first is made tonight" in text
        assert "All is well" in text

        old = tmp_path / "backups" / "parley-2026-01-01.zip"
        old.parent.mkdir()
        old.touch()
        os.utime(old, (0, time.time() - 3 * 86_400))
        text = await overview(client)
        assert "Something needs you" in text
        assert "the last one is old: " in text


async def test_what_waits_is_named_and_linked(tmp_path: Path) -> None:
    tool, _ = recorder()
    async with admin_world(tmp_path, CHART, "Done.", tools=(tool,)) as world, world.client() as client:
        assert "Nothing waits for you." in await overview(client)
        await asked(world.bot, sender=user("bob"))
        text = await overview(client)
        assert '<a href="/admin/inbox">May I do this?</a>' in text
        assert "Open the inbox (1)" in text


async def test_the_cost_of_today_is_shown_against_the_budget(tmp_path: Path) -> None:
    model = SCRIPTED_MODEL.model_copy(update={"input_price": 1000.0, "output_price": 1000.0})
    clock = OffsetClock.at(NOON)  # no midnight comes in between
    channel = MemoryChannel(limits=NO_PACE, now=clock.time)
    async with (
        admin_world(tmp_path, "Hi.", model=model, clock=clock, channel=channel) as world,
        world.client() as client,
    ):
        assert "No budget for everything is set." in await overview(client)
        await world.bot.hears("/budget all 50 USD a day")
        await world.bot.hears("hello")
        text = await overview(client)
        assert "used of 50 USD a day" in text
        assert "1 model calls" not in text
        assert "1 model call" in text


async def test_what_comes_next_and_what_happened_are_shown_with_their_words(tmp_path: Path) -> None:
    async with admin_world(tmp_path, "Hi.", people=OWNER) as world, world.client() as client:
        await world.bot.hears("what is the plum price?", sender="bob")
        await world.bot.hears("/remind tomorrow at 9 buy the plums")
        await world.bot.channel.presses("Confirm")
        await world.bot.app.settled()
        text = await overview(client)
        assert "what is the plum price?" in text
        assert '<span class="pill outcome-completed">completed</span>' in text
        assert "buy the plums" in text
        assert "in 1 day" in text or "hours" in text

        seen = await world.seen_by_admin("overview")
        assert "plum" not in seen
        assert "words of somebody else" in seen


async def test_the_first_steps_go_when_all_are_done_or_parley_is_known(tmp_path: Path) -> None:
    async with admin_world(tmp_path, *["Hi."] * (KNOWN + 1)) as world, world.client() as client:
        text = await overview(client)
        assert "First steps" in text
        assert '<a href="/">Ask something</a>' in text
        await world.bot.hears("hello")
        assert "<s>Ask something</s>" in await overview(client)
        for _ in range(KNOWN):
            await world.bot.hears("hello")
        assert "First steps" not in await overview(client)


async def test_the_navigation_is_in_groups(tmp_path: Path) -> None:
    async with admin_world(tmp_path) as world, world.client() as client:
        text = await overview(client, "zh-CN")
        assert [text.index(f">{each}<") for each in ("对话", "工作", "人员", "系统")] == sorted(
            text.index(f">{each}<") for each in ("对话", "工作", "人员", "系统")
        )


async def test_times_are_in_the_zone_of_the_browser(tmp_path: Path) -> None:
    async with admin_world(tmp_path, "Hi.") as world, world.client() as client:
        await world.bot.hears("hello")
        for zone in ("Asia/Tokyo", "No/Zone", "../../etc/passwd", "a\u00e9".encode().decode("latin-1")):
            async with client.get("/admin/overview", headers={"X-Parley-Zone": zone}) as answer:
                text = await answer.text()
            assert ("Asia/Tokyo" if zone == "Asia/Tokyo" else "Europe/Paris") in text
            assert '<time datetime="' in text


async def test_without_a_screen_of_costs_it_leads_to_the_command_that_sets_a_budget(tmp_path: Path) -> None:
    async with admin_world(tmp_path, plugins=()) as world, world.client() as client:
        text = await overview(client)
        assert '<a href="/?text=/budget%20all%20">' in text
        assert "/admin/costs" not in text


async def test_a_model_that_was_never_connected_is_a_step_and_no_alarm(tmp_path: Path) -> None:
    plays = SCRIPTED_MODEL.model_copy(update={"is_ai": False})
    async with admin_world(tmp_path, *["Hi."] * (KNOWN + 1), model=plays) as world, world.client() as client:
        text = await overview(client)
        assert "A few steps are left" in text
        assert "only a stand-in, no AI" in text
        for _ in range(KNOWN + 1):
            await world.bot.hears("hello")
        assert "Something needs you" in await overview(client), "nobody is on the first steps any more"
