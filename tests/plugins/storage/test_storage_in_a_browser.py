"""An owner looks at the screen of storage in a real browser."""

from pathlib import Path

from playwright.async_api import Browser, expect

from tests.end_to_end.axe import accessible
from tests.end_to_end.browser import NEEDS_BROWSER
from tests.gateway.admin.desk import admin_world

pytestmark = NEEDS_BROWSER


async def test_it_is_reached_from_another_screen_and_can_be_read_by_all(browser: Browser, tmp_path: Path) -> None:
    async with admin_world(tmp_path) as world, world.tab(browser, "health") as tab:
        await tab.get_by_role("link", name="Storage").click()
        await expect(tab.get_by_text("Database")).to_be_visible()
        await accessible(tab)
