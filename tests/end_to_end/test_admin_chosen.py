"""Rows are chosen and acted on together: by the keyboard, on a phone, and with what can be taken back."""

from dataclasses import replace
from pathlib import Path

from playwright.async_api import Browser, expect

from agent_core.models.scripted import calls
from tests.end_to_end.axe import accessible
from tests.end_to_end.browser import NEEDS_BROWSER
from tests.end_to_end.test_admin_inbox import PHONE, fits
from tests.gateway.admin.desk import admin_world
from tests.gateway.admin.test_schedules import NINE
from tests.gateway.approving import asked, recorder

pytestmark = NEEDS_BROWSER


async def test_all_jobs_are_paused_and_resumed_by_the_keyboard(browser: Browser, tmp_path: Path) -> None:
    async with admin_world(tmp_path) as world:
        for name in ("abc123", "abc124", "abc125"):
            await world.bot.made.base.store.jobs.add(replace(NINE, id=name))
        async with world.tab(browser, "schedules") as tab:
            bar = tab.get_by_role("form", name="Chosen rows")
            await expect(bar.get_by_role("button")).to_have_count(0)
            await bar.get_by_role("checkbox", name="All on this page").focus()
            await tab.keyboard.press("Space")
            await expect(bar).to_contain_text("3 chosen")
            await accessible(tab)
            await tab.keyboard.press("Tab")
            await tab.keyboard.press("Enter")
            await expect(tab.locator(".pill", has_text="paused")).to_have_count(3)
            await expect(bar).to_contain_text("3 chosen")

            first = tab.get_by_role("checkbox", name="Choose:").first
            await first.focus()
            await tab.keyboard.press("Space")
            await expect(bar).to_contain_text("2 chosen")
            await expect(bar.get_by_role("checkbox")).to_have_js_property("indeterminate", True)  # noqa: FBT003
            await bar.get_by_role("button", name="Resume").click()
            await expect(tab.locator(".pill", has_text="paused")).to_have_count(1)


async def test_what_waits_is_turned_down_together_on_a_phone(browser: Browser, tmp_path: Path) -> None:
    tool, ran = recorder()
    turns = (calls(("run", {"command": ["rm", "a"]})), "Not done.")
    async with admin_world(tmp_path, *turns, tools=(tool,)) as world:
        await asked(world.bot)
        async with world.tab(browser, "inbox", width=PHONE) as tab:
            bar = tab.get_by_role("form", name="Chosen rows")
            await expect(tab.get_by_role("article")).to_have_count(1)
            await expect(bar).to_be_hidden()
            await world.bot.channel.hears("May I ask you things?", sender="zoe")
            await expect(tab.get_by_role("article")).to_have_count(2)
            await bar.get_by_role("checkbox", name="All on this page").check()
            await fits(tab)
            await accessible(tab)
            await bar.get_by_role("button", name="Deny or ignore").click()
            await expect(tab.get_by_text("Nothing waits for you")).to_be_visible()
            await expect(bar).to_be_hidden()
        await world.bot.app.settled()
        assert ran == []
