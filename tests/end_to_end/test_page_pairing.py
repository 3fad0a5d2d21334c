"""The page shows the one-time code for a platform that has no owner, and asks there about strangers."""

import re
from pathlib import Path

import pytest
from playwright.async_api import Browser, expect

from parley.testing.emulators.telegram import TelegramEmulator
from tests.end_to_end.browser import NEEDS_BROWSER
from tests.end_to_end.opened_page import link_of, opened
from tests.end_to_end.program import forked
from tests.process import SILENT, until

pytestmark = [*NEEDS_BROWSER, pytest.mark.timeout(120)]
CODE = re.compile(r"/pair (\w{8})")


async def test_the_code_on_the_page_makes_somebody_on_telegram_the_owner(browser: Browser, tmp_path: Path) -> None:
    async with TelegramEmulator() as telegram:
        bot = {"TELEGRAM_BOT_TOKEN": telegram.token, "TELEGRAM_BASE_URL": telegram.url}
        environ = {**SILENT, "PARLEY_WEB_PORT": "0", **bot}
        async with forked(tmp_path, environ) as program, opened(browser, await link_of(program)) as page:
            log = page.locator("[role=log]")
            await expect(log).to_contain_text(CODE)
            [code] = CODE.findall(await log.inner_text())
            await until(lambda: code in program.console)

            ann = telegram.person("Ann", language="en")
            chat = telegram.private(ann)
            await chat.says(ann, f"/pair {code}")

            await chat.until(lambda c: any("You are the owner now" in text for text in c.screen))
            assert "allow =" not in program.console, "there is one way in"
