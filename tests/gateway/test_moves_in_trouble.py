"""A move of a chat leaves no gap: not where something fails, nor for what begins meanwhile."""

import asyncio
from pathlib import Path

import pytest

from agent_core.clock import SystemClock
from agent_core.models.scripted import Waits, calls
from channels.base import ChatKey
from channels.memory import NO_PACE, MemoryChannel
from channels.moved import chat_moved
from gateway.app import local_dispatcher
from gateway.cluster import dispatcher
from gateway.store.chat_settings import ChatSettings
from gateway.store.outbox import Outbox
from gateway.store.rows import Post
from gateway.store.store import Store
from tests.gateway.approving import acting, questions
from tests.gateway.conftest import StartBot
from tests.gateway.ruling import EXEC, limits, rule
from tests.postgres import execute
from tests.process import until

pytestmark = pytest.mark.usefixtures("no_progress")

OLD = ChatKey(platform="memory", account="here", chat="#team")
NEW = ChatKey(platform="memory", account="here", chat="#crew")
MOVED = chat_moved(OLD, NEW.chat, 0)


async def test_limits_hold_although_they_could_not_be_read_at_once(
    start_bot: StartBot, database: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    bot = await start_bot("Hello.", channel=MemoryChannel(limits=NO_PACE), database=database)
    await rule(bot, EXEC, "deny")
    real, failed = ChatSettings.reload, asyncio.Event()

    async def fails_once(settings: ChatSettings) -> None:
        if not failed.is_set():
            failed.set()
            raise OSError("the database is away for a moment")
        await real(settings)

    monkeypatch.setattr(ChatSettings, "reload", fails_once)
    await bot.channel.deliver(MOVED)
    await bot.app.settled()

    assert failed.is_set()
    assert limits(bot, "crew")["exec"] == "deny"


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

    before, after = ([bot.channel.screen_of(chat) for chat in chats] for chats in ((OLD, thread), (NEW, new_thread)))
    assert [old + new for old, new in zip(before, after, strict=True)] == [["Here."], ["Here."]]
    if database is None:  # a node that could not make the move at once lets its work go on until it tries again
        assert before == [[], []]


async def test_an_open_question_stays_open_although_something_was_said_under_the_new_id(
    database: str | None, start_bot: StartBot
) -> None:
    ran: list[list[str]] = []
    bot = await start_bot(
        calls(("run", {"command": ["draw"]})),
        "I am here.",
        "Drawn.",
        "As before.",
        tools=[acting(ran=ran)],
        channel=MemoryChannel(limits=NO_PACE),
        database=database,
    )
    await bot.channel.hears("draw it", group="team")
    await bot.channel.until(lambda: bool(questions(bot)))
    await bot.channel.hears("are you there?", group="crew")
    await bot.channel.until(lambda: "I am here." in bot.channel.screen_of(NEW))

    await bot.channel.deliver(MOVED)
    await bot.channel.until(lambda: len(bot.channel.screen_of(NEW)) == 2)
    await bot.channel.presses(questions(bot)[-1].buttons[0][0].action)
    await bot.app.settled()
    await bot.hears("and now?", group="crew")

    assert ran == [["draw"]]
    assert bot.channel.screen_of(NEW)[-2:] == ["Drawn.", "As before."]
    assert "draw it" in str(bot.llm.requests[-1].messages)


async def test_runs_that_are_cut_off_under_both_ids_answer_both(
    start_bot: StartBot, database: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (local_dispatcher, dispatcher):
        monkeypatch.setattr(module, "REST_WITHIN", 0.2)
    never = Waits(asyncio.Event(), "Never said.")
    bot = await start_bot(never, never, "Here.", "Here.", channel=MemoryChannel(limits=NO_PACE), database=database)
    await bot.channel.hears("write", group="team")
    await bot.channel.hears("write", group="crew")
    await until(lambda: len(bot.llm.requests) == 2)

    await bot.channel.deliver(MOVED)
    await bot.app.settled()

    assert (bot.channel.screen_of(OLD), bot.channel.screen_of(NEW)) == ([], ["Here.", "Here."])


async def test_who_allowed_an_action_goes_with_the_conversation(tmp_path: Path) -> None:
    rows = (
        f"INSERT INTO chats (chat, session) VALUES ('{OLD}', 'old'), ('{NEW}', 'new')",  # noqa: S608
        "INSERT INTO transcript (chat, session, run, turn, message)"  # noqa: S608
        f" VALUES ('{OLD}', 'old', 'r1', 1, '{{}}'), ('{NEW}', 'new', 'r2', 1, '{{}}')",
        "INSERT INTO tool_calls (run, session, message_id, call, tool, arguments, attempts, at)"
        " VALUES ('r2', 'new', 'm', 'c', 'exec', '', 1, 1.0)",
        "INSERT INTO rulings (session, call, at, behavior, ruled_by) VALUES ('new', 'c', 0.5, 'allow', 'mode')",
    )
    async with Store.open(tmp_path, SystemClock(), iter(map(str, range(10**6))).__next__):
        pass
    for row in rows:
        execute(tmp_path, None, f"{row} RETURNING 1")

    async with Store.open(tmp_path, SystemClock(), iter(map(str, range(10**6))).__next__) as store:
        await store.moves.apply(await store.moves.told(MOVED), MOVED)

    assert execute(tmp_path, None, "SELECT count(*) FROM tool_calls JOIN rulings USING (session, call)") == [(1,)]
