"""What a run says in the end, and in which messages."""

import asyncio
from datetime import timedelta

import pytest

from agent_core.limits import LoopLimits
from agent_core.llm import FailureKind
from agent_core.models.scripted import Failure, Waits, calls
from agent_core.tools import tool
from channels.base import Limits
from channels.memory import MemoryChannel
from tests.clock import HandClock
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot


@tool()
async def look() -> str:
    """Look."""
    return "seen"


LOOKS = calls(("look", {}))


async def shown(bot: Bot) -> None:
    await bot.channel.until(lambda: len(bot.screen) == 1)


async def test_a_quick_answer_is_one_new_message(start_bot: StartBot) -> None:
    bot = await start_bot("Hi.")
    await bot.hears("hello")

    assert [call.kind for call in bot.channel.calls if call.kind != "typing"] == ["send"]


async def test_a_young_progress_message_becomes_the_answer(start_bot: StartBot) -> None:
    said = asyncio.Event()
    bot = await start_bot(Waits(said, "Here it is."))
    await bot.channel.hears("something long")
    await shown(bot)
    said.set()
    await bot.house.handler.settled()

    assert bot.screen == ["Here it is."]
    assert bot.channel.posts[0][1].buttons == ()


async def test_an_old_progress_message_folds_and_the_answer_is_a_new_one(start_bot: StartBot) -> None:
    said = asyncio.Event()
    clock = HandClock()
    bot = await start_bot(Waits(said, "Here it is."), clock=clock)
    await bot.channel.hears("something long")
    await bot.channel.until(lambda: len(bot.llm.requests) == 1)
    for _ in range(12):
        await clock.advance(1)
    await shown(bot)
    said.set()
    await bot.house.handler.settled()

    assert bot.screen == ["Took 12 s", "Here it is."]


async def test_the_rest_of_a_long_answer_follows_the_progress_message_that_became_its_start(
    start_bot: StartBot,
) -> None:
    said = asyncio.Event()
    limits = Limits(max_text=20, edit_every=timedelta(0))
    bot = await start_bot(
        Waits(said, "one line of words\nanother line\nand the last"), channel=MemoryChannel(limits=limits)
    )
    await bot.channel.hears("something long")
    await shown(bot)
    said.set()
    await bot.house.handler.settled()

    assert bot.screen == ["one line of words", "another line", "and the last"]


async def test_in_a_group_the_answer_replies_to_the_question(start_bot: StartBot) -> None:  # D-14
    bot = await start_bot("Hi.")
    await bot.hears("hello", sender="bob", group="team")

    [(_, message)] = bot.channel.posts
    asked = bot.channel.heard[0]
    assert message.reply_to == getattr(asked, "message_id", None)


async def test_in_a_private_chat_the_answer_stands_by_itself(start_bot: StartBot) -> None:  # D-14
    bot = await start_bot("Hi.")
    await bot.hears("hello")

    assert bot.channel.posts[0][1].reply_to is None


@pytest.mark.parametrize("text", ["", "   \n", "\u200b\u200b"])
async def test_a_model_that_says_nothing_is_told_so(start_bot: StartBot, text: str) -> None:
    bot = await start_bot(text)
    await bot.hears("hello")

    assert bot.screen == ["The model gave no answer. Please try again or ask differently."]


async def test_words_before_a_tool_are_not_part_of_the_answer(start_bot: StartBot) -> None:
    bot = await start_bot(calls(("look", {}), text="One moment."), "Seen.", tools=(look,))
    await bot.hears("look")

    assert bot.screen == ["Seen."]


@pytest.mark.parametrize(
    ("language", "notice"), [("en", "[Reached the limit of 2 model calls]"), ("zh", "[达到最大模型调用次数 2]")]
)
async def test_a_run_that_reached_its_turns_says_so(start_bot: StartBot, language: str, notice: str) -> None:  # D-06
    limits = LoopLimits(max_turns=2, finalize_on_limit=True)
    bot = await start_bot(LOOKS, LOOKS, "So far: seen twice.", tools=(look,), limits=limits)
    await bot.hears("look for ever", language=language)

    assert bot.screen == [f"So far: seen twice.\n\n{notice}"]


@pytest.mark.parametrize(
    ("language", "notice"), [("en", "[Reached the limit of 1 tool calls]"), ("zh", "[达到最大工具调用次数 1]")]
)
async def test_a_run_that_reached_its_calls_says_so(start_bot: StartBot, language: str, notice: str) -> None:  # D-06
    limits = LoopLimits(max_tool_calls=1, finalize_on_limit=True)
    bot = await start_bot(LOOKS, "So far: seen.", tools=(look,), limits=limits)
    await bot.hears("look for ever", language=language)

    assert bot.screen == [f"So far: seen.\n\n{notice}"]


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("kind", [kind for kind in FailureKind if kind is not FailureKind.TRANSIENT])
async def test_a_failure_is_told_in_words_for_people_with_the_run_s_id(
    start_bot: StartBot, kind: FailureKind, language: str
) -> None:  # C-25
    bot = await start_bot(Failure(kind, "401 at https://api.example/v1?key=sk-secret"))
    await bot.hears("hello", language=language)

    [told] = bot.screen
    assert "sk-secret" not in told
    assert "api.example" not in told
    assert ("(run " in told) == (language == "en")
    assert ("（运行 " in told) == (language == "zh")


async def test_a_half_answer_of_a_model_that_failed_is_not_said(start_bot: StartBot) -> None:
    bot = await start_bot(Failure(FailureKind.AUTH, after_words="The secret is"))
    await bot.hears("hello")

    assert "The secret is" not in bot.screen[0]


async def test_after_a_failure_the_chat_goes_on(start_bot: StartBot) -> None:  # S0-20
    bot = await start_bot(Failure(FailureKind.QUOTA), "Hi.")
    await bot.hears("hello")
    await bot.hears("hello?")

    assert bot.screen[-1] == "Hi."


async def test_what_was_said_before_a_stop_stands(start_bot: StartBot) -> None:  # C-15
    never = asyncio.Event()
    first = asyncio.Event()
    bot = await start_bot(Waits(first, "Oslo."), Waits(never))
    await bot.channel.hears("a trip")
    await bot.channel.until(lambda: len(bot.llm.requests) == 1)
    await bot.channel.hears("no, wait")
    first.set()
    await bot.channel.until(lambda: len(bot.llm.requests) == 2)
    await bot.hears("/stop")

    assert bot.screen == ["Oslo.\n\nStopped."]
