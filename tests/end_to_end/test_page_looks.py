"""The looks of the page: everything is visible, in its place, and different things look different."""

import asyncio
import sys
from pathlib import Path

import pytest
from playwright.async_api import Browser, expect

from channels.attachments import Attachment
from channels.base import Button, OutboundMessage
from channels.web.adapter import CHAT
from channels.web.conversation import Shown
from gateway.texts.about import About
from tests.end_to_end.browser import NEEDS_BROWSER
from tests.end_to_end.tabs import shown, text
from tests.page_server import Page
from tests.process import REPOSITORY

pytestmark = NEEDS_BROWSER


@pytest.fixture
def page(tmp_path: Path) -> Page:
    return Page(tmp_path)


async def test_the_link_to_the_box_leaves_the_page_where_it_is(page: Page, browser: Browser) -> None:
    said = [Shown(who="person", message_id=f"said-{number}", markdown="word " * 40, at=number) for number in range(30)]
    page.stored.extend(said)
    async with page.open(), shown(page, browser) as (tab, _):
        await expect(tab.get_by_role("article")).to_have_count(30)
        await tab.get_by_text("Skip to the message box").focus()
        await tab.keyboard.press("Enter")
        await expect(tab.locator("#text")).to_be_focused()
        await expect(tab.locator("header")).to_be_in_viewport(ratio=1)
        await expect(tab.locator("#composer")).to_be_in_viewport(ratio=1)
        assert await tab.evaluate("[scrollY, document.body.scrollTop, document.body.scrollHeight]") == [0, 0, 800]


async def test_numbers_of_a_table_stand_on_the_right_also_where_a_style_would_be_refused(
    page: Page, browser: Browser
) -> None:
    async with page.open(), shown(page, browser) as (tab, _):
        await page.channel.send(CHAT, text("| what | price |\n|:-:|--:|\n| tea | 3 |"), "1")
        await expect(tab.get_by_role("cell", name="3")).to_have_css("text-align", "right")
        await expect(tab.get_by_role("cell", name="tea")).to_have_css("text-align", "center")


async def test_the_buttons_of_a_question_look_as_different_as_they_are(page: Page, browser: Browser) -> None:
    row = (
        Button(label="Allow once", action="/approve 1", style="primary"),
        Button(label="Always here", action="/approve 1 always"),
        Button(label="Deny", action="/deny 1", style="quiet"),
    )
    async with page.open(), shown(page, browser) as (tab, _):
        await page.channel.send(CHAT, OutboundMessage(markdown="May I?", buttons=(row,)), "1")
        grounds = {
            await tab.get_by_role("button", name=each.label).evaluate("one => getComputedStyle(one).backgroundColor")
            for each in row
        }
        assert len(grounds) == 3


async def test_in_the_dark_a_chart_is_dark_and_a_photograph_stays_what_it_is(
    page: Page, browser: Browser, tmp_path: Path
) -> None:
    numbers = tmp_path / "numbers.csv"
    numbers.write_text("month,sales\nMay,3\nJune,5\nJuly,4\n")
    script = REPOSITORY / "skills/chart/scripts/chart.py"
    for kind in ("bar", "line"):
        chart = tmp_path / f"{kind}.png"
        drawing = await asyncio.create_subprocess_exec(sys.executable, script, numbers, chart, "--kind", kind)
        assert await drawing.wait() == 0
    async with page.open(), shown(page, browser) as (tab, _):
        await tab.emulate_media(color_scheme="dark")
        await tab.screenshot(path=tmp_path / "other.png")
        for name in ("bar.png", "line.png", "other.png"):
            file = Attachment(name=name, mime_type="image/png", path=str(tmp_path / name))
            await page.channel.send(CHAT, OutboundMessage(markdown="", attachments=(file,)), name)
        for name in ("bar.png", "line.png"):
            await expect(tab.get_by_alt_text(name)).to_have_css("filter", "invert(0.88) hue-rotate(180deg)")
        await expect(tab.get_by_alt_text("other.png")).to_have_js_property("complete", True)  # noqa: FBT003
        await expect(tab.get_by_alt_text("other.png")).to_have_css("filter", "none")
        await tab.emulate_media(color_scheme="light")
        await expect(tab.get_by_alt_text("bar.png")).to_have_css("filter", "none")


async def test_the_reason_for_the_model_is_told_in_the_readers_language(page: Page, browser: Browser) -> None:
    page.about = About(model="claude-sonnet", why="ANTHROPIC_API_KEY is set", is_ai=True, version="1")
    async with page.open(), shown(page, browser, language="zh-CN") as (tab, _):
        await expect(tab.locator("#why")).to_have_text("已设置 ANTHROPIC_API_KEY")


async def test_a_slash_shows_the_commands_that_begin_so_and_tab_takes_the_first(page: Page, browser: Browser) -> None:
    async with page.open(), shown(page, browser) as (tab, _):
        box, rows = tab.get_by_label("Message"), tab.get_by_role("listbox", name="Commands").get_by_role("option")
        await box.press_sequentially("/")
        await expect(rows).to_have_count(2)
        await box.press("s")
        await expect(rows).to_have_text(["/status status"])
        await box.press("Tab")
        await expect(box).to_have_value("/status")
        await expect(box).to_be_focused()
        await expect(rows).to_have_count(0)
        await box.fill("/x")
        await expect(rows).to_have_count(0)
        await box.fill("a / b")
        await expect(rows).to_have_count(0)


async def test_how_to_write_the_arguments_stays_while_they_are_typed(page: Page, browser: Browser) -> None:
    async with page.open(), shown(page, browser, language="zh-CN") as (tab, _):
        box, rows = tab.locator("#text"), tab.locator("#commands li")
        await box.press_sequentially("/rem")
        await expect(rows).to_have_text(["/remind 时间 内容 提醒"])
        await box.press("Tab")
        await expect(box).to_have_value("/remind ")
        await box.press_sequentially("明天9点")
        await expect(rows).to_have_text(["/remind 时间 内容 提醒"])
        await box.fill("/status now")
        await expect(rows).to_have_count(0)
