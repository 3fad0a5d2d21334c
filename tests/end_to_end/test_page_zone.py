"""The time zone of a real browser is that of the times that its person sets on the page."""

from pathlib import Path

from playwright.async_api import Browser, expect

from tests.end_to_end.browser import NEEDS_BROWSER
from tests.end_to_end.opened_page import link_of, opened, say
from tests.end_to_end.program import Program
from tests.process import SILENT

pytestmark = NEEDS_BROWSER


async def test_it_is_said_with_the_first_time_and_changed_with_a_button(browser: Browser, tmp_path: Path) -> None:
    settings = {**SILENT, "PARLEY_WEB_PORT": "0", "PARLEY_TIMEZONE": "UTC"}
    program = Program(tmp_path, settings)
    await program.launch()
    try:
        async with opened(browser, await link_of(program), "Asia/Tokyo") as page:
            shown = page.locator("[role=log]")
            await say(page, "/remind tomorrow at 9:00 stretch")
            await expect(shown).to_contain_text("(Asia/Tokyo)")
            await expect(shown).to_contain_text("Times are by the clock of Asia/Tokyo (from your browser).")

            await page.get_by_role("button", name="Change zone").click()
            await page.get_by_role("button", name="London").click()
            await expect(shown).to_contain_text("(Europe/London)")

            await say(page, "/remind tomorrow at 10:00 walk")
            await expect(shown).to_contain_text("10:00 (Europe/London)")
    finally:
        await program.kill()
