"""An owner installs a skill from a file in a real browser, and loads it."""

from pathlib import Path

from playwright.async_api import Browser, expect

from tests.agent_core.skills.packing import zipped
from tests.end_to_end.axe import accessible
from tests.end_to_end.browser import NEEDS_BROWSER
from tests.gateway.admin.desk import admin_world
from tests.gateway.test_skill_install import shared

pytestmark = NEEDS_BROWSER


async def test_a_skill_is_installed_looked_at_and_loaded_everywhere(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "rates.zip").write_bytes(zipped())
    async with admin_world(tmp_path, skills=shared(tmp_path)) as world, world.tab(browser, "skills") as tab:
        await tab.get_by_label("Archive (zip, tar.gz)").set_input_files(tmp_path / "rates.zip")
        await tab.get_by_role("button", name="Look at it: the skill in this file").click()
        status = tab.get_by_role("status")
        await expect(status).to_contain_text("The scan found nothing.")
        await accessible(tab)
        await status.get_by_role("button", name="Install").click()
        await tab.get_by_role("link", name="rates").click()
        await expect(tab.get_by_text("approved by web:local")).to_be_visible()
        await tab.get_by_role("button", name="Load in all chats").click()
        await expect(tab.get_by_role("button", name="Unload rates: all chats")).to_be_visible()
        await accessible(tab)
