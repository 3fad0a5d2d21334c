"""A conversation is to be read again, as after somebody's /forget, just when a message's files are being fetched."""

import asyncio

from agent_core.models.scripted import Waits, calls
from agent_core.tools.tool import tool
from channels.memory import user
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot
from tests.gateway.taking_in import taken_in
from tests.gateway.test_steering import SlowFiles, asked, heard_by_the_model


@tool()
async def look() -> str:
    """Look."""
    return "seen"


async def erased_in_between(bot: Bot, channel: SlowFiles) -> None:
    """Bob, who spoke in the group, has himself erased while Ann's file there is being fetched."""
    await bot.hears("hello all", sender="bob", group="team")
    await bot.channel.hears("Oslo?", group="team", files={"a.txt": b"a"})
    await bot.channel.until(lambda: channel.asked == 1)
    await bot.channel.hears("/forget me", sender=user("bob"))
    await bot.channel.until(lambda: bool(bot.channel.posts) and "Erase for good" in str(bot.channel.posts[-1]))
    await bot.channel.presses("Erase for good", sender="bob")
    await bot.channel.until(lambda: any(text.startswith("Erased.") for text in bot.screen))
    channel.let.set()


async def test_the_run_is_steered_and_the_next_one_knows_its_answer(wired_bot: StartBot) -> None:
    channel, said = SlowFiles(), asyncio.Event()
    answers = "Hello Bob.", Waits(said, calls(("look", {}))), "Bergen then.", "I said Bergen."
    bot = await wired_bot(*answers, channel=channel, tools=(look,))
    await erased_in_between(bot, channel)
    await asked(bot, 2)

    await bot.channel.hears("no, Bergen", group="team")
    await taken_in(bot, group="team")
    said.set()
    await bot.app.settled()
    assert bot.screen[-1] == "Bergen then."
    assert heard_by_the_model(bot)[-1] == "no, Bergen"
    await bot.hears("what did you say?", group="team")

    assert bot.screen[-1] == "I said Bergen."
    assert "Bergen then." in str(bot.llm.requests[-1].messages)


async def test_a_stop_ends_the_run_at_once(wired_bot: StartBot) -> None:
    channel, never = SlowFiles(), asyncio.Event()
    bot = await wired_bot("Hello Bob.", Waits(never), channel=channel)
    await erased_in_between(bot, channel)
    await asked(bot, 2)

    await bot.hears("/stop", group="team")

    assert bot.screen[-1] == "Stopped."
