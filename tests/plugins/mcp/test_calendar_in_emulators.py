"""In `./run emulators` Ann adds the calendar, signs in to it on each platform, and asks a model for tomorrow."""

import random
import re
import socket
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from playwright.async_api import Locator, Page, expect

from tests.emulators.showroom.calendar import OF_A_DAY
from tests.emulators.showroom.showroom import Showroom
from tests.emulators.test_showroom import PLATFORMS, column, parley, said_by_bot, say
from tests.end_to_end.browser import NEEDS_BROWSER, chromium

MODEL = "OpenAI"
TOMORROW = "what do I have tomorrow?"

pytestmark = [*NEEDS_BROWSER, pytest.mark.timeout(240)]


def free_port() -> int:
    """Return a port that is free, and that the kernel gives to nobody who asks for any."""
    while True:
        port = random.SystemRandom().randrange(20_000, 32_000)
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


def told(where: Locator, words: str) -> Locator:
    return said_by_bot(where).filter(has_text=words)


async def signs_in(page: Page, where: Locator) -> None:
    """Sign in by the button, the link, and the question whether it was oneself."""
    await where.get_by_role("button", name="Sign in").click()
    async with page.expect_popup() as opened:
        await told(where, "Do not pass the link on").get_by_role("link").click()
    tab = await opened.value
    await tab.get_by_role("button", name="Yes, that is me").click()
    await expect(told(where, "can be used now")).to_have_count(1)
    await tab.close()


async def looks_at_tomorrow(where: Locator) -> None:
    """Ask for tomorrow, and look at what comes."""
    today = datetime.now().astimezone()
    answered = told(where, "Tomorrow the team has")
    for what, *_ in OF_A_DAY[1:]:
        await expect(answered).to_contain_text(what)
    answer = await answered.inner_text()
    days = [f"{today + timedelta(days=number):%A}" for number in (1, 2)]  # as midnight may come meanwhile
    (planned,) = re.findall(r"\d\d:\d\d (\w+) planning", answer)
    assert planned in days
    assert all(re.search(rf"\d\d:\d\d {what}", answer) for what, *_ in OF_A_DAY[1:]), answer


async def test_ann_signs_in_to_the_calendar_on_each_platform_and_asks_for_tomorrow(tmp_path: Path) -> None:
    async with Showroom(tmp_path / "showroom", port=0) as showroom, chromium() as browser:
        page = await browser.new_page(viewport={"width": 1440, "height": 900})
        page.set_default_timeout(30_000)
        await page.goto(showroom.page.url)
        async with parley(showroom, tmp_path, PARLEY_WEB="on", PARLEY_WEB_PORT=str(free_port())) as program:
            await page.locator("#models summary").click()
            await page.get_by_role("button", name=MODEL, exact=True).click()
            for platform in PLATFORMS:
                await expect(told(column(page, platform), "answers in this chat")).to_have_count(1)

            telegram = column(page, "telegram")
            await say(telegram, showroom.adds_calendar)
            await signs_in(page, telegram)
            await say(telegram, "/mcp calendar")
            await telegram.get_by_role("button", name="Approve").click()
            await expect(told(telegram, "Approved: ")).to_have_count(1)
            await say(telegram, TOMORROW)
            await looks_at_tomorrow(telegram)

            for platform in ("slack", "discord"):
                where = column(page, platform)
                await say(where, TOMORROW)
                await expect(told(where, "I cannot look into the calendar yet")).to_have_count(1)
                await signs_in(page, where)
                await say(where, TOMORROW)
                await where.get_by_role("button", name="Allow once").click()
                await looks_at_tomorrow(where)

    assert "Traceback" not in program.console
    assert [each.emulator.violations for each in showroom.exhibits] == [[], [], []]
    assert showroom.models.refused == []
