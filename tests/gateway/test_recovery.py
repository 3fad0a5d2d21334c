"""Work cut off by a stop of the program, at any point, resumes after the restart, and nothing happens twice."""

import asyncio
import sqlite3
from pathlib import Path

import pytest

from agent_core.clock import SystemClock, new_id
from agent_core.messages import (
    AssistantMessage,
    StopReason,
    TextContent,
    UserMessage,
    text_of,
)
from agent_core.models.scripted import Waits, calls
from agent_core.origin import CLEAN
from agent_core.reasons import TerminalReason
from agent_core.tools.tool import tool
from channels.attachments import Attachment
from channels.base import ChannelError, ChatKey, MessageReceived, OutboundMessage, Sender
from channels.memory import NO_PACE, MemoryChannel
from gateway.store.opening import FILE
from gateway.store.rows import Post, Run, RunEnd
from gateway.store.store import Store
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot
from tests.messages import user

ANN = ChatKey(platform="memory", account="here", chat="ann")
RUN = Run("run-1", ANN, "session-1", "ann", 1_000.0)
END = RunEnd(TerminalReason.COMPLETED, "scripted")


def heard(number: int, text: str) -> MessageReceived:
    who = Sender(id="ann", name="Ann")
    return MessageReceived(event_id=f"e{number}", chat=ANN, sender=who, at=1.0, text=text, message_id=f"m{number}")


def said(number: int, text: str) -> UserMessage:
    return user(text).model_copy(update={"id": f"inbox-{number}"})


def answered(text: str) -> AssistantMessage:
    return AssistantMessage(content=(TextContent(text=text),), stop_reason=StopReason.STOP, origin=CLEAN)


def runs(home: Path) -> list[tuple[object, ...]]:
    connection = sqlite3.connect(home / FILE)
    try:
        return connection.execute("SELECT state, reason FROM runs ORDER BY started").fetchall()
    finally:
        connection.close()


# Each step of one message, with the program killed after it


async def test_after_it_was_taken_in(wired_bot: StartBot, tmp_path: Path) -> None:
    async with Store.open(tmp_path, SystemClock(), new_id) as store:
        await store.inbox.accept(heard(1, "one"))
        await store.inbox.accept(heard(2, "two"))

    bot = await wired_bot("Both.")
    await bot.app.settled()

    assert bot.screen == ["Both."]
    assert [text_of(message.content) for message in bot.llm.requests[0].messages] == ["one", "two"]


async def test_after_its_run_was_begun(wired_bot: StartBot, tmp_path: Path) -> None:
    async with Store.open(tmp_path, SystemClock(), new_id) as store:
        await store.inbox.accept(heard(1, "hello"))
        await store.runs.begin(RUN)

    bot = await wired_bot("Hi.")
    await bot.app.settled()

    assert bot.screen == ["Hi."]
    assert len(bot.llm.requests) == 1
    assert [state for state, _ in runs(tmp_path)] == ["done", "done"]


async def test_after_its_run_was_begun_in_a_conversation_with_a_past(wired_bot: StartBot) -> None:
    bot = await wired_bot("One.", "Two.")
    await bot.hears("first")
    store = bot.made.base.store
    chat = await store.chats.get(ANN)
    await store.inbox.accept(heard(9, "second"))
    await store.runs.begin(Run("run-9", ANN, chat.session, "ann", 2_000.0))

    await bot.restart()
    await bot.app.settled()

    assert bot.screen == ["One.", "Two."]


async def test_after_the_first_of_two_messages_was_written(wired_bot: StartBot, tmp_path: Path) -> None:
    async with Store.open(tmp_path, SystemClock(), new_id) as store:
        await store.inbox.accept(heard(1, "one"))
        await store.inbox.accept(heard(2, "two"))
        await store.runs.begin(RUN)
        await store.transcript.append(RUN, 1, said(1, "one"), [1])

    bot = await wired_bot("First.", "Second.")
    await bot.app.settled()

    assert bot.screen == ["First.", "Second."]


async def test_while_the_model_was_asked(wired_bot: StartBot) -> None:
    never = asyncio.Event()
    bot = await wired_bot(Waits(never, "lost", words="half a"), "Whole.")
    await bot.channel.hears("hello")
    await bot.channel.until(lambda: len(bot.llm.requests) == 1)

    await bot.restart()
    await bot.app.settled()

    assert bot.screen == ["Whole."]


async def test_while_a_tool_ran_that_may_be_repeated(wired_bot: StartBot) -> None:
    tries = []

    @tool(idempotent=True)
    async def look() -> str:
        """Look."""
        tries.append(1)
        if len(tries) == 1:
            await asyncio.Event().wait()
        return "sunny"

    bot = await wired_bot(calls(("look", {})), "It is sunny.", tools=(look,))
    await bot.channel.hears("look")
    await bot.channel.until(lambda: len(tries) == 1)

    await bot.restart()
    await bot.app.settled()

    assert bot.screen[-1] == "It is sunny."
    assert len(tries) == 2


