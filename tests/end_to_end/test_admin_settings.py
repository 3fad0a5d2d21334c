"""An owner changes a setting in a real browser, and returns to that of the files."""

from pathlib import Path

from playwright.async_api import Browser, expect

from tests.end_to_end.axe import accessible
from tests.end_to_end.browser import NEEDS_BROWSER
from tests.gateway.admin.desk import admin_world
from tests.process import until

pytestmark = NEEDS_BROWSER


async def test_a_setting_is_found_changed_and_reset(browser: Browser, tmp_path: Path) -> None:
    async with admin_world(tmp_path) as world, world.tab(browser, "settings") as tab:
        await tab.get_by_label("Find a setting").press_sequentially("keep_days")
        await expect(tab.get_by_role("heading", name="Time zone")).to_have_count(0)
        title = "Days that long results are kept"
        row = tab.get_by_role("listitem").filter(has_text=title)
        await row.get_by_text("Change", exact=False).first.click()
        await row.get_by_label(title, exact=True).fill("60")
        await row.get_by_role("button", name=f"Set {title}").click()

        await expect(tab.get_by_role("status").first).to_contain_text("60")
        await expect(row).to_contain_text("set by web:local")
        await until(lambda: world.bot.made.base.current.now.keep_days == 60)
        await accessible(tab)

        await row.get_by_role("button", name=f"Reset {title}").click()
        await until(lambda: world.bot.made.base.current.now.keep_days == 30)
        await expect(row).to_contain_text("default")
