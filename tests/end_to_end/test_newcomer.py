"""A newcomer without an account or a key starts Parley, opens the page, and talks to the demo model."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, expect

from tests.end_to_end.browser import NEEDS_BROWSER
from tests.end_to_end.program import Program
from tests.entering import enter

LINK = re.compile(r"http://127\.0\.0\.1:\d+/\?token=\S+")

pytestmark = [*NEEDS_BROWSER, pytest.mark.timeout(120)]


async def link_of(program: Program, *, after: int = 0) -> str:
    """Wait until the program has printed more than `after` links to the page, and return the newest one."""
    for _ in range(3_000):
        links = LINK.findall(program.console)
        if len(links) > after:
            return str(links[-1])
        await asyncio.sleep(0.02)
    raise AssertionError(f"no link to the page: {program.console}")


@asynccontextmanager
async def opened(browser: Browser, link: str, zone: str = "UTC") -> AsyncIterator[Page]:
    context = await browser.new_context(locale="en-GB", timezone_id=zone)
    context.set_default_timeout(30_000)
    page = await context.new_page()
    await enter(page, link)
    yield page
    await context.close()


async def say(page: Page, text: str) -> None:
    await page.get_by_role("textbox").fill(text)
    await page.keyboard.press("Enter")


async def test_a_newcomer_sees_everything_but_intelligence(browser: Browser, tmp_path: Path) -> None:
    program = Program(tmp_path, {"PARLEY_MODEL": "demo", "PARLEY_WEB_PORT": "0"})
    await program.launch()
    log = "[role=log]"
    try:
        first_link = await link_of(program)
        assert program.console.startswith("Parley "), "what is told to a newcomer comes before any log"
        async with opened(browser, first_link) as page:
            await expect(page.get_by_text("Demo model, no AI")).to_be_visible()

            await say(page, "what is 17 * 23?")
            await expect(page.locator(log)).to_contain_text("17 * 23 = 391")

            await say(page, "plan my day")
            await expect(page.get_by_role("button", name="Stop")).to_be_visible()
            await expect(page.locator(log)).to_contain_text("Your day")
            await expect(page.get_by_role("button", name="Stop")).to_have_count(0)

            await say(page, "read welcome.txt")
            await expect(page.locator(log)).to_contain_text("Welcome to Parley")
        await program.kill()
        printed = len(LINK.findall(program.console))
        await program.launch()
        async with opened(browser, await link_of(program, after=printed)) as page:
            await expect(page.locator(log)).to_contain_text("17 * 23 = 391")
            await expect(page.locator(log)).to_contain_text("Your day")
    finally:
        await program.kill()
