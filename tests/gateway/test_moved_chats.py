"""A chat to which its platform gave another id stays the same chat, with all that belongs to it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from agent_core.clock import SystemClock
from agent_core.models.scripted import Waits, calls
from agent_core.origin import CLEAN
from channels.base import ChannelError, ChatKey, ChatMoved, OutboundMessage, Posted
from channels.memory import NO_PACE, MemoryChannel
from channels.moved import MovedAway, chat_moved
from gateway.app import local_dispatcher, moves
from gateway.permissions.groups import ACTIVATION, Activation, Audience
from gateway.permissions.moved_folders import move_folders
from gateway.permissions.workspaces import folder_name
from gateway.store.budget import chat_account
from gateway.store.chat_columns import CHAT
from gateway.store.rows import InboxItem
from gateway.store.store import Store
from gateway.texts.amounts import Period
from tests.clock import HandClock
from tests.gateway.approving import acting, questions
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot
from tests.gateway.facts import memory_of
from tests.gateway.jobs.kit import make_timed_bot
from tests.gateway.moving import columns_of, content_of, filled, move
from tests.gateway.ruling import EXEC, admit, limits, rule
from tests.postgres import UrlOf, execute
from tests.process import until

pytestmark = pytest.mark.usefixtures("no_progress")

OLD = ChatKey(platform="memory", account="here", chat="#team")
NEW = ChatKey(platform="memory", account="here", chat="#crew")
MOVED = chat_moved(OLD, NEW.chat, 0)


class Refusing(MemoryChannel):
    """Refuses calls in the old chat once it has another id, as Telegram does."""

    def __init__(self) -> None:
        super().__init__(limits=NO_PACE)
        self.has_moved = False

    async def send(self, chat: ChatKey, message: OutboundMessage, key: str) -> Posted:
        if self.has_moved and chat == OLD:
            raise MovedAway(MOVED)
        return await super().send(chat, message, key)


async def says(bot: Bot, text: str, group: str = "team") -> str:
    """Say something in a group, and return the answer."""
    await bot.hears(text, group=group)
    return bot.screen[-1]


async def test_what_people_set_in_a_chat_holds_under_its_new_id(start_bot: StartBot, database: str | None) -> None:
    bot = await start_bot("Hello.", "As before.", clock=HandClock(), database=database)
    asked = ("/budget here", "/tz", "/cron", "/heartbeat", "/language")
    await rule(bot, ACTIVATION, "always")
    await admit(bot)
    await rule(bot, EXEC, "deny")
    for command in (
        "/budget here 5 USD a day",
        "/tz Asia/Tokyo",
        "/remind every weekday 9:00 stand-up",
        "/heartbeat on",
        "/language en",
    ):
        await says(bot, command)
    await says(bot, "my name is Ann")
    before = [await says(bot, command) for command in asked]

    await bot.channel.deliver(MOVED)
    await bot.app.settled()

    assert [await says(bot, command, "crew") for command in asked] == before
    rules = bot.made.people.groups.rules
    assert rules.activation(NEW) is Activation.ALWAYS
    assert rules.speakers(NEW).audience is Audience.EVERYBODY
    assert limits(bot, "crew")["exec"] == "deny"
    assert await says(bot, "who am I?", "crew") == "As before."
    assert "my name is Ann" in str(bot.llm.requests[-1].messages)


async def test_what_was_spent_counts_under_the_new_id(start_bot: StartBot, database: str | None) -> None:
    bot = await start_bot("Hello.", "Again.", database=database)
    await says(bot, "hello")
    budgets, now = bot.made.guards.budgets, bot.clock.time()
    spent = budgets.ledger.used(chat_account(OLD), now, Period.DAY)

    await bot.channel.deliver(MOVED)
    await bot.app.settled()

    assert spent.tokens > 0
    assert budgets.ledger.used(chat_account(NEW), now, Period.DAY) == spent
    assert execute(bot.home, database, "SELECT DISTINCT chat FROM spending") == [(str(NEW),)]


async def test_an_open_run_goes_on_under_the_new_id_and_answers_once(start_bot: StartBot, database: str | None) -> None:
    writing, channel = asyncio.Event(), Refusing()
    bot = await start_bot(Waits(writing, "Here it is."), "Here it is.", channel=channel, database=database)
    await channel.hears("write something", group="team")
    await until(lambda: len(bot.llm.requests) == 1)

    channel.has_moved = True
    await channel.deliver(MOVED)
    writing.set()
    await bot.app.settled()

    assert (channel.screen_of(OLD), channel.screen_of(NEW)) == ([], ["Here it is."])


async def test_an_open_question_is_asked_again_under_the_new_id_and_can_be_answered(
    database: str | None, start_bot: StartBot
) -> None:
    ran: list[list[str]] = []
    bot = await start_bot(
        calls(("run", {"command": ["draw"]})),
        "Drawn.",
        tools=[acting(ran=ran)],
        channel=MemoryChannel(limits=NO_PACE),
        database=database,
    )
    await bot.channel.hears("draw it", group="team")
    await bot.channel.until(lambda: bool(questions(bot)))

    await bot.channel.deliver(MOVED)
    await bot.channel.until(lambda: len(bot.channel.screen_of(NEW)) == 1)
    await bot.channel.presses(questions(bot)[-1].buttons[0][0].action)
    await bot.app.settled()

    assert ran == [["draw"]]
    assert bot.channel.screen_of(NEW)[-1] == "Drawn."


async def test_what_was_not_sent_yet_is_sent_to_the_new_id_once(start_bot: StartBot, database: str | None) -> None:
    bot = await start_bot("Here it is.", channel=MemoryChannel(limits=NO_PACE), database=database)
    bot.channel.fails("send", ChannelError("down", retry_after=3600))
    await bot.channel.hears("write something", group="team")
    await bot.channel.until(lambda: any(call.kind == "send" for call in bot.channel.calls))

    await bot.channel.deliver(MOVED)
    await bot.app.settled()

    assert (bot.channel.screen_of(OLD), bot.channel.screen_of(NEW)) == ([], ["Here it is."])


async def test_a_refused_call_alone_tells_of_the_new_id(start_bot: StartBot, database: str | None) -> None:
    channel = Refusing()
    bot = await start_bot("Hello.", "Here it is.", "As before.", channel=channel, database=database)
    await says(bot, "/budget here 5 USD a day")
    await says(bot, "hello")
    channel.has_moved = True

    await bot.hears("write something", group="team")

    assert channel.screen_of(NEW)[-1:] == ["Here it is."]
    assert "5" in await says(bot, "/budget here", "crew")


async def test_a_move_that_is_told_again_changes_nothing_and_what_came_late_follows(
    start_bot: StartBot, database: str | None
) -> None:
    bot = await start_bot("Hello.", "Late.", "As before.", channel=MemoryChannel(limits=NO_PACE), database=database)
    await says(bot, "my name is Ann")
    await bot.channel.deliver(MOVED)
    await bot.app.settled()
    await says(bot, "/budget here 5 USD a day", "crew")
    await says(bot, "I came late")

    await bot.channel.deliver(MOVED)
    await bot.channel.deliver(MOVED)
    await bot.app.settled()

    assert "5" in await says(bot, "/budget here", "crew")
    await says(bot, "who am I?", "crew")
    assert all(words in str(bot.llm.requests[-1].messages) for words in ("my name is Ann", "I came late"))


async def test_what_was_said_under_the_new_id_before_the_move_was_told_is_part_of_the_conversation(
    start_bot: StartBot, database: str | None
) -> None:
    bot = await start_bot("Hello.", "Hello again.", "As before.", database=database)
    await says(bot, "my name is Ann")
    await says(bot, "the sky is green here", "crew")

    await bot.channel.deliver(MOVED)
    await bot.app.settled()

    await says(bot, "what do you know?", "crew")
    known = str(bot.llm.requests[-1].messages)
    assert known.index("my name is Ann") < known.index("the sky is green here")


async def test_a_reminder_comes_under_the_new_id(tmp_path: Path) -> None:
    bot = make_timed_bot(tmp_path, ())
    await bot.start()
    await says(bot, "/remind in 20m pizza")

    await bot.channel.deliver(MOVED)
    await bot.settled()
    bot.calendar.advance(1_300)
    await bot.look()
    told = bot.channel.screen_of(NEW), len(bot.channel.screen_of(OLD))
    await bot.stop()

    assert len(told[0]) == 1
    assert "pizza" in told[0][0]
    assert told[1] == 1


async def test_the_files_of_a_chat_move_with_it(start_bot: StartBot) -> None:
    bot = await start_bot("Hello.")
    workspace = bot.home / "workspaces" / folder_name(OLD)
    workspace.mkdir(parents=True)
    (workspace / "plan.txt").write_text("the plan")
    there = bot.home / "workspaces" / folder_name(NEW)
    there.mkdir(parents=True)
    (there / "plan.txt").write_text("a newer plan")
    await memory_of(bot, OLD).remember("It is old.", "Ann", CLEAN)
    await memory_of(bot, NEW).remember("It is new.", "Ann", CLEAN)

    await bot.channel.deliver(MOVED)
    await bot.app.settled()

    assert not workspace.exists()
    assert (there / "plan.txt").read_text() == "a newer plan"
    assert (there / "plan (older).txt").read_text() == "the plan"
    assert [each.text for each in await memory_of(bot, NEW).facts()] == ["It is old.", "It is new."]


@asynccontextmanager
async def store_in(home: Path, database: str | None) -> AsyncIterator[Store]:
    async with Store.open(home, SystemClock(), iter(map(str, range(10**6))).__next__, url=database) as store:
        yield store


@pytest.fixture(params=["SQLite", "PostgreSQL"])
def bare(request: pytest.FixtureRequest, tmp_path: Path) -> str | None:
    """The address of an empty database for a store in `tmp_path`; None for SQLite's file."""
    if request.param == "SQLite":
        return None
    url_of: UrlOf = request.getfixturevalue("bare_url_of")
    return url_of(tmp_path)


