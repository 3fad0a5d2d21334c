"""An owner lets people in and changes their roles on the admin pages."""

from pathlib import Path

from playwright.async_api import Browser, expect

from channels.memory import user
from tests.end_to_end.browser import NEEDS_BROWSER
from tests.gateway.admin.desk import admin_world

pytestmark = NEEDS_BROWSER


async def test_a_stranger_is_let_in_made_a_guest_and_blocked(browser: Browser, tmp_path: Path) -> None:
    async with admin_world(tmp_path, "Nice to meet you.") as world, world.tab(browser, "people") as tab:
        await world.bot.channel.hears("Hi, I am <b>Zoe</b>", sender=user("zoe"))
        await world.bot.app.settled()

        await tab.reload()
        await expect(tab.get_by_role("link", name="People 1 waiting")).to_be_visible()
        await expect(tab.locator("blockquote")).to_have_text("Hi, I am <b>Zoe</b>")
        await tab.get_by_role("button", name="Allow").click()
        await expect(tab.get_by_role("status")).to_contain_text("zoe")

        row = tab.get_by_role("row").filter(has_text="memory:zoe")
        await expect(row).to_contain_text("Member")
        await expect(tab.locator("blockquote")).to_have_count(0)
        await row.get_by_role("combobox").select_option("guest")
        await row.get_by_role("button", name="Change").click()
        await expect(row.get_by_role("cell").nth(2)).to_contain_text("Guest")
        await row.get_by_role("button", name="Block").click()
        await expect(row.get_by_role("cell").nth(2)).to_contain_text("Blocked")
