"""Conversations on the page run side by side, and share one memory."""

import asyncio
from pathlib import Path

import pytest
from playwright.async_api import Browser, expect

from tests.emulators.model_script import Pause, ToolUse, Turn
from tests.end_to_end.browser import NEEDS_BROWSER
from tests.end_to_end.opened_page import say
from tests.end_to_end.test_page_streaming import answer, talking

pytestmark = [*NEEDS_BROWSER, pytest.mark.timeout(120)]


async def test_conversations_run_side_by_side_and_share_one_memory(browser: Browser, tmp_path: Path) -> None:
    rest = asyncio.Event()
    slow = Turn(deltas=("The first words", " and the rest."), pause=Pause(after=1, until=rest))
    remembers = Turn(tools=(ToolUse("remember", {"fact": "Ann likes tea"}),))
    async with talking(tmp_path, browser, slow, remembers, Turn("Noted.")) as (page, _):
        await say(page, "take your time")
        await expect(page.locator(".live")).to_contain_text("The first words")
        await page.get_by_role("button", name="New conversation", exact=True).click()
        await say(page, "remember that Ann likes tea")
        await expect(answer(page)).to_contain_text("Noted.")
        rest.set()
        unread = page.locator("#rows li.unread")
        await page.get_by_role("link", name="take your time").click()
        await expect(answer(page)).to_contain_text("The first words and the rest.")
        await expect(unread).to_have_count(0)

    assert [name.endswith("main") for name in remembering(tmp_path, "Ann likes tea")] == [True]


def remembering(folder: Path, fact: str) -> list[str]:
    """Return the names of the memories that hold a fact."""
    files = (each for each in folder.rglob("*") if each.is_file() and "memory" in each.parts)
    return [each.parent.name for each in files if fact in each.read_text()]
