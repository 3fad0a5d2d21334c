"""A run is replayed step by step from the store, and its steps rebuild the conversation."""

import asyncio
import re
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from agent_core.models.llm import FailureKind, LlmRequest
from agent_core.models.scripted import Failure, Turn, Waits, calls
from agent_core.tools.tool import RetryableToolError, tool
from channels.memory import NO_PACE, MemoryChannel
from gateway.records.replay.lines import Manner, replayed
from gateway.security.secrets import Secrets
from gateway.store.archive import Archive
from tests.gateway.approving import CHART, asked, recorder
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot
from tests.gateway.taking_in import taken_in
from tests.gateway.tasking import Cast, begins
from tests.gateway.test_archive import execute, kept

SAME = "rebuild the same conversation"
CANARY = "sk-0123456789-abcdef"


@pytest.fixture
def start_bot(start_bot: StartBot) -> StartBot:
    """Start bots on a platform without rate limits."""

    async def start(*turns: object, **how: object) -> Bot:
        return await start_bot(*turns, **{"channel": MemoryChannel(limits=NO_PACE), **how})

    return start


def told(home: Path, *, full: bool = False, last: int | None = None, which: int = 0) -> str:
    """Return the replay of the newest run, or of the one `which` runs before it."""
    with Archive.open(home) as archive:
        row = archive.newest_runs(10)[which]
        return "\n".join(replayed(archive, row, Manner(ZoneInfo("Europe/Paris"), full=full), last=last))


def in_order(text: str, *parts: str) -> bool:
    return re.search(".*".join(map(re.escape, parts)), text, re.DOTALL) is not None


@tool()
async def look(what: str) -> str:
    """Look at something."""
    return f"{what} is there"


async def test_a_run_is_told_from_its_first_word_to_why_it_ended(start_bot: StartBot) -> None:
    bot = await start_bot(calls(("look", {"what": "东京"}), text="I look."), "It is there.", tools=(look,))
    await bot.hears("where is it?")  # S3-05

    text = told(bot.home)
    assert in_order(
        text,
        "chat     memory:here:ann, person ann",
        "model    scripted",
        "ended    completed after",
        "— turn 1: start —",
        "person: where is it?",
        "Parley: I look. [tool_use; scripted, ",
        '→ look {"what": "东京"}',
        "← look: done after",
        "✓ look: 东京 is there",
        "— turn 2: tool_round —",
        "Parley: It is there. [stop; scripted, ",
        "ended: completed",
        "In all: 2 model calls, 1 tool call, ",
    )
    assert SAME in text  # S3-20
    assert "4 messages and 8 steps" in text


async def test_failures_and_what_was_done_about_them_are_told(start_bot: StartBot) -> None:
    tried: list[int] = []

    @tool(retry="always", idempotent=True)
    async def shaky() -> str:
        """Fail once."""
        tried.append(1)
        if len(tried) == 1:
            raise RetryableToolError("not yet")
        return "now"

    failure = Failure(FailureKind.TRANSIENT, "the server is busy")
    bot = await start_bot(failure, calls(("shaky", {})), "Done.", tools=(shaky,))
    await bot.hears("do it")

    text = told(bot.home)
    assert in_order(text, "↻ llm attempt 1 of", "the server is busy", "→ shaky", "↻ tool attempt 1 of", "not yet")
    assert in_order(text, "← shaky: done at attempt 2 after", SAME)


async def test_who_was_asked_and_what_they_said_is_told(start_bot: StartBot) -> None:
    run, _ = recorder()
    bot = await start_bot(CHART, "I leave it.", tools=(run,))
    request = await asked(bot)
    await bot.hears(f"/deny {request}")

    text = told(bot.home)
    assert in_order(text, f"? may run be called ({request}): It runs a program.", "denied by ann", "← run: denied")
    assert in_order(text, "✗ (permission_denied) run: Error: the person refused this call", SAME)


async def test_words_in_mid_run_stand_where_they_came_in(start_bot: StartBot) -> None:  # S4-47
    said = asyncio.Event()
    bot = await start_bot(Waits(said, calls(("look", {"what": "it"}))), "Left then.", tools=(look,))
    await bot.channel.hears("dig")
    await bot.channel.until(lambda: len(bot.llm.requests) == 1)
    await bot.channel.hears("no, to the left")
    await taken_in(bot)
    said.set()
    await bot.app.settled()

    text = told(bot.home)
    assert in_order(text, "→ look", "← look: not run", "Skipped due to queued user message")
    assert in_order(text, "Skipped", "— turn 2: steering —", "person: no, to the left", "Left then.", SAME)


async def test_a_run_that_was_cut_off_is_told_with_what_came_after(start_bot: StartBot) -> None:
    begun = asyncio.Event()

    @tool()
    async def hang() -> str:
        """Never end."""
        begun.set()
        await asyncio.Event().wait()
        return ""

    bot = await start_bot(calls(("hang", {})), "I do not know what came of it.", tools=(hang,))
    await bot.channel.hears("go")
    await begun.wait()
    await kept(lambda: "→ hang" in told(bot.home))
    so_far = told(bot.home)
    await bot.restart()
    await bot.app.settled()

    assert in_order(so_far, "ended    not yet", "→ hang {}", SAME, "as far as it has come")
    text = told(bot.home)
    assert in_order(text, "resumed  1 time", "→ hang {}", "— turn 1: resume —", "→ hang {}", "← hang: not run")
    assert in_order(text, "the program stopped while this ran", "ended: completed", SAME)


