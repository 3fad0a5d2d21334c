"""An owner follows the log, and has everything checked, in a real browser."""

from pathlib import Path

from playwright.async_api import Browser, expect

from gateway.records.recent_log import RECENT
from tests.end_to_end.axe import accessible
from tests.end_to_end.browser import NEEDS_BROWSER
from tests.gateway.admin.desk import admin_world

pytestmark = NEEDS_BROWSER

AT_ITS_END = """async () => {
  const isAtEnd = (log) => log.scrollTop > 0 && log.scrollHeight - log.scrollTop - log.clientHeight < 40;
  while (!isAtEnd(document.getElementById("log"))) await new Promise((done) => setTimeout(done, 20));
}"""
"""Waits until the log shows its newest lines."""


async def test_new_lines_of_the_log_follow_by_themselves_and_are_filtered(browser: Browser, tmp_path: Path) -> None:
    RECENT.take("level=info event=before\n")
    async with admin_world(tmp_path) as world, world.tab(browser, "log") as tab:
        log = tab.get_by_role("log")
        await expect(log).to_contain_text("event=before")
        RECENT.take("level=warning event=after\n" + "level=info event=more\n" * 5_000)
        await expect(log).to_contain_text("event=more")
        assert await log.locator("div").count() <= 1_000, "a flood is skipped"
        await accessible(tab)
        RECENT.take("level=warning event=many\n" * 200)
        await tab.get_by_label("From level").select_option("warning")
        await expect(log).not_to_contain_text("event=more")
        await tab.evaluate(AT_ITS_END)
        RECENT.take("level=warning event=late\n")
        await expect(log).to_contain_text("event=late")
        await expect(log).not_to_contain_text("event=more")


async def test_everything_is_checked_on_the_page_of_health(browser: Browser, tmp_path: Path) -> None:
    async with admin_world(tmp_path) as world, world.tab(browser, "health") as tab:
        await tab.get_by_role("link", name="Check now").click()
        await expect(tab.get_by_text("settings:")).to_be_visible()
        await accessible(tab)
