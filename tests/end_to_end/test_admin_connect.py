"""An owner connects Telegram in the browser, and their bot says hello."""

import re
from pathlib import Path

import pytest
from playwright.async_api import Browser, expect
from playwright.async_api import Page as Tab

from tests import connecting
from tests.connecting import Platform
from tests.end_to_end.browser import NEEDS_BROWSER
from tests.end_to_end.program import Program
from tests.entering import enter
from tests.process import until

LINK = re.compile(r"http://127\.0\.0\.1:\d+/\S*\?token=\S+")

pytestmark = [*NEEDS_BROWSER, pytest.mark.timeout(120)]


async def opened(tab: Tab, program: Program) -> None:
    """Sign in, and open the screen."""
    await until(lambda: LINK.search(program.console))
    link = LINK.findall(program.console)[-1]
    await enter(tab, link)
    await tab.goto(f"{'/'.join(link.split('/', 3)[:3])}/admin/connect")


async def gives_the_token(tab: Tab, telegram: Platform) -> None:
    await tab.get_by_role("link", name="Connect: Telegram").click()
    await tab.get_by_role("button", name="Begin").click()
    await expect(tab.get_by_role("link", name="Open the link")).to_have_attribute("href", telegram.link)
    field = tab.get_by_label("The token from @BotFather")
    await expect(field).to_have_attribute("type", "password")
    await field.fill("xoxb-1234-5678")
    await tab.get_by_role("button", name="Go on").click()
    await expect(tab.get_by_role("alert")).to_contain_text("looks like a token or key of Slack")
    await field.fill(telegram.tokens["TELEGRAM_BOT_TOKEN"])
    await tab.get_by_role("button", name="Go on").click()
    await expect(tab.get_by_text("I am waiting for it")).to_be_visible()


async def test_an_owner_connects_telegram_in_the_browser(browser: Browser, tmp_path: Path) -> None:
    async with connecting.telegram() as telegram:
        ann = telegram.emulator.person("Ann <img src=x onerror=alert(1)>", language="en")
        chat = telegram.emulator.private(ann)
        program = Program(tmp_path, {"PARLEY_MODEL": "demo", "PARLEY_WEB_PORT": "0", **telegram.environ})
        await program.launch()
        context = await browser.new_context(locale="en-GB", timezone_id="UTC")
        context.set_default_timeout(30_000)
        try:
            tab = await context.new_page()
            await opened(tab, program)
            await gives_the_token(tab, telegram)
            await chat.says(ann, "hello")
            await expect(tab.get_by_text("Is that you?")).to_contain_text(f"telegram:{ann.id}")
            assert await tab.locator("main img").count() == 0
            await tab.get_by_role("button", name="Yes").click()
            await expect(tab.get_by_text("is connected on Telegram")).to_be_visible()
            assert telegram.tokens["TELEGRAM_BOT_TOKEN"] not in await tab.content()

            await chat.until(lambda c: any("You are my owner now" in text for text in c.screen))
            await chat.says(ann, "what is 17 * 23?")
            await chat.until(lambda c: any("391" in text for text in c.screen))
            assert f"PARLEY_OWNERS=telegram:{ann.id}\n" in (program.home / ".env").read_text()
        finally:
            await context.close()
            await program.kill()
