"""A run that failed at the model can be retried by the right users while the chat has not moved on."""

import pytest

from agent_core.models.llm import FailureCause, FailureKind
from agent_core.models.scripted import Failure
from channels.base import Button
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot

NO_KEY = Failure(FailureKind.AUTH, "Incorrect API key provided")
NOTHING = "There is nothing to try again here any more."


def offered(bot: Bot) -> Button | None:
    buttons = [each for _, message in bot.channel.posts for row in message.buttons for each in row]
    return next((each for each in buttons if each.action.startswith("/retry")), None)


async def press(bot: Bot, sender: str = "ann") -> None:
    await bot.channel.presses("Try again", sender=sender)
    await bot.app.settled()


async def test_the_button_under_a_failure_has_the_same_words_answered(wired_bot: StartBot) -> None:
    bot = await wired_bot(NO_KEY, "Oslo.")
    await bot.hears("the capital of Norway?")

    await press(bot)

    assert bot.screen[-1] == "Oslo."
    assert "the capital of Norway?" in str(bot.llm.requests[-1].messages)
    assert offered(bot) is None  # the button is used up


async def test_it_is_still_there_after_the_restart_that_a_new_key_needs(wired_bot: StartBot) -> None:
    bot = await wired_bot(NO_KEY, "Oslo.")
    await bot.hears("the capital of Norway?")
    button = offered(bot)
    assert button is not None
    await bot.restart()

    await bot.hears(button.action)

    assert bot.screen[-1] == "Oslo."


async def test_what_fails_again_may_be_tried_again(wired_bot: StartBot) -> None:
    bot = await wired_bot(NO_KEY, NO_KEY, "Oslo.")
    await bot.hears("the capital of Norway?")

    await press(bot)
    await press(bot)

    assert bot.screen[-1] == "Oslo."


async def test_once_the_chat_has_moved_on_there_is_nothing_to_try_again(wired_bot: StartBot) -> None:
    bot = await wired_bot(NO_KEY, "Hi.")
    await bot.hears("the capital of Norway?")
    await bot.hears("hello")

    await press(bot)

    assert bot.screen[-1] == NOTHING
    assert len(bot.llm.requests) == 2


async def test_another_person_cannot_have_it_tried_again(wired_bot: StartBot) -> None:
    bot = await wired_bot(NO_KEY, "Oslo.")
    await bot.hears("the capital of Norway?", sender="bob", group="team")

    await press(bot, sender="carl")

    assert len(bot.llm.requests) == 1


@pytest.mark.parametrize(
    "failure",
    [
        Failure(FailureKind.OVERFLOW, "the prompt is too long"),
        Failure(FailureKind.INVALID, "flagged", cause=FailureCause.CONTENT),
    ],
)
async def test_where_the_same_words_would_fail_again_nothing_is_offered(wired_bot: StartBot, failure: Failure) -> None:
    bot = await wired_bot(*[failure] * 4)

    await bot.hears("hello")

    assert offered(bot) is None
