"""The command /start: a greeting in both languages, with requests to try."""

import pytest

from agent_core.messages import text_of
from agent_core.models.no_model import NO_MODEL
from tests.gateway.conftest import StartBot


@pytest.mark.parametrize(
    ("language", "hello"), [("en", "Hello, I am Ada. Write to me as"), ("zh", "您好，我是 Ada。像和同事说话一样")]
)
async def test_start_greets_in_the_person_s_language_with_the_name_in_force(
    start_bot: StartBot, language: str, hello: str
) -> None:
    bot = await start_bot()

    await bot.hears("/start", language=language)
    await bot.hears("/config set ai_name Ida")
    await bot.hears("/start", language=language)

    assert bot.screen[0].startswith(hello)
    assert bot.screen[-1].startswith(hello.replace("Ada", "Ida"))


async def test_start_offers_things_to_try(start_bot: StartBot) -> None:
    bot = await start_bot("It is noon there.")
    await bot.hears("/start")

    await bot.channel.presses("What time is it in Tokyo?")
    await bot.app.settled()

    assert text_of(bot.llm.requests[0].messages[0].content) == "What time is it in Tokyo?"
    assert bot.screen[-1] == "It is noon there."


async def test_start_says_if_no_real_model_answers(start_bot: StartBot) -> None:
    bot = await start_bot(model=NO_MODEL)

    await bot.hears("/start")

    assert "No model is set, so nothing answers" in bot.screen[0]