async def test_while_a_tool_ran_that_may_not_be_repeated(wired_bot: StartBot) -> None:  # U-19
    tries = []

    @tool(idempotent=False)
    async def pay() -> str:
        """Pay."""
        tries.append(1)
        await asyncio.Event().wait()
        return "paid"

    bot = await wired_bot(calls(("pay", {})), "I do not know whether it was paid.", tools=(pay,))
    await bot.channel.hears("pay")
    await bot.channel.until(lambda: len(tries) == 1)

    await bot.restart()
    await bot.app.settled()

    assert len(tries) == 1
    assert "outcome is unknown" in text_of(bot.llm.requests[1].messages[-1].content)
    assert "I do not know whether it was paid." in bot.screen


async def test_after_the_answer_was_written_and_before_the_run_ended(wired_bot: StartBot, tmp_path: Path) -> None:
    async with Store.open(tmp_path, SystemClock(), new_id) as store:
        await store.inbox.accept(heard(1, "hello"))
        await store.runs.begin(RUN)
        await store.transcript.append(RUN, 1, said(1, "hello"), [1])
        await store.transcript.append(RUN, 1, answered("Hi."))

    bot = await wired_bot()
    await bot.app.settled()

    assert bot.screen == ["Hi."]
    assert bot.llm.requests == []


async def test_after_the_run_ended_and_before_the_answer_was_sent(wired_bot: StartBot, tmp_path: Path) -> None:
    parts = [
        Post(f"run-1:answer:{n}", "run-1", ANN, OutboundMessage(markdown=f"part {n}"), origin=CLEAN) for n in range(12)
    ]
    async with Store.open(tmp_path, SystemClock(), new_id) as store:
        await store.runs.begin(RUN)
        await store.runs.end(RUN, END, parts)

    bot = await wired_bot(channel=MemoryChannel(limits=NO_PACE))
    await bot.app.settled()

    assert bot.screen == [f"part {n}" for n in range(12)]


@pytest.mark.parametrize(("keeps_keys", "copies"), [(True, 1), (False, 2)])
async def test_while_the_answer_was_sent(wired_bot: StartBot, tmp_path: Path, *, keeps_keys: bool, copies: int) -> None:
    channel = MemoryChannel(keeps_keys=keeps_keys)
    answer = Post("run-1:answer:0", "run-1", ANN, OutboundMessage(markdown="Hi."), origin=CLEAN)
    async with Store.open(tmp_path, SystemClock(), new_id) as store:
        await store.runs.begin(RUN)
        await store.runs.end(RUN, END, [answer])
        await store.outbox.tried(answer.key, 1)
        await channel.send(ANN, answer.message, answer.key)

    bot = await wired_bot(channel=channel)
    await bot.app.settled()

    assert bot.screen == ["Hi."] * copies


@pytest.mark.usefixtures("no_progress")
async def test_after_it_was_sent_nothing_is_left(wired_bot: StartBot) -> None:
    bot = await wired_bot("Hi.")
    await bot.hears("hello")
    await bot.restart()
    await bot.restart()
    await bot.app.settled()

    assert bot.screen == ["Hi."]
    assert [call.kind for call in bot.channel.calls if call.kind != "typing"] == ["send"]


# Messages on the screen


@tool(idempotent=True)
async def look() -> str:
    """Look."""
    return "clouds"


async def test_a_progress_message_is_used_again_and_folded(wired_bot: StartBot) -> None:  # U-17, S3-25
    never = asyncio.Event()
    bot = await wired_bot(Waits(never), calls(("look", {})), "Here it is.", tools=(look,))
    await shown_progress(bot)

    await bot.restart()
    await bot.app.settled()

    assert len(bot.screen) == 2
    assert bot.screen[0].startswith("1 tool")
    assert bot.screen[1] == "Here it is."


async def test_a_progress_message_that_would_say_no_more_than_how_long_it_took_is_taken_away(
    wired_bot: StartBot,
) -> None:
    bot = await wired_bot(Waits(asyncio.Event()), "Here it is.")
    await shown_progress(bot)

    await bot.restart()
    await bot.app.settled()

    assert bot.screen == ["Here it is."]


async def shown_progress(bot: Bot) -> None:
    await bot.channel.hears("something long")
    await bot.channel.until(lambda: len(bot.screen) == 1)
    await bot.channel.until(lambda: bool(shown_rows(bot.home)))


def shown_rows(home: Path) -> list[tuple[object, ...]]:
    connection = sqlite3.connect(home / FILE)
    try:
        return connection.execute("SELECT key FROM outbox WHERE state = 'sent'").fetchall()
    finally:
        connection.close()


