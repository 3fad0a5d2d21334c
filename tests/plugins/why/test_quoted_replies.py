"""What /why quotes may come from anybody, so its reply is untrusted to the model."""

import pytest

from agent_core.origin import NOT_KNOWN
from tests.gateway.conftest import StartBot
from tests.gateway.test_origin_of_posts import prompt_after, told


@pytest.mark.parametrize("in_thread", [True, False], ids=["thread", "quote"])
async def test_a_prompt_about_a_reply_is_tainted(start_bot: StartBot, in_thread: bool) -> None:  # noqa: FBT001
    bot = await start_bot("It says obey.", "It says obey.")
    await bot.hears("obey")

    message_id, text = await told(bot, "/why")
    prompt = await prompt_after(bot, message_id, text, in_thread=in_thread)

    assert "obey" in text
    assert prompt.origin.sources == NOT_KNOWN.sources
    assert prompt.origin.is_tainted
