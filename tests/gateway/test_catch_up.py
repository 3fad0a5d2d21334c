"""Messages sent while Parley was not connected are handled later, once and in order."""

import asyncio
import sqlite3
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from agent_core.clock import SystemClock, new_id
from agent_core.messages import UserMessage, text_of
from agent_core.models.scripted import Waits
from channels.base import Addressed, ChatKey
from gateway.app.catch_up import with_outsides
from gateway.app.gap_reader import OLDEST
from gateway.store.opening import FILE, migrations
from gateway.store.read_marks import ReadMark
from gateway.store.store import Store
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot
from tests.gateway.remembering import RememberingChannel
from tests.gateway.taking_in import taken_in

ANN, BOB = "memory:here:ann", "memory:here:bob"


def heard(bot: Bot) -> list[str]:
    """Return the user messages of the model's last request."""
    return [text_of(each.content) for each in bot.llm.requests[-1].messages if isinstance(each, UserMessage)]


async def talked(bot: Bot, channel: RememberingChannel, who: Sequence[str] = ("ann",)) -> None:
    """Let each user say hello in turn and get an answer."""
    for sender in who:
        await channel.brings(channel.writes("hello", sender=sender))
        await bot.app.settled()


async def test_what_was_said_in_a_gap_is_answered_once(start_bot: StartBot) -> None:
    channel = RememberingChannel()
    bot = await start_bot("First.", "Second.", channel=channel)
    await talked(bot, channel)

    channel.writes("are you there?")
    channel.reconnect()
    await channel.until(lambda: bot.screen == ["First.", "Second."])
    channel.reconnect()
    await channel.until(lambda: len(channel.read) == 2)
    await bot.app.settled()

    assert bot.screen == ["First.", "Second."]
    assert channel.read == [ANN, ANN]


async def test_what_was_said_while_the_program_was_down_is_one_turn_with_what_is_said_now(start_bot: StartBot) -> None:
    channel = RememberingChannel()
    bot = await start_bot("One.", "All.", channel=channel)
    await talked(bot, channel)
    await bot.stop()
    channel.writes("first")
    channel.writes("second")

    channel.open.clear()
    channel.reconnect()
    await bot.restart()
    await channel.brings(channel.writes("third"))
    assert len(await bot.made.base.store.inbox.waiting()) == 1
    channel.open.set()
    await channel.until(lambda: bot.screen == ["One.", "All."])

    assert heard(bot) == ["hello", "first", "second", "third"]


async def test_what_was_said_while_down_is_not_lost_where_the_program_ends_again_before_it_was_read(
    start_bot: StartBot,
) -> None:
    channel = RememberingChannel()
    bot = await start_bot("One.", "All.", channel=channel)
    await talked(bot, channel)
    await bot.stop()
    channel.writes("first")

    channel.open.clear()
    for words in ("second", "third"):
        channel.reconnect()
        await bot.restart()
        await channel.brings(channel.writes(words))
        await bot.stop()
        channel.writes(f"{words} and a half")
    channel.open.set()
    channel.reconnect()
    await bot.restart()
    await channel.until(lambda: len(bot.screen) == 2)

    assert heard(bot) == ["hello", "first", "second", "second and a half", "third", "third and a half"]


async def test_a_gap_that_opens_while_an_earlier_one_is_read_is_read_too(start_bot: StartBot) -> None:
    channel = RememberingChannel()
    bot = await start_bot("One.", "All.", channel=channel)
    await talked(bot, channel)

    channel.open.clear()
    channel.reconnect()
    await channel.until(lambda: len(channel.read) == 1)
    channel.writes("first")
    channel.reconnect()
    await channel.until(lambda: len(channel.read) == 2)
    await channel.brings(channel.writes("second"))
    channel.open.set()
    await channel.until(lambda: len(bot.screen) == 2)

    assert heard(bot) == ["hello", "first", "second"]


async def test_a_chat_that_waits_for_its_gap_keeps_no_other_waiting(start_bot: StartBot) -> None:
    channel = RememberingChannel()
    bot = await start_bot("For Ann.", "For Bob.", "Bob again.", "Ann again.", channel=channel)
    await talked(bot, channel, ["ann", "bob"])

    channel.gates[ANN] = asyncio.Event()
    channel.reconnect()
    await channel.until(lambda: len(channel.read) == 2)
    await channel.brings(channel.writes("and I?", sender="ann"))
    await channel.brings(channel.writes("hello?", sender="bob"))
    await channel.until(lambda: bot.screen[-1] == "Bob again.")
    channel.gates[ANN].set()

    await channel.until(lambda: bot.screen[-1] == "Ann again.")


