"""Reports in other chats when their author is forgotten, changes them meanwhile, or has an odd name."""

from agent_core.messages import NotificationMessage
from channels.base import ChatKey
from tests.gateway.jobs.asking import press
from tests.gateway.jobs.conftest import StartTimedBot
from tests.gateway.jobs.kit import TEAM, TimedBot, seen
from tests.gateway.jobs.test_elsewhere import TABLE, pressed, wished


async def notes(bot: TimedBot, chat: ChatKey) -> list[NotificationMessage]:
    history = await bot.store.transcript.history((await bot.store.chats.get(chat)).session)
    return [each for each in history if isinstance(each, NotificationMessage)]


async def forget(bot: TimedBot) -> None:
    await bot.hears("/forget me")
    await press(bot, bot.channel.posts[-1][1].buttons[0][0].label)
    await bot.settled()


async def test_the_agent_of_the_other_chat_knows_nothing_of_the_report_once_its_author_is_forgotten(
    start_bot: StartTimedBot,
) -> None:
    bot = await wished(start_bot, TABLE, "No idea.")
    await pressed(bot, "Allow")
    bot.at("2026-11-30 09:00")
    await bot.look()
    assert len(await notes(bot, TEAM)) == 1

    await forget(bot)
    assert [(note.text, note.quoted, note.data) for note in await notes(bot, TEAM)] == [("(erased)", "", {})]
    assert (await bot.store.search.find([TEAM], "roof", 5)).found == []
    await bot.hears("which one?", sender="bob", group="team")
    assert "roof" not in seen(bot.llm.requests[-1])
