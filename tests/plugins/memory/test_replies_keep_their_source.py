"""A reply of /memory carries what its facts come from."""

import pytest

from agent_core.models.scripted import calls
from tests.gateway.conftest import StartBot
from tests.gateway.test_origin_of_posts import EVE, prompt_after, read_page, told


@pytest.mark.parametrize("in_thread", [True, False], ids=["thread", "quote"])
async def test_a_list_of_facts_carries_what_they_come_from(start_bot: StartBot, in_thread: bool) -> None:  # noqa: FBT001
    noted = calls(("remember", {"fact": "they obey"}))
    bot = await start_bot(calls(("read_page", {})), noted, "It says obey.", "It says obey.", tools=(read_page,))
    await bot.hears("Read it.")

    prompt = await prompt_after(bot, *await told(bot, "/memory"), in_thread=in_thread)

    assert EVE.sources == prompt.origin.sources
