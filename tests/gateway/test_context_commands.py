"""/context and /compact, and the part of a long conversation that is loaded after a restart."""

import asyncio
from pathlib import Path

import pytest

from agent_core.clock import SystemClock, new_id
from agent_core.messages import AgentMessage, SummaryMessage, text_of
from agent_core.models.llm import LlmRequest
from agent_core.models.scripted import Turn, Waits
from agent_core.origin import CLEAN
from channels.base import ChatKey
from channels.memory import NO_PACE, MemoryChannel
from gateway.store.rows import Run
from gateway.store.store import Store
from tests.gateway.conftest import StartBot
from tests.messages import user

SUMMARY = "## Goal\nBook a flight to Tokyo."
LONG = "I want to fly to Tokyo in the morning. " * 100
CHAT = ChatKey(platform="memory", account="bot", chat="1")


def talker(request: LlmRequest) -> Turn:
    return SUMMARY if request.system.startswith("You shorten a conversation") else "ok"


def words(request: LlmRequest) -> str:
    return "\n".join(text_of(message.content) for message in request.messages)


async def test_everybody_sees_what_fills_the_window(wired_bot: StartBot) -> None:  # S0-31
    bot = await wired_bot(*[talker] * 3)
    await bot.hears(LONG, group="team")

    await bot.hears("/context", sender="bob", group="team")

    shown = bot.screen[-1]
    assert "**Model:** scripted" in shown
    assert "of 32,000 tokens" in shown
    assert "▱" in shown
    for bucket in ("Instructions", "Tools", "Conversation", "Environment and memory", "Free"):
        assert f"- {bucket}: " in shown


async def test_what_fills_the_window_is_told_in_chinese(start_bot: StartBot) -> None:  # S0-31
    bot = await start_bot(talker)

    await bot.hears("/context", language="zh")

    assert "- 指令: " in bot.screen[-1]
    assert "- 剩余: " in bot.screen[-1]


async def test_a_person_has_it_shortened_and_reads_by_how_much(start_bot: StartBot) -> None:  # D-09, S3-17
    bot = await start_bot(*[talker] * 12, channel=MemoryChannel(limits=NO_PACE))
    for _ in range(6):
        await bot.hears(LONG)

    await bot.hears("/compact the flight number")

    assert bot.screen[-1].startswith("Compacted: about ")
    assert "keep above all: the flight number" in bot.llm.requests[-1].system
    await bot.hears("And now?")
    asked = words(bot.llm.requests[-1])
    assert asked.startswith("<summary>\n## Goal\nBook a flight to Tokyo.\n</summary>")
    assert asked.count(LONG.strip()) == 1


async def test_what_was_shortened_stays_so_after_a_restart(start_bot: StartBot) -> None:  # S3-17, S3-34
    bot = await start_bot(*[talker] * 12, channel=MemoryChannel(limits=NO_PACE))
    for _ in range(6):
        await bot.hears(LONG)
    await bot.hears("/compact")
    await bot.hears("And now?")
    before = bot.llm.requests[-1]

    await bot.restart()
    await bot.hears("And after that?")

    after = bot.llm.requests[-1]
    assert [text_of(message.content) for message in after.messages[: len(before.messages)]] == [
        text_of(message.content) for message in before.messages
    ]
    assert after.system == before.system


def with_facts(request: LlmRequest) -> Turn:
    """Answer as `talker` does, with a fact in the summary."""
    said = talker(request)
    return f"{SUMMARY}\n\n## Durable Facts\nAnn prefers window seats." if said == SUMMARY else said


async def test_a_stop_does_not_wait_for_the_summary(start_bot: StartBot) -> None:
    summarising, never = asyncio.Event(), asyncio.Event()

    def slow(request: LlmRequest) -> Turn:
        if talker(request) != SUMMARY:
            return "ok"
        summarising.set()
        return Waits(never)

    bot = await start_bot(*[slow] * 8, channel=MemoryChannel(limits=NO_PACE))
    for _ in range(6):
        await bot.hears(LONG)
    await bot.channel.hears("/compact")
    await summarising.wait()

    await bot.hears("/stop")

    assert bot.screen[-1] == "Stopped."
    assert bot.screen[-2] == "ok"
    await bot.hears("And now?")
    assert words(bot.llm.requests[-1]).count(LONG.strip()) == 6


