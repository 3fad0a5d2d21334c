"""Killed while somebody is on the page: the browser stays signed in, and each message is there once with its answer."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, expect

from tests.emulators.model_script import Answer, ModelRequest, Turn
from tests.emulators.openai import OpenAiEmulator
from tests.end_to_end.browser import NEEDS_BROWSER
from tests.end_to_end.opened_page import LINK, link_of, opened, say
from tests.end_to_end.program import Program, forked

pytestmark = [*NEEDS_BROWSER, pytest.mark.timeout(120)]

MOMENTS = (0.0, 0.02, 0.08, 0.3)
"""Seconds between a message and the kill."""
MODEL_S = 0.2


def _names(asked: ModelRequest) -> Answer:
    return Turn(f"Heard {re.findall(r'word [0-9]+', asked.last_text)[-1]}.", first_byte=MODEL_S)


@asynccontextmanager
async def _served(folder: Path, port: int) -> AsyncIterator[Program]:
    async with OpenAiEmulator(_names, models=("test-model",)) as model:
        environ = {"OPENAI_BASE_URL": model.base_url, "OPENAI_API_KEY": "sk-test", "PARLEY_WEB_PORT": str(port)}
        async with forked(folder, environ) as program:
            yield program


async def _again(program: Program) -> None:
    """Kill it, and wait until it serves the page again."""
    printed = len(LINK.findall(program.console))
    await program.kill()
    await program.launch()
    await link_of(program, after=printed)


async def _reads(page: Page, number: int) -> None:
    """Wait for so many messages and their answers, each there once."""
    for words in (f"Heard word {each}." for each in range(number)):
        await expect(page.locator(".parley .bubble", has_text=words)).to_have_count(1)
    await expect(page.locator(".person .typed")).to_have_text([f"word {each}" for each in range(number)])
    await expect(page.locator(".parley")).to_have_count(number)


async def test_a_browser_stays_signed_in_and_each_message_is_answered_once(
    browser: Browser, tmp_path: Path, unused_tcp_port: int
) -> None:
    async with _served(tmp_path, unused_tcp_port) as program, opened(browser, await link_of(program)) as page:
        for number, moment in enumerate(MOMENTS):
            await say(page, f"word {number}")
            await asyncio.sleep(moment)
            await _again(program)
            await _reads(page, number + 1)
        await page.reload()
        await _reads(page, len(MOMENTS))


async def test_a_link_counts_once_and_a_browser_that_was_signed_out_stays_out(
    browser: Browser, tmp_path: Path, unused_tcp_port: int
) -> None:
    async with _served(tmp_path, unused_tcp_port) as program:
        link = await link_of(program)
        async with opened(browser, link) as page:
            await _again(program)
            other = await (await browser.new_context()).new_page()
            await other.goto(link)
            await expect(other.get_by_role("heading")).to_have_text("This link is not valid any more")
            await other.context.close()

            await expect(page.locator("#connection")).to_be_hidden()  # the restarted program is found
            await say(page, "/page out all")
            await expect(page.locator("#connection")).to_be_visible()
            await _again(program)
            await page.goto(page.url)
            await expect(page.get_by_role("heading")).to_have_text("Open the link that Parley printed")
