"""The button on the page's screen of a run is pressed in a browser."""

from pathlib import Path

from playwright.async_api import Browser, expect

from tests.end_to_end.axe import accessible
from tests.end_to_end.browser import NEEDS_BROWSER
from tests.gateway.admin.desk import admin_world
from tests.gateway.admin.test_runs import only_run
from tests.gateway.approving import acting
from tests.plugins.why.test_why_on_the_page import RUNS

pytestmark = NEEDS_BROWSER


async def test_it_is_pressed_in_a_browser(browser: Browser, tmp_path: Path) -> None:
    async with admin_world(tmp_path, RUNS, "Here they are.", tools=(acting("read"),)) as world:
        await world.bot.hears("Look at the sales", sender="bob")
        async with world.tab(browser, f"runs/{await only_run(world)}") as tab:
            await tab.get_by_role("button", name="Why?").click()
            await expect(tab.get_by_role("status")).to_contain_text("Look at the sales")
            await accessible(tab)
