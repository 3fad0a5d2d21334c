"""/rewind takes the last exchanges out of the model's context, and deletes nothing."""

import asyncio
import sqlite3
from contextlib import closing

import pytest

from agent_core.messages import UserMessage, text_of
from agent_core.models.scripted import Waits
from channels.base import MessageReceived
from gateway.store.opening import FILE
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot

ONE = "I no longer know the last exchange. Its messages stay in this chat, and files stay as they are now."


def asked(bot: Bot) -> list[str]:
    """Return the users' words in the last request."""
    return [text_of(message.content) for message in bot.llm.requests[-1].messages if isinstance(message, UserMessage)]


async def test_the_last_exchange_is_no_longer_known(wired_bot: StartBot) -> None:
    bot = await wired_bot("One.", "Two.", "Three.")

    for words in ("first", "second", "/rewind", "third"):
        await bot.hears(words)

    assert bot.screen == ["One.", "Two.", ONE, "Three."]
    assert [words.split("\n")[-1] for words in asked(bot)] == ["first", "third"]


async def test_several_rewinds_add_up_and_hold_after_a_restart(start_bot: StartBot) -> None:
    bot = await start_bot("One.", "Two.", "Three.", "Four.")

    for words in ("first", "second", "/rewind", "third", "/rewind 2"):
        await bot.hears(words)
    await bot.restart()
    await bot.hears("fourth")

    assert [words.split("\n")[-1] for words in asked(bot)] == ["fourth"]


async def test_no_row_is_deleted(start_bot: StartBot) -> None:
    bot = await start_bot("One.")

    await bot.hears("first")
    await bot.hears("/rewind 99")

    with closing(sqlite3.connect(bot.home / FILE)) as store:
        assert store.execute("SELECT count(*) FROM transcript").fetchone() == (2,)


async def test_the_same_event_rewinds_only_once(start_bot: StartBot) -> None:
    bot = await start_bot("One.", "Two.")
    await bot.hears("first")
    await bot.hears("second")
    session = (await bot.made.base.store.chats.get(bot.channel.heard[0].chat)).session

    counts = [await bot.made.base.store.transcript.rewind(session, 1, "event") for _ in range(2)]

    assert counts == [1, 1]
    assert len(await bot.made.base.store.transcript.history(session)) == 2


@pytest.mark.parametrize("wrong", ["-1", "0", "lots", "1e309", "9" * 500, "1.5", "٣"])
async def test_a_wrong_number_is_answered_with_the_usage(start_bot: StartBot, wrong: str) -> None:
    bot = await start_bot("One.")

    await bot.hears("first")
    await bot.hears(f"/rewind {wrong}")

    assert bot.screen[1] == "Say how many exchanges to take back, as in /rewind 2. Without a number it is one."


async def test_there_may_be_nothing_to_take_back(start_bot: StartBot) -> None:
    bot = await start_bot()

    await bot.hears("/rewind")

    assert bot.screen == ["There is nothing to take back in this conversation."]


async def test_a_run_in_progress_is_stopped_and_taken_back(start_bot: StartBot) -> None:
    bot = await start_bot(Waits(asyncio.Event()), "Two.")

    await bot.channel.hears("first")
    await bot.channel.until(lambda: bool(bot.llm.requests))
    await bot.hears("/rewind")
    await bot.hears("second")

    assert [words.split("\n")[-1] for words in asked(bot)] == ["second"]


async def test_what_another_person_wrote_meanwhile_is_kept_and_answered_once(start_bot: StartBot) -> None:
    bot = await start_bot("One.", Waits(asyncio.Event()), "For Carl.")
    await bot.hears("first", sender="bob", group="team")
    await bot.channel.hears("second", sender="bob", group="team")
    await bot.channel.until(lambda: len(bot.llm.requests) == 2)
    await bot.channel.hears("from Carl", sender="carl", group="team")

    await bot.hears("/rewind", sender="bob", group="team")

    assert sorted(bot.screen) == sorted(["One.", "Stopped.", ONE, "For Carl."])
    assert [words.split("\n")[-1] for words in asked(bot)] == ["first", "from Carl"]
    assert await bot.made.base.store.inbox.waiting() == []


async def test_a_run_that_a_crash_left_is_taken_back(start_bot: StartBot) -> None:
    bot = await start_bot("One.", Waits(asyncio.Event()), "Three.")
    await bot.hears("first")
    await bot.channel.hears("second")
    await bot.channel.until(lambda: len(bot.llm.requests) == 2)
    second = bot.channel.heard[-1]
    assert isinstance(second, MessageReceived)
    rewind = second.as_command("rewind", "").model_copy(update={"event_id": "rewind"})
    assert await bot.made.base.store.inbox.accept(rewind) is not None

    await bot.restart()
    await bot.app.settled()
    await bot.hears("third")

    assert bot.screen == ["One.", "Stopped.", ONE, "Three."]
    assert [words.split("\n")[-1] for words in asked(bot)] == ["first", "third"]