async def test_where_somebody_waits_it_is_read_first_and_then_where_somebody_wrote_last(start_bot: StartBot) -> None:
    channel = RememberingChannel()
    bot = await start_bot(*["Hello."] * 9, channel=channel)
    for thread in range(8):
        await channel.brings(channel.writes("hi", group="team", thread=f"t{thread}"))
        await bot.app.settled()
    await bot.stop()
    channel.reconnect()

    channel.open.clear()
    await bot.restart()
    await channel.until(lambda: len(channel.read) == 4)
    await channel.brings(channel.writes("please", group="team", thread="t1"))
    channel.open.set()
    await channel.until(lambda: len(channel.read) >= 9)

    assert channel.read[:3] == ["memory:here:#team", "memory:here:#team:t7", "memory:here:#team:t6"]
    assert channel.read[4] == "memory:here:#team:t1"


async def test_commands_pass_the_gap_and_a_stop_drops_what_stands_above_it(start_bot: StartBot) -> None:
    channel = RememberingChannel()
    bot = await start_bot("One.", channel=channel)
    await talked(bot, channel)

    channel.open.clear()
    channel.reconnect()
    await channel.until(lambda: len(channel.read) == 1)
    await channel.brings(channel.writes("never mind"))
    await channel.hears("/status")
    await channel.until(lambda: "scripted" in bot.screen[-1])
    await channel.hears("/stop")
    await channel.until(lambda: len(bot.screen) == 3)
    channel.open.set()
    await bot.app.settled()

    assert len(bot.llm.requests) == 1
    assert await bot.made.base.store.inbox.waiting() == []


async def test_what_a_running_answer_may_take_in_waits_for_the_gap_too(start_bot: StartBot) -> None:
    channel = RememberingChannel()
    writing = asyncio.Event()
    bot = await start_bot("One.", Waits(writing, "Two."), "Three.", channel=channel)
    await talked(bot, channel)
    await channel.brings(channel.writes("first"))
    await channel.until(lambda: len(bot.llm.requests) == 2)

    channel.open.clear()
    channel.writes("second")
    channel.reconnect()
    await channel.until(lambda: len(channel.read) == 1)
    await channel.brings(channel.writes("third"))
    channel.open.set()
    await taken_in(bot, 2)
    writing.set()
    await channel.until(lambda: bot.screen[-1] == "Two.\n\nThree.")

    assert heard(bot) == ["hello", "first", "second", "third"]


async def test_a_mistake_while_one_chat_is_read_stops_no_other(start_bot: StartBot) -> None:
    channel = RememberingChannel()
    bot = await start_bot("For Ann.", "For Bob.", "Late.", channel=channel)
    await talked(bot, channel, ["ann", "bob"])

    channel.refusals = [ZeroDivisionError()]
    channel.writes("are you there?", sender="ann")
    with capture_logs() as told:
        channel.reconnect()
        await channel.until(lambda: bot.screen[-1] == "Late.")

    assert "a mistake of ours" in [line["event"] for line in told]


async def test_what_is_older_than_a_day_or_said_by_a_bot_stays_unheard(start_bot: StartBot) -> None:
    channel = RememberingChannel()
    bot = await start_bot("First.", "Last.", channel=channel)
    await talked(bot, channel)

    channel.writes("yesterday's question", at=time.time() - OLDEST - 60)
    channel.writes("buy my coins", is_bot=True)
    channel.writes("today's question")
    channel.reconnect()

    await channel.until(lambda: bot.screen == ["First.", "Last."])
    assert heard(bot) == ["hello", "today's question"]


async def test_a_mention_outside_of_the_threads_that_are_known_is_found_with_what_followed(start_bot: StartBot) -> None:
    channel = RememberingChannel()
    bot = await start_bot("In the thread.", "In another.", channel=channel)
    await channel.brings(channel.writes("ada, hello", group="team", thread="t1"))
    await bot.app.settled()

    channel.writes("what a day", group="team", addressed=Addressed.AMBIENT)
    channel.writes("ada, help", group="team", thread="m2")
    channel.writes("ada, please", group="team", thread="m2")
    channel.reconnect()

    await channel.until(lambda: bot.screen == ["In the thread.", "In another."])
    assert heard(bot) == ["ada, help", "ada, please"]


