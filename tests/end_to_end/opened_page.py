"""The page of a program in a browser that was let in by its link."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from playwright.async_api import Browser, Page

from tests.end_to_end.program import Program
from tests.entering import enter
from tests.process import until

LINK = re.compile(r"http://127\.0\.0\.1:\d+/\?token=\S+")


async def link_of(program: Program, *, after: int = 0) -> str:
    """Wait until the program has printed more than `after` links to the page, and return the newest one."""
    await until(lambda: len(LINK.findall(program.console)) > after)
    return str(LINK.findall(program.console)[-1])


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