async def test_a_fold_that_was_not_made_is_no_new_message(wired_bot: StartBot, tmp_path: Path) -> None:
    fold = Post(
        "run-1:progress:0", "run-1", ANN, OutboundMessage(markdown="3 s"), message_id="deleted since", origin=CLEAN
    )
    async with Store.open(tmp_path, SystemClock(), new_id) as store:
        await store.runs.begin(RUN)
        await store.runs.end(RUN, END, [fold])

    bot = await wired_bot()
    await bot.app.settled()

    assert bot.screen == []


# Order


async def test_what_was_not_sent_comes_before_what_was_not_finished_and_that_before_what_waits(
    wired_bot: StartBot, tmp_path: Path
) -> None:
    later = Run("run-2", ANN, "session-1", "ann", 2_000.0)
    async with Store.open(tmp_path, SystemClock(), new_id) as store:
        for number, text in enumerate(("one", "two", "three"), 1):
            await store.inbox.accept(heard(number, text))
        await store.runs.begin(RUN)
        await store.transcript.append(RUN, 1, said(1, "one"), [1])
        await store.runs.end(
            RUN, END, [Post("run-1:answer:0", "run-1", ANN, OutboundMessage(markdown="First."), origin=CLEAN)]
        )
        await store.runs.begin(later)
        await store.transcript.append(later, 1, said(2, "two"), [2])
    channel = MemoryChannel()
    channel.fails("send", ChannelError("not yet", retry_after=0.2))

    bot = await wired_bot("Second.", "Third.", channel=channel)
    await bot.app.settled()

    assert bot.screen == ["First.", "Second.", "Third."]


async def test_a_chat_of_a_platform_that_is_not_connected_waits(wired_bot: StartBot, tmp_path: Path) -> None:
    elsewhere = heard(1, "hello").model_copy(update={"chat": ANN.model_copy(update={"platform": "other"})})
    async with Store.open(tmp_path, SystemClock(), new_id) as store:
        await store.inbox.accept(elsewhere)

    bot = await wired_bot("Hi.")
    await bot.hears("hello")

    assert bot.screen == ["Hi."]
    assert [item.event for item in await bot.made.base.store.inbox.waiting()] == [elsewhere]


class Mistaken(MemoryChannel):
    """An adapter with a bug."""

    def split(self, message: OutboundMessage) -> tuple[OutboundMessage, ...]:
        if "boom" in message.markdown:
            raise TypeError("sk-secret")
        return super().split(message)


async def test_a_mistake_of_ours_ends_the_run_with_a_word_and_not_the_chat(wired_bot: StartBot) -> None:
    bot = await wired_bot("boom", "Fine again.", channel=Mistaken())

    await bot.hears("hello")
    await bot.hears("and now?")
    await bot.restart()
    await bot.app.settled()

    told, answer = bot.screen
    assert "went wrong on our side" in told
    assert "sk-secret" not in told
    assert answer == "Fine again."
    assert len(bot.llm.requests) == 2


async def test_a_message_that_waits_behind_a_mistake_is_answered(wired_bot: StartBot) -> None:
    said = asyncio.Event()
    bot = await wired_bot(Waits(said, "boom"), "For Carl.", channel=Mistaken())
    await bot.channel.hears("first", sender="bob", group="team")
    await bot.channel.until(lambda: len(bot.llm.requests) == 1)
    await bot.channel.hears("second", sender="carl", group="team")

    said.set()
    await bot.app.settled()

    assert bot.screen[-1] == "For Carl."


async def test_a_mistake_over_a_message_does_not_come_back_at_each_start(wired_bot: StartBot) -> None:
    bot = await wired_bot("never asked", channel=NoFiles())

    await bot.hears("look", files={"a.txt": b"a"})
    await bot.restart()
    await bot.app.settled()

    assert len(bot.screen) == 1
    assert "went wrong on our side" in bot.screen[0]
    assert bot.llm.requests == []


class NoFiles(MemoryChannel):
    async def download(self, attachment: Attachment) -> bytes:
        raise KeyError(attachment.name)


async def test_a_stop_given_just_before_a_crash_stops_the_run_that_it_left(start_bot: StartBot) -> None:
    bot = await start_bot(Waits(asyncio.Event()))
    await bot.channel.hears("a long story")
    await bot.channel.until(lambda: bool(bot.llm.requests))
    said = bot.channel.heard[-1]
    assert isinstance(said, MessageReceived)
    stop = said.as_command("stop", "").model_copy(update={"event_id": "stop"})
    assert await bot.made.base.store.inbox.accept(stop) is not None

    await bot.restart()
    await bot.app.settled()

    assert bot.screen == ["Stopped."]
    assert len(bot.llm.requests) == 1