async def test_a_conversation_that_is_shortened_in_mid_run_is_rebuilt_all_the_same(start_bot: StartBot) -> None:
    def answer(request: LlmRequest) -> Turn:
        return "## Goal\nOslo." if request.system.startswith("You shorten a conversation") else "ok"

    bot = await start_bot(*[answer] * 40)
    texts = []
    for _ in range(8):
        await bot.hears("word " * 3_900)
        texts.append(told(bot.home))

    assert any(in_order(text, "compaction: threshold", "summary of what was", "compacted: ") for text in texts)
    assert [text for text in texts if SAME not in text] == []


async def test_a_sub_agent_s_work_is_a_run_of_its_own(start_bot: StartBot) -> None:  # S3-26
    cast = Cast(begins("count", background=False), "There are 42.", tasks={"count": ["42 files."]})
    bot = await start_bot(*cast.turns)
    await bot.hears("count the files")

    of_task, of_chat = sorted((told(bot.home, which=0), told(bot.home, which=1)), key=lambda text: "kind" not in text)
    assert in_order(of_task, "kind     task", "count", "42 files.", SAME)
    assert in_order(of_chat, "count the files", "→ task", "task ", "There are 42.", SAME)


async def test_a_damaged_row_is_named_and_a_missing_one_too(start_bot: StartBot) -> None:
    bot = await start_bot(calls(("look", {"what": "it"})), "There.", tools=(look,))
    await bot.hears("look")
    await bot.stop()
    execute(bot.home, "UPDATE transcript SET message = 'x' || message WHERE seq = 3")

    text = told(bot.home)
    assert in_order(text, "!! row 3 of transcript cannot be read", "There.", "NOT the same when replayed")

    execute(bot.home, "DELETE FROM transcript WHERE seq = 3")
    assert in_order(told(bot.home), "is missing in the transcript", "NOT the same when replayed")


@pytest.mark.parametrize("value", ["'[]'", "'3'", "'null'", "printf('%.*c', 9000, '[')", "CAST(x'ff7b' AS TEXT)"])
@pytest.mark.parametrize(("table", "column"), [("steps", "event"), ("steps", "state"), ("transcript", "message")])
async def test_whatever_a_row_holds_the_others_are_told(
    start_bot: StartBot, table: str, column: str, value: str
) -> None:
    bot = await start_bot(calls(("look", {"what": "it"})), "There.", tools=(look,))
    await bot.hears("look")
    await bot.stop()
    execute(bot.home, f"UPDATE {table} SET {column} = {value} WHERE seq = 3")  # noqa: S608

    text = told(bot.home)
    assert in_order(text, f"!! row 3 of {table} cannot be read", "There.", "NOT the same when replayed")


async def test_a_step_that_was_changed_is_found_out(start_bot: StartBot) -> None:
    bot = await start_bot("Hello.")
    await bot.hears("hi")
    await bot.stop()
    execute(bot.home, "UPDATE steps SET state = json_set(state, '$.turn_count', 7) WHERE state IS NOT NULL")

    assert "after turn 1 turn_count was 7, and is 1 when replayed" in told(bot.home)


async def test_long_texts_are_clipped_unless_all_is_wanted_and_the_last_steps_may_be_enough(
    start_bot: StartBot,
) -> None:
    bot = await start_bot("x" * 2_000)
    await bot.hears("long")

    assert "x" * 301 not in told(bot.home)
    assert "(2000 characters)" in told(bot.home)
    assert "x" * 2_000 in told(bot.home, full=True)
    last = told(bot.home, last=1)
    assert "ended: completed" in last
    assert "long" not in last
    assert SAME in last


async def test_no_secret_is_kept_in_a_step(start_bot: StartBot) -> None:
    failure = Failure(FailureKind.TRANSIENT, f"no such key: {CANARY}")
    bot = await start_bot(failure, "Done.", secrets=Secrets([CANARY]))
    await bot.hears("go")

    text = told(bot.home, full=True)
    assert "no such key: [secret]" in text
    assert CANARY not in text


async def test_a_run_is_told_with_the_history_that_it_saw(start_bot: StartBot) -> None:
    bot = await start_bot("One.", "Two.", "Two, better.", "Three.")
    for words in ("first", "second", "/retry", "third"):
        await bot.hears(words)

    third, again, second, first = (told(bot.home, full=True, which=which) for which in range(4))

    assert in_order(third, "history  4 messages", "first\n", "One.\n", "second\n", "Two, better.\n", "— turn 1")
    assert "Two.\n" not in third
    assert "undone" not in third
    assert in_order(again, "history  2 messages", "One.\n", "— turn 1")
    assert in_order(second, "undone ", "its exchange was taken out of the conversation\n", "history  2 messages")
    assert "history" not in first
    assert all(SAME in each for each in (third, again, second, first))