async def test_where_there_is_nothing_to_shorten_it_says_so(start_bot: StartBot) -> None:  # D-09
    bot = await start_bot()

    await bot.hears("/compact")

    assert bot.screen[-1] == "There is nothing to compact yet."
    assert bot.llm.requests == []


async def test_while_an_answer_is_under_way_nothing_is_shortened(start_bot: StartBot) -> None:  # D-09
    slow = Waits(asyncio.Event(), "done")
    bot = await start_bot(slow)
    await bot.channel.hears(LONG)
    await slow.reached.wait()

    await bot.channel.hears("/compact")
    await bot.channel.until(lambda: any("I am still answering" in text for text in bot.screen))

    slow.event.set()
    await bot.app.settled()
    assert "done" in bot.screen


async def test_in_a_group_only_an_owner_may(start_bot: StartBot) -> None:  # D-09, D-11
    bot = await start_bot(*[talker] * 9, channel=MemoryChannel(limits=NO_PACE))
    for _ in range(3):
        await bot.hears(LONG, group="team")

    await bot.hears("/compact", sender="bob", group="team")
    assert "only an owner" in bot.screen[-1]
    await bot.hears("/compact", group="team")
    assert bot.screen[-1].startswith("Compacted:")


async def test_people_see_that_it_is_being_shortened(wired_bot: StartBot) -> None:  # S0-34
    slow = Waits(asyncio.Event(), SUMMARY)

    def answer(request: LlmRequest) -> Turn:
        return slow if talker(request) == SUMMARY else "ok"

    bot = await wired_bot(*[answer] * 40, channel=MemoryChannel(limits=NO_PACE))
    chat = "word " * 3_900
    for _ in range(6):
        await bot.hears(chat)
    await bot.channel.hears(chat)

    await bot.channel.until(lambda: any("Compacting the conversation" in text for text in bot.screen))

    slow.event.set()
    await bot.app.settled()
    assert bot.screen[-1] == "ok"


async def test_a_restart_while_it_is_being_shortened_loses_and_doubles_nothing(wired_bot: StartBot) -> None:
    # S3-17, U-15
    slow = Waits(asyncio.Event(), SUMMARY)

    def answer(request: LlmRequest) -> Turn:
        is_summary = talker(request) == SUMMARY
        return slow if is_summary and not slow.reached.is_set() else talker(request)

    bot = await wired_bot(*[answer] * 40, channel=MemoryChannel(limits=NO_PACE))
    chat = "word " * 3_900
    for number in range(6):
        await bot.hears(f"{number} {chat}")
    await bot.channel.hears(f"six {chat}")
    await slow.reached.wait()
    await bot.channel.hears("And seven?")

    await bot.restart()
    await bot.app.settled()
    await bot.hears("And eight?")

    last = words(bot.llm.requests[-1])
    assert last.startswith(f"<summary>\n{SUMMARY}")
    assert [last.count(said) for said in ("six word", "And seven?", "And eight?")] == [1, 1, 1]


@pytest.fixture
def run() -> Run:
    return Run("r", CHAT, "s", "ann", 0.0)


async def test_only_what_counts_is_read_again(tmp_path: Path, run: Run) -> None:  # S3-17
    async with Store.open(tmp_path, SystemClock(), new_id) as store:
        store.runs.begin(run)
        said: list[AgentMessage] = [user(f"{number}").model_copy(update={"id": f"m{number}"}) for number in range(300)]
        for message in said[:200]:
            store.transcript.append(run, 1, message)
        first = SummaryMessage(summary="one", first_kept_id="m100", tokens_before=1, origin=CLEAN)
        second = SummaryMessage(summary="two", first_kept_id="m190", tokens_before=1, origin=CLEAN)
        rest: list[AgentMessage] = [first, *said[200:250], second, *said[250:]]
        for message in rest:
            await store.transcript.append(run, 1, message)

        history = await store.transcript.history("s")

    assert history == [second, *said[190:]]


async def test_a_summary_that_kept_nothing_is_where_it_begins(tmp_path: Path, run: Run) -> None:  # S3-17
    async with Store.open(tmp_path, SystemClock(), new_id) as store:
        store.runs.begin(run)
        summary = SummaryMessage(summary="all", first_kept_id="", tokens_before=1, origin=CLEAN)
        for message in (user("one"), summary, user("two")):
            await store.transcript.append(run, 1, message)

        assert [message.role for message in await store.transcript.history("s")] == ["summary", "user"]
        assert await store.transcript.history("other") == []
