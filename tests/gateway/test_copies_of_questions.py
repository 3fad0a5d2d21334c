"""A question of which the platform did not say that it arrived stands there twice; both copies lose their buttons."""

import pytest

from channels.base import ButtonPressed, OutboundMessage, Posted
from channels.memory import LOST
from tests.gateway.answering_late import LateChannel, buttons
from tests.gateway.approving import APPROVED, BY_ANN, CHART, recorder
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot
from tests.gateway.test_ask_user import CITY

pytestmark = pytest.mark.usefixtures("no_progress")


def action_of(message: OutboundMessage, label: str) -> str | None:
    """Return the action of the button with this label."""
    return next((button.action for row in message.buttons for button in row if button.label == label), None)


def asking(bot: Bot, label: str) -> list[OutboundMessage]:
    """Return the messages that have a button with this label."""
    return [message for _, message in bot.channel.posts if action_of(message, label) is not None]


async def copied(bot: Bot, words: str, label: str) -> tuple[Posted, Posted, str]:
    """Let the bot ask twice, as the answer to the first send is lost; returns both messages and the button's action."""
    bot.channel.fails("send", LOST, lost=True)
    await bot.channel.hears(words)
    await bot.channel.until(lambda: len(asking(bot, label)) == 2)
    (lost, message), (known, _) = [each for each in bot.channel.posts if action_of(each[1], label) is not None]
    action = action_of(message, label)
    assert action is not None
    return lost, known, action


async def presses(bot: Bot, posted: Posted, action: str) -> None:
    """Press a button of a message, which it may not have any more."""
    await bot.channel.deliver(
        ButtonPressed(
            event_id=f"press {len(bot.channel.heard)}",
            chat=posted.chat,
            sender=BY_ANN,
            at=bot.clock.time(),
            message_id=posted.message_id,
            action=action,
        )
    )
    await bot.app.settled()


def text_of(bot: Bot, posted: Posted) -> str:
    return next(message.markdown for each, message in bot.channel.posts if each == posted)


@pytest.mark.parametrize(("label", "told"), [("Allow once", "approved"), ("Deny", "denied")])
async def test_a_copy_of_an_answered_question_says_so_in_its_place(start_bot: StartBot, label: str, told: str) -> None:
    run, ran = recorder()
    bot = await start_bot(CHART, "As you like.", tools=(run,), channel=LateChannel(keeps_keys=False))
    lost, known, action = await copied(bot, "draw it", label)

    await presses(bot, known, action)
    before = len(bot.screen)
    await presses(bot, lost, action)

    assert text_of(bot, lost) == f"That has been {told} already."
    assert len(bot.screen) == before
    assert buttons(bot) == []
    assert len(ran) == (label == "Allow once")


async def test_a_copy_of_a_question_of_the_model_too(start_bot: StartBot) -> None:
    bot = await start_bot(CITY, "Booked.", channel=LateChannel(keeps_keys=False))
    lost, known, action = await copied(bot, "book it", "Tokyo")

    await presses(bot, known, action)
    before = len(bot.screen)
    await presses(bot, lost, action)

    assert text_of(bot, lost) == "That question was answered already."
    assert len(bot.screen) == before
    assert buttons(bot) == []


async def test_a_second_press_on_the_question_itself_leaves_it_as_it_is(start_bot: StartBot) -> None:
    run, ran = recorder()
    bot = await start_bot(CHART, "Here is the chart.", tools=(run,))
    await bot.channel.hears("draw it")
    await bot.channel.until(lambda: len(asking(bot, "Allow once")) == 1)
    [(posted, question)] = [each for each in bot.channel.posts if each[1] in asking(bot, "Allow once")]
    action = action_of(question, "Allow once")
    assert action is not None

    await presses(bot, posted, action)
    await presses(bot, posted, action)

    assert text_of(bot, posted) == APPROVED
    assert bot.screen[-1] == "That has been approved already."
    assert len(ran) == 1