@pytest.mark.parametrize("thread", [None, "7"], ids=["the chat", "a thread"])
@pytest.mark.parametrize("keeps_messages", [True, False])
async def test_no_row_of_any_table_keeps_the_old_id(
    tmp_path: Path, bare: str | None, thread: str | None, *, keeps_messages: bool
) -> None:
    old = str(OLD.model_copy(update={"thread": thread}))
    filled(tmp_path, 1, most=1)
    columns = {("chat_settings", "place"), *([] if thread else [("budgets", "subject"), ("conversations", "owner")])}
    for table, names in columns_of(tmp_path).items():
        for name in [name for name, _ in names if name == CHAT or (table, name) in columns]:
            execute(tmp_path, None, f"UPDATE {table} SET {name} = '{old}' RETURNING 1")  # noqa: S608
    execute(tmp_path, None, "UPDATE budgets SET scope = 'chat' RETURNING 1")
    execute(tmp_path, None, f"UPDATE owed_erasures SET direct = '[]', shared = '[\"{old}\"]' RETURNING 1")  # noqa: S608
    message = OutboundMessage(markdown="hello").model_dump_json()
    execute(tmp_path, None, f"UPDATE outbox SET body = '{message}' RETURNING 1")  # noqa: S608
    if bare is not None:
        move(tmp_path, bare)

    async with store_in(tmp_path, bare) as store:
        event = MOVED.model_copy(update={"keeps_messages": keeps_messages})
        assert [str(chat) for chat in await store.moves.chats(event)] == [old]
        await store.moves.apply(await store.moves.told(event), event)

    for table, found in content_of(tmp_path, bare).items():
        left = [row for row in found if any(old == value for value in row)]
        assert not left or table == "inbox", f"{table} keeps the old id"
        if table == "owed_erasures":
            assert str(NEW) in str(found)