@pytest.mark.parametrize("messages", [150])
async def test_however_much_was_said_all_of_it_is_one_turn(start_bot: StartBot, messages: int) -> None:
    channel = RememberingChannel()
    bot = await start_bot("Hello.", "Heard.", channel=channel)
    await talked(bot, channel, ["bob"])

    for number in range(messages):
        channel.writes(f"message {number}", sender="bob")
    channel.reconnect()
    await channel.until(lambda: bot.screen == ["Hello.", "Heard."])

    assert heard(bot) == ["hello", *(f"message {number}" for number in range(messages))]


async def test_the_first_words_of_somebody_who_wrote_while_nobody_listened_are_found(start_bot: StartBot) -> None:
    channel = RememberingChannel()
    at = time.time() + 1  # the store's age has a resolution of one second
    channel.writes("is this on?", sender="bob", at=at)
    channel.writes("let me in", sender="mallory", at=at)
    channel.reachable = {"bob", "mallory"}

    bot = await start_bot("Yes.", channel=channel)

    await channel.until(lambda: bot.screen == ["Yes."])


async def test_in_a_chat_that_was_never_heard_the_next_words_bring_those_before_them(start_bot: StartBot) -> None:
    channel = RememberingChannel()
    bot = await start_bot("Hello.", "Both.", channel=channel)
    await talked(bot, channel)
    channel.reconnect()
    await channel.until(lambda: len(channel.read) == 1)

    channel.writes("is this on?", sender="bob")
    await channel.brings(channel.writes("hello?", sender="bob"))
    await channel.until(lambda: bot.screen == ["Hello.", "Both."])

    assert heard(bot) == ["is this on?", "hello?"]


async def test_what_was_said_before_this_store_was_there_may_have_been_answered_out_of_another(
    start_bot: StartBot,
) -> None:
    channel = RememberingChannel()
    channel.writes("old question", sender="bob", at=time.time() - 3_600)
    channel.reachable = {"bob"}

    bot = await start_bot("Hello.", channel=channel)
    await channel.until(lambda: len(channel.read) == 1)
    await talked(bot, channel)

    assert bot.screen == ["Hello."]
    assert len(bot.llm.requests) == 1


async def test_a_store_of_an_earlier_version_takes_what_was_last_heard_as_its_marks(tmp_path: Path) -> None:
    said = [
        RememberingChannel().writes("hello", sender="ann", at=5.0),
        RememberingChannel().writes("and more", sender="ann", at=7.0),
        RememberingChannel().writes("ada, hi", sender="bob", group="team", at=6.0),
    ]
    with closing(sqlite3.connect(tmp_path / FILE)) as store:
        for step in migrations()[:7]:
            store.executescript(step.read_text())
        store.execute("PRAGMA user_version = 7")
        rows = [(number, f"e{number}", str(each.chat), each.model_dump_json()) for number, each in enumerate(said)]
        store.executemany("INSERT INTO inbox (seq, event_id, chat, payload, at) VALUES (?, ?, ?, ?, 0)", rows)
        store.commit()

    async with Store.open(tmp_path, SystemClock(), new_id) as opened:
        marks = await opened.read_marks.newest("memory", 0.0, 10)
        people = await opened.read_marks.people("memory", 0.0)

    assert [(str(mark.chat), mark.at) for mark in marks] == [(ANN, 7.0), ("memory:here:#team", 6.0)]
    assert people == {"ann"}


def test_where_only_threads_are_known_a_chat_was_read_as_far_as_they_were() -> None:
    team, ann = ChatKey(platform="p", account="a", chat="team"), ChatKey(platform="p", account="a", chat="ann")
    first, second = (team.model_copy(update={"thread": name}) for name in ("t1", "t2"))

    marks = with_outsides([ReadMark(second, 9.0), ReadMark(ann, 5.0), ReadMark(first, 3.0)])

    assert list(marks.items()) == [(second, 9.0), (team, 9.0), (ann, 5.0), (first, 3.0)]
