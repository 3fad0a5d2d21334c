"""A newcomer gets from the first link of the page to a bot on Telegram with a model, without an editor."""

from pathlib import Path

import pytest
from playwright.async_api import Browser

from tests import connecting
from tests.emulators.model_script import says
from tests.emulators.openai import OpenAiEmulator
from tests.end_to_end.browser import NEEDS_BROWSER
from tests.end_to_end.opened_page import link_of
from tests.end_to_end.page_newcomer import PageNewcomer
from tests.end_to_end.program import Program

KEY, WRONG = "sk-or-v1-0123456789abcdef", "sk-or-v1-fedcba9876543210"
MOST_ACTIONS, MOST_FOR_THE_MODEL = 8, 3

pytestmark = [*NEEDS_BROWSER, pytest.mark.timeout(180)]


async def test_eight_actions_lead_to_the_first_answer_and_three_to_a_model(browser: Browser, tmp_path: Path) -> None:
    model = OpenAiEmulator(lambda _: says("It is 391."), api_key=KEY, models=("anthropic/claude-sonnet-5",))
    async with connecting.telegram() as telegram, model:
        environ = {"PARLEY_WEB_PORT": "0", "OPENROUTER_API_BASE": model.base_url, **telegram.environ}
        program = Program(tmp_path, environ)
        program.forked = True
        context = await browser.new_context(locale="en-GB", timezone_id="UTC")
        await program.launch()
        try:
            newcomer = PageNewcomer(telegram, await context.new_page())
            await newcomer.reaches_the_first_answer(await link_of(program))
            assert len(newcomer.actions) <= MOST_ACTIONS
            newcomer.actions.clear()
            await newcomer.connects_a_model(WRONG, KEY)
            assert len(newcomer.actions) <= MOST_FOR_THE_MODEL
            assert KEY not in program.console
            assert f"OPENROUTER_API_KEY={KEY}\n" in (program.home / ".env").read_text()
        finally:
            await context.close()
            await program.kill()
