"""The screen of MCP servers in a browser."""

from pathlib import Path

from playwright.async_api import Browser, expect

from tests.end_to_end.axe import accessible
from tests.end_to_end.browser import NEEDS_BROWSER
from tests.gateway.admin.desk import admin_world
from tests.gateway.test_approved_tools import EVIL, PLAIN, approved_in, described

pytestmark = NEEDS_BROWSER


async def test_changed_tools_of_a_server_are_looked_at_and_approved(browser: Browser, tmp_path: Path) -> None:
    approved = approved_in(tmp_path)
    approved.see("words", (described(PLAIN),))
    approved.see("words", (described(EVIL),))
    async with admin_world(tmp_path, approved=approved) as world, world.tab(browser, "mcp") as tab:
        await tab.get_by_role("button", name="Look at the changes").click()
        status = tab.get_by_role("status")
        await expect(status).to_contain_text(EVIL)
        await accessible(tab)
        await status.get_by_role("button").first.click()
        await expect(tab.get_by_role("button", name="Look at the changes")).to_have_count(0)