@pytest.mark.parametrize("steps", [0, 1, 2])
async def test_a_move_that_a_death_cuts_off_is_carried_out_at_the_next_start(
    start_bot: StartBot, monkeypatch: pytest.MonkeyPatch, steps: int
) -> None:
    answers = "Hello.", Waits(asyncio.Event(), "Never said."), "Here it is.", "As before."
    bot = await start_bot(*answers, channel=MemoryChannel(limits=NO_PACE))
    await rule(bot, ACTIVATION, "always")
    await memory_of(bot, OLD).remember("The cactus needs water.", "Ann", CLEAN)
    await rule(bot, EXEC, "deny")
    await says(bot, "my name is Ann")
    await bot.channel.hears("write something", group="team")
    await until(lambda: len(bot.llm.requests) == 2)

    await dies_in_a_move(bot, monkeypatch, steps)
    await bot.start()
    await bot.app.settled()

    assert bot.channel.screen_of(NEW) == ["Here it is."]
    assert bot.made.people.groups.rules.activation(NEW) is Activation.ALWAYS
    assert limits(bot, "crew")["exec"] == "deny"
    assert [each.text for each in await memory_of(bot, NEW).facts()] == ["The cactus needs water."]
    await says(bot, "who am I?", "crew")
    assert "my name is Ann" in str(bot.llm.requests[-1].messages)


async def dies_in_a_move(bot: Bot, monkeypatch: pytest.MonkeyPatch, steps: int) -> None:
    """Let the process of a bot end after so many steps of a move: the files, then the rows."""
    reached = asyncio.Event()

    async def cut_off(_: moves.Moves, item: InboxItem, event: ChatMoved) -> None:
        if steps > 0:
            move_folders(bot.home, event.chat, event.to)
        if steps > 1:
            await bot.made.base.store.moves.apply(item, event)
        reached.set()
        await asyncio.Event().wait()

    async def nothing(_: local_dispatcher.LocalDispatcher) -> None:
        """Go on with no chat: the process is dead."""

    with monkeypatch.context() as patched:
        patched.setattr(local_dispatcher, "REST_WITHIN", 0.1)
        patched.setattr(moves.Moves, "_apply", cut_off)
        patched.setattr(local_dispatcher.LocalDispatcher, "_go_on", nothing)
        await bot.channel.deliver(MOVED)
        await until(reached.is_set)
        await bot.stop()
