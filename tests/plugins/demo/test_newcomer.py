"""A newcomer without an account or a key starts Parley, opens the page, and talks to the demo model."""

from pathlib import Path

import pytest
from playwright.async_api import Browser, expect

from tests.end_to_end.browser import NEEDS_BROWSER
from tests.end_to_end.opened_page import LINK, link_of, opened, say
from tests.end_to_end.program import Program
from tests.plugins.demo.with_memory import HAS_MEMORY

pytestmark = [*NEEDS_BROWSER, pytest.mark.timeout(120)]


PLANNED = "Your day" if HAS_MEMORY else "which is not switched on here"


async def test_a_newcomer_sees_everything_but_intelligence(browser: Browser, tmp_path: Path) -> None:
    program = Program(tmp_path, {"PARLEY_MODEL": "demo", "PARLEY_WEB_PORT": "0"})
    await program.launch()
    log = "[role=log]"
    try:
        first_link = await link_of(program)
        assert program.console.startswith("Parley "), "what is told to a newcomer comes before any log"
        async with opened(browser, first_link) as page:
            await expect(page.get_by_text("demo, no AI")).to_be_visible()

            await say(page, "what is 17 * 23?")
            await expect(page.locator(log)).to_contain_text("17 * 23 = 391")

            await say(page, "plan my day")
            await expect(page.locator(log)).to_contain_text(PLANNED)
            await expect(page.get_by_role("button", name="Stop")).to_have_count(0)

            await say(page, "read welcome.txt")
            await expect(page.locator(log)).to_contain_text("Welcome to Parley")
        await program.kill()
        printed = len(LINK.findall(program.console))
        await program.launch()
        async with opened(browser, await link_of(program, after=printed)) as page:
            await expect(page.locator(log)).to_contain_text("17 * 23 = 391")
            await expect(page.locator(log)).to_contain_text(PLANNED)
    finally:
        await program.kill()
