"""An owner plans, changes and removes jobs of another chat on the admin pages."""

from pathlib import Path

from playwright.async_api import Browser, Page, expect

from channels.memory import user
from tests.end_to_end.axe import accessible
from tests.end_to_end.browser import NEEDS_BROWSER
from tests.end_to_end.test_admin_inbox import PHONE, fits
from tests.gateway.admin.desk import admin_world
from tests.gateway.admin.test_schedules import BOB, NINE

pytestmark = NEEDS_BROWSER


async def confirms(tab: Page) -> None:
    await tab.get_by_role("status").get_by_role("button", name="Confirm").click()


async def test_a_job_is_added_changed_removed_and_brought_back(browser: Browser, tmp_path: Path) -> None:
    async with admin_world(tmp_path, "Hi Bob") as world:
        await world.bot.channel.hears("hello", sender=user("bob"))
        await world.bot.app.settled()
        async with world.tab(browser, "schedules") as tab:
            await expect(tab.get_by_text("Nothing is planned yet")).to_be_visible()
            await tab.get_by_role("combobox", name="Chat").last.select_option(str(BOB))
            await tab.get_by_label("Time, such as").fill("every weekday 9:00")
            await tab.get_by_role("textbox", name="Words").fill("Look at the <b>sales</b>")
            await tab.get_by_role("button", name="Preview").click()
            await expect(tab.get_by_role("status")).to_contain_text("Look at the <b>sales</b>")
            await confirms(tab)
            row = tab.get_by_role("row").filter(has_text="sales")
            await expect(row).to_contain_text("Europe/Paris")
            await accessible(tab)

            await row.get_by_role("button", name="Pause").click()
            await expect(row).to_contain_text("paused")
            await row.get_by_role("button", name="Resume").click()
            await expect(row).to_contain_text("active")

            await row.get_by_role("link").click()
            await tab.get_by_role("textbox", name="New words").fill("Look at the costs")
            await tab.get_by_role("button", name="Preview: New words").click()
            await confirms(tab)
            await expect(tab.get_by_role("blockquote").last).to_contain_text("Look at the costs")
            await accessible(tab)

            await tab.get_by_role("link", name="All schedules").click()
            row = tab.get_by_role("row").filter(has_text="costs")
            await row.get_by_role("button", name="Remove").click()
            await expect(row).to_have_count(0)
            await tab.get_by_role("button", name="Undo").click()
            await expect(row).to_have_count(1)


async def test_two_tabs_that_edit_one_job(browser: Browser, tmp_path: Path) -> None:
    async with admin_world(tmp_path) as world:
        await world.bot.made.base.store.jobs.add(NINE)
        async with (
            world.tab(browser, "schedules/abc123") as first,
            world.tab(browser, "schedules/abc123", width=PHONE) as second,
        ):
            await fits(second)
            await first.get_by_role("textbox", name="New time").fill("every day at 8:00")
            await first.get_by_role("button", name="Preview: New time").click()
            await confirms(first)
            await expect(first.get_by_role("main")).to_contain_text("every day at 08:00")

            await second.get_by_role("textbox", name="New words").fill("Look at the costs")
            await second.get_by_role("button", name="Preview: New words").click()
            await expect(second.get_by_role("status")).to_contain_text("was changed meanwhile")
            await expect(second.get_by_role("textbox", name="New time")).to_have_attribute(
                "placeholder", "every day at 08:00"
            )
            await accessible(second)
