"""The models of the showroom: the same conversation is held over every provider."""

from pathlib import Path

import pytest
from playwright.async_api import expect

from agent_core.models.model_names import shown_name
from tests.emulators.showroom.showroom import Showroom
from tests.emulators.test_showroom import PLATFORMS, column, parley, said_by_bot, say
from tests.end_to_end.browser import NEEDS_BROWSER, chromium
from tests.end_to_end.program import START_SECONDS

pytestmark = [*NEEDS_BROWSER, pytest.mark.timeout(240)]


async def test_the_same_conversation_is_held_over_every_provider_in_one_chat(tmp_path: Path) -> None:
    async with Showroom(tmp_path / "showroom", port=0) as showroom, chromium() as browser, parley(showroom, tmp_path):
        page = await browser.new_page(viewport={"width": 1440, "height": 900})
        await page.goto(showroom.page.url)
        models = page.locator("#models")
        await models.locator("summary").click()
        for number, dialect in enumerate(showroom.models.dialects):
            read = dialect.name.replace("`", "")
            where = column(page, PLATFORMS[number % len(PLATFORMS)])
            await models.get_by_role("button", name=dialect.name, exact=True).click()
            await expect(said_by_bot(where).last).to_contain_text(
                f"{shown_name(dialect.model)} answers in this chat", timeout=30_000
            )
            await say(where, "what is 17 * 23?")
            # The first of them that litellm asks loads that, which takes as much CPU as the start of several programs.
            await expect(said_by_bot(where).last).to_contain_text(
                f"17 * 23 = 391, says {read}.", timeout=1000 * START_SECONDS
            )
            await say(where, "thank you")
            await expect(said_by_bot(where).last).to_contain_text(f"You said to {read}: thank you", timeout=30_000)

        assert showroom.models.refused == []
        await expect(models.locator("summary")).to_have_text(f"{len(showroom.models.dialects)} models")
