"""Answers stream onto the page, with the model's reasoning folded above them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from playwright.async_api import Browser, Locator, Page, expect

from tests.emulators.anthropic import AnthropicEmulator
from tests.emulators.model_script import Pause, ToolUse, Turn
from tests.emulators.openai import OpenAiEmulator
from tests.end_to_end.browser import NEEDS_BROWSER
from tests.end_to_end.opened_page import link_of, opened, say
from tests.end_to_end.program import Program, forked

pytestmark = [*NEEDS_BROWSER, pytest.mark.timeout(120)]

KEY = "hunter2-hunter2-hunter2"


@asynccontextmanager
async def talking(folder: Path, browser: Browser, *turns: Turn) -> AsyncIterator[tuple[Page, Program]]:
    """Open the page of a Parley with an emulated model."""
    async with OpenAiEmulator(turns, models=("test-model",)) as model:
        environ = {"OPENAI_BASE_URL": model.base_url, "OPENAI_API_KEY": KEY, "PARLEY_WEB_PORT": "0"}
        async with forked(folder, environ) as program, opened(browser, await link_of(program)) as page:
            yield page, program


def answer(page: Page) -> Locator:
    """Locate the text of the newest message, without the line of progress shown after a run of ten seconds."""
    return page.locator(".parley .bubble > .body").last


async def test_the_first_words_are_there_while_the_model_holds_the_rest(browser: Browser, tmp_path: Path) -> None:
    rest = asyncio.Event()
    turn = Turn(deltas=("The first words", " and the rest."), pause=Pause(after=1, until=rest))
    async with talking(tmp_path, browser, turn) as (page, _):
        await say(page, "hello")
        await expect(page.locator(".live")).to_contain_text("The first words")
        await expect(page.locator("[role=log]")).not_to_contain_text("and the rest")
        rest.set()
        await expect(page.locator(".live")).to_have_count(0)
        await expect(answer(page)).to_contain_text("The first words and the rest.")


async def test_reasoning_grows_folded_and_is_there_again_after_a_reload_and_a_restart(
    browser: Browser, tmp_path: Path
) -> None:
    rest = asyncio.Event()
    thinking = f"The key is {KEY}. Oslo is **north** of Rome."
    turn = Turn("It is Oslo.", thinking=thinking, chunk=len(thinking) - 10, pause=Pause(after=1, until=rest))
    async with talking(tmp_path, browser, turn) as (page, program):
        folded = page.locator(".parley details.reasoning")
        words = folded.locator(".body")
        await say(page, "Which is further north?")

        await expect(page.locator(".live details.reasoning summary")).to_have_text("Reasoning")
        await expect(words).to_be_hidden()
        await page.get_by_text("Reasoning").click()
        await expect(words).to_contain_text("The key is [secret]. Oslo is")
        await expect(words).not_to_contain_text("of Rome")
        rest.set()
        await expect(page.locator(".live")).to_have_count(0)
        await expect(words, "what was opened stays open").to_be_visible()
        await expect(words.locator("strong")).to_have_text("north")
        await expect(answer(page)).to_have_text("It is Oslo.")

        await page.reload()
        await expect(folded).to_have_count(1)
        await expect(words).to_be_hidden()
        await expect(words).to_have_text("The key is [secret]. Oslo is north of Rome.")

        await program.kill()
        await program.launch()
        async with opened(browser, await link_of(program, after=2)) as again:
            await expect(again.locator("details.reasoning .body")).to_have_text(
                "The key is [secret]. Oslo is north of Rome."
            )


@pytest.mark.timeout(300)
async def test_reasoning_that_comes_through_litellm_is_shown_as_well(browser: Browser, tmp_path: Path) -> None:
    turns = [Turn("It is Oslo.", thinking="Oslo is north of Rome.")]
    async with AnthropicEmulator(turns, api_key=KEY) as model:
        environ = {"ANTHROPIC_API_BASE": model.url, "ANTHROPIC_API_KEY": KEY, "PARLEY_WEB_PORT": "0"}
        thinking = {"PARLEY_MODEL": "anthropic/claude-sonnet-4-5", "PARLEY_THINKING": "low"}
        async with forked(tmp_path, environ | thinking) as program, opened(browser, await link_of(program)) as page:
            await say(page, "Which is further north?")
            await expect(answer(page)).to_have_text("It is Oslo.", timeout=180_000)  # it imports litellm first
            await expect(page.locator(".live")).to_have_count(0)
            await page.get_by_text("Reasoning").click()
            await expect(page.locator("details.reasoning .body")).to_have_text("Oslo is north of Rome.")


async def test_an_answer_without_reasoning_has_nothing_to_unfold(browser: Browser, tmp_path: Path) -> None:
    async with talking(tmp_path, browser, Turn("Oslo.")) as (page, _):
        await say(page, "Which?")
        await expect(answer(page)).to_contain_text("Oslo.")
        await expect(page.locator("details")).to_have_count(0)


async def test_a_tool_call_is_a_row_that_opens_also_after_a_reload(browser: Browser, tmp_path: Path) -> None:
    turns = [Turn(tools=(ToolUse("calculator", {"expression": "17 * 23"}),)), Turn("It is 391.")]
    async with talking(tmp_path, browser, *turns) as (page, _):
        await say(page, "17 times 23?")
        await expect(answer(page)).to_have_text("It is 391.")
        await expect(page.locator(".live")).to_have_count(0)
        for _ in ("at first", "after a reload"):
            row = page.locator("details.call")
            await expect(row).to_have_count(1)
            await expect(row).to_have_class("call done")
            await row.locator("summary").click()
            await expect(row.locator(".detail")).to_contain_text('"expression": "17 * 23"')
            await expect(row.locator(".detail")).to_contain_text("391")
            await page.reload()
        await expect(page.get_by_role("article")).to_have_count(2)


async def test_the_arrow_up_edits_the_last_message_and_it_is_answered_anew(browser: Browser, tmp_path: Path) -> None:
    async with talking(tmp_path, browser, Turn("Rome."), Turn("Oslo."), Turn("Oslo again.")) as (page, _):
        await say(page, "Which is further south?")
        await expect(answer(page)).to_have_text("Rome.")
        await expect(page.locator(".live")).to_have_count(0)
        await page.get_by_role("textbox").press("ArrowUp")
        await expect(page.get_by_text("You edit an earlier message.")).to_be_visible()
        await expect(page.get_by_role("textbox")).to_have_value("Which is further south?")
        await page.keyboard.press("Escape")
        await expect(page.get_by_role("textbox")).to_have_value("")
        await page.keyboard.press("ArrowUp")
        await page.get_by_role("textbox").fill("Which is further north?")
        await page.keyboard.press("Enter")
        await expect(answer(page)).to_have_text("Oslo.")
        await expect(page.locator(".live")).to_have_count(0)
        await expect(page.locator(".person .typed")).to_have_text("Which is further north?")
        await page.reload()
        await expect(page.locator(".person .typed")).to_have_text("Which is further north?")

        await page.get_by_role("button", name="Answer again").click()
        await expect(answer(page)).to_have_text("Oslo again.")


async def test_values_for_an_argument_are_proposed_and_chosen_by_keys(browser: Browser, tmp_path: Path) -> None:
    async with talking(tmp_path, browser) as (page, _):
        box, rows = page.get_by_role("textbox"), page.locator("#commands [role=option]")
        await box.press_sequentially("/langu")
        await expect(rows).to_have_count(1)
        await box.press("Tab")
        await expect(box).to_have_value("/language ")
        await expect(rows.first).to_be_visible()
        await box.press("ArrowDown")
        await box.press("ArrowDown")
        chosen = await rows.nth(1).inner_text()
        await box.press("Enter")
        await expect(box).to_have_value(f"/language {chosen}")
