"""A move of a chat leaves no gap: not where something fails, nor for what begins meanwhile."""

import asyncio

import pytest

from agent_core.models.scripted import Waits
from channels.base import ChatKey
from channels.memory import NO_PACE, MemoryChannel
from channels.moved import chat_moved
from gateway.app import local_dispatcher
from gateway.cluster import dispatcher
from gateway.store.chat_settings import ChatSettings
from gateway.store.outbox import Outbox
from gateway.store.rows import Post
from tests.gateway.conftest import StartBot
from tests.postgres import execute
from tests.process import until

OLD = ChatKey(platform="memory", account="here", chat="#team")
NEW = ChatKey(platform="memory", account="here", chat="#crew")
MOVED = chat_moved(OLD, NEW.chat, 0)


async def test_limits_hold_although_they_could_not_be_read_at_once(
    start_bot: StartBot, database: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    bot = await start_bot("Hello.", channel=MemoryChannel(limits=NO_PACE), database=database)
    await bot.hears("/tools exec deny", group="team")
    await bot.hears("/tools", group="team")
    real, failed = ChatSettings.reload, asyncio.Event()

    async def fails_once(settings: ChatSettings) -> None:
        if not failed.is_set():
            failed.set()
            raise OSError("the database is away for a moment")
        await real(settings)

    monkeypatch.setattr(ChatSettings, "reload", fails_once)
    await bot.channel.deliver(MOVED)
    await bot.app.settled()
    await bot.hears("/tools", group="crew")

    assert failed.is_set()
    assert bot.channel.screen_of(NEW)[-1] == bot.channel.screen_of(OLD)[-1]


async def test_a_chat_that_could_not_be_resumed_at_once_answers_what_comes_next(
    start_bot: StartBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    bot = await start_bot("Hello.", "Again.", channel=MemoryChannel(limits=NO_PACE))
    await bot.hears("hello", group="team")
    real, failed = Outbox.unsent, asyncio.Event()

    async def fails_once(outbox: Outbox, chat: ChatKey | None = None) -> list[Post]:
        if chat is not None and not failed.is_set():
            failed.set()
            raise OSError("the disk does not answer for a moment")
        return await real(outbox, chat)

    monkeypatch.setattr(Outbox, "unsent", fails_once)
    await bot.channel.deliver(MOVED)
    await bot.app.settled()
    await bot.hears("again", group="crew")

    assert failed.is_set()
    assert bot.channel.screen_of(NEW) == ["Again."]


async def test_what_begins_in_a_thread_while_a_move_waits_is_answered_under_the_new_id(
    start_bot: StartBot, database: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (local_dispatcher, dispatcher):
        monkeypatch.setattr(module, "REST_WITHIN", 0.2)
    first, second = asyncio.Event(), asyncio.Event()
    answers = Waits(first, "Here."), Waits(second, "Here."), "Here.", "Here."
    bot = await start_bot(*answers, channel=MemoryChannel(limits=NO_PACE), database=database)
    thread, new_thread = (chat.model_copy(update={"thread": "7"}) for chat in (OLD, NEW))
    await bot.channel.hears("write", group="team")
    await until(lambda: len(bot.llm.requests) == 1)

    await bot.channel.deliver(MOVED)
    await until(lambda: bot.made.base.drain.holds(OLD))
    await bot.channel.hears("write", group="team", thread="7")
    first.set()
    await until(lambda: not execute(bot.home, database, f"SELECT 1 FROM inbox WHERE chat = '{OLD}' AND state = 'new'"))  # noqa: S608
    second.set()
    await bot.app.settled()

    assert [bot.channel.screen_of(chat) for chat in (OLD, thread)] == [[], []]
    assert [bot.channel.screen_of(chat) for chat in (NEW, new_thread)] == [["Here."], ["Here."]]
