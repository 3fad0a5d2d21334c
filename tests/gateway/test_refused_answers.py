"""An answer that its chat refuses for good is kept, offered there again, and shown to who asked in their own chat."""

import pytest

from channels.base import ChannelError
from channels.memory import MemoryChannel
from tests.gateway.conftest import StartBot
from tests.gateway.peopled import Platform, told

pytestmark = pytest.mark.usefixtures("no_progress")
KICKED = ChannelError("the bot was removed from the group", permanent=True)
OFFER = "I'm not sure my last answer reached you."


async def test_a_refused_answer_is_offered_with_the_next_message_and_shown_by_its_button(start_bot: StartBot) -> None:
    bot = await start_bot("Forty-two.", "Here.", channel=MemoryChannel())
    bot.channel.fails("send", KICKED)
    await bot.hears("what is it?", group="team")
    assert bot.screen == []

    await bot.hears("are you back?", group="team")
    assert sorted(bot.screen) == ["Here.", OFFER]
    await bot.channel.presses("Show last answer")
    await bot.app.settled()

    assert bot.screen[-1] == "Forty-two."


async def test_it_is_offered_after_a_restart_too(start_bot: StartBot) -> None:
    bot = await start_bot("Forty-two.", "Here.", channel=MemoryChannel())
    bot.channel.fails("send", KICKED)
    await bot.hears("what is it?", group="team")

    await bot.restart()
    await bot.hears("are you back?", group="team")

    assert OFFER in bot.screen


async def test_who_asked_reads_it_in_their_private_chat(start_bot: StartBot) -> None:
    bot = await start_bot("Forty-two.", channel=Platform())
    bot.channel.fails("send", KICKED)

    await bot.hears("what is it?", group="team", sender="bob")
    await bot.channel.until(lambda: len(told(bot, "bob")) == 2)

    assert told(bot, "bob") == [
        "My answer could not be posted where you asked (the bot was removed from the group). Here it is:",
        "Forty-two.",
    ]


async def test_the_reply_to_a_command_is_shown_there_in_the_language_of_who_asked(start_bot: StartBot) -> None:
    bot = await start_bot(channel=Platform())
    await bot.hears("/language zh", sender="bob")
    bot.channel.fails("send", KICKED)

    await bot.hears("/rename", group="team", sender="bob")
    await bot.channel.until(lambda: len(told(bot, "bob")) == 3)

    _, why, shown = told(bot, "bob")
    assert why == "我的回答无法发到您提问的聊天里（the bot was removed from the group），所以发到这里："
    assert "/rename" in shown


async def test_a_private_chat_that_refuses_an_answer_is_told_nothing_twice(start_bot: StartBot) -> None:
    bot = await start_bot("Forty-two.", "Here.", channel=Platform())
    bot.channel.fails("send", KICKED)

    await bot.hears("what is it?")
    assert bot.screen == []
    await bot.hears("again?")

    assert sorted(bot.screen) == ["Here.", OFFER]
