"""The final answer of a run, and the messages in which it appears."""

import asyncio
from datetime import timedelta

import pytest

from agent_core.events import AgentEnd
from agent_core.loop.limits import LoopLimits
from agent_core.models.llm import FailureCause, FailureKind
from agent_core.models.scripted import Failure, Waits, calls
from agent_core.reasons import TerminalReason
from agent_core.tools.tool import tool
from channels.base import Addressed
from channels.limits import Limits
from channels.memory import MemoryChannel, user
from gateway.delivery.delivery import FOLD_WITHIN
from gateway.delivery.progress_message import YOUNG
from gateway.runs.model_failures import Reader, trouble_text
from gateway.security.secrets import Secrets
from tests.clock import HandClock
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot
from tests.gateway.taking_in import taken_in
from tests.gateway.tasking import rows
from tests.process import until


@tool()
async def look() -> str:
    """Look."""
    return "seen"


LOOKS = calls(("look", {}))


async def shown(bot: Bot) -> None:
    await bot.channel.until(lambda: len(bot.screen) == 1)


async def grown_old(bot: Bot, clock: HandClock) -> None:
    """Advance the clock until the progress message is too old to become the answer."""
    while not bot.screen:
        await clock.advance(1)
    await clock.advance(YOUNG)


async def test_a_quick_answer_is_one_new_message(start_bot: StartBot) -> None:
    bot = await start_bot("Hi.", clock=HandClock())
    await bot.hears("hello")

    assert [call.kind for call in bot.channel.calls if call.kind != "typing"] == ["send"]


async def test_a_young_progress_message_becomes_the_answer(start_bot: StartBot) -> None:
    said = asyncio.Event()
    bot = await start_bot(Waits(said, "Here it is."))
    await bot.channel.hears("something long")
    await shown(bot)
    said.set()
    await bot.app.settled()

    assert bot.screen == ["Here it is."]
    assert bot.channel.posts[0][1].buttons == ()


@pytest.mark.parametrize("is_too_old", [False, True], ids=["old", "too old to be deleted"])
async def test_an_old_progress_message_goes_and_the_answer_is_a_new_one(
    start_bot: StartBot, monkeypatch: pytest.MonkeyPatch, *, is_too_old: bool
) -> None:
    if is_too_old:
        monkeypatch.setattr("gateway.delivery.progress_message.DELETABLE", 0.0)
    said = asyncio.Event()
    clock = HandClock()
    bot = await start_bot(Waits(said, "Here it is."), clock=clock)
    await bot.channel.hears("something long")
    await bot.channel.until(lambda: len(bot.llm.requests) == 1)
    await grown_old(bot, clock)
    took = clock.now - HandClock().now
    said.set()
    await bot.channel.until(lambda: "Here it is." in bot.screen)
    goes_by = asyncio.create_task(clock.advance(FOLD_WITHIN / 2))  # the chat's rate limit may delay one more edit
    await bot.app.settled()
    goes_by.cancel()

    assert bot.screen == [*([f"Took {took:.0f} s"] if is_too_old else []), "Here it is."]


async def test_in_a_crowd_an_old_progress_message_is_taken_away_and_does_not_wait_to_be_folded(
    start_bot: StartBot,
) -> None:
    crowd = 20
    said = asyncio.Event()
    clock = HandClock()
    channel = MemoryChannel(limits=Limits(max_text=4_000, calls_per_second=2))
    bot = await start_bot(Waits(said, "Here it is."), *["Hi."] * crowd, clock=clock, channel=channel)
    await channel.hears("something long", sender="bob")
    await channel.until(lambda: len(bot.llm.requests) == 1)
    await grown_old(bot, clock)
    for number in range(crowd):
        await channel.hears("hello", group=f"team {number}")
    await channel.until(lambda: len(bot.llm.requests) == 1 + crowd)
    said.set()
    await until(lambda: len(rows(bot.home, "SELECT key FROM outbox WHERE key LIKE '%:answer:0'")) == 1 + crowd)
    async with clock.going_on():
        await bot.app.settled()

    assert sorted(bot.screen) == sorted(["Here it is.", *["Hi."] * crowd])
    assert len(channel.posts) == 1 + crowd


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
    await bot.app.settled()

    assert bot.screen == ["one line of words", "another line", "and the last"]


async def test_in_a_group_the_answer_replies_to_the_question(wired_bot: StartBot) -> None:  # D-14
    bot = await wired_bot("Hi.")
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


async def test_words_before_a_tool_are_not_part_of_the_answer(wired_bot: StartBot) -> None:
    bot = await wired_bot(calls(("look", {}), text="One moment."), "Seen.", tools=(look,))
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
    assert ("(run " in told) == (language == "en")
    assert ("（运行 " in told) == (language == "zh")


async def test_a_half_answer_of_a_model_that_failed_is_not_said(wired_bot: StartBot) -> None:
    bot = await wired_bot(Failure(FailureKind.AUTH, after_words="The secret is"))
    await bot.hears("hello")

    assert "The secret is" not in bot.screen[0]


async def test_after_a_failure_the_chat_goes_on(wired_bot: StartBot) -> None:  # S0-20
    bot = await wired_bot(Failure(FailureKind.QUOTA), "Hi.")
    await bot.hears("hello")
    await bot.hears("hello?")

    assert bot.screen[-1] == "Hi."


@pytest.mark.parametrize(("language", "mark"), [("en", "(stopped)"), ("zh", "（已停止）")])
async def test_a_stop_keeps_the_words_that_were_streamed(wired_bot: StartBot, language: str, mark: str) -> None:  # D-29
    bot = await wired_bot(Waits(asyncio.Event(), words="Try this:\n```python\nprint(1)"))
    await bot.channel.hears("a program", sender=user("ann", language))
    await bot.channel.until(lambda: bool(bot.screen) and "print" in bot.screen[0])
    await bot.channel.presses("Stop" if language == "en" else "停止")
    await bot.app.settled()

    assert bot.screen == [f"Try this:\n```python\nprint(1)\n```\n\n{mark}"]


async def test_young_progress_above_the_talk_of_others_is_taken_away(start_bot: StartBot) -> None:
    said = asyncio.Event()
    bot = await start_bot(Waits(said, "Here it is."))
    await bot.channel.hears("something long", sender="bob", group="team")
    await shown(bot)
    await bot.channel.hears("lunch?", sender="eve", group="team", addressed=Addressed.AMBIENT)
    said.set()
    await bot.app.settled()

    await bot.channel.until(lambda: bot.screen == ["Here it is."])
    assert [call.kind for call in bot.channel.calls].count("send") == 2


async def test_what_was_said_before_a_stop_stands(wired_bot: StartBot) -> None:  # C-15
    never = asyncio.Event()
    first = asyncio.Event()
    bot = await wired_bot(Waits(first, "Oslo."), Waits(never))
    await bot.channel.hears("a trip")
    await bot.channel.until(lambda: len(bot.llm.requests) == 1)
    await bot.channel.hears("no, wait")
    await taken_in(bot)
    first.set()
    await bot.channel.until(lambda: len(bot.llm.requests) == 2)
    await bot.hears("/stop")

    assert bot.screen == ["Oslo.\n\nStopped."]


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(
    ("failure", "names"),
    [
        (
            Failure(FailureKind.AUTH, "Incorrect API key provided: sk-secret0123"),
            ["Incorrect API key", "OPENAI_API_KEY"],
        ),
        (Failure(FailureKind.QUOTA, "insufficient_quota"), ["insufficient\\_quota", "OPENAI_API_KEY"]),
        (
            Failure(FailureKind.INVALID, "no such model", cause=FailureCause.NOT_FOUND),
            ["no such model", "PARLEY_MODEL"],
        ),
        (Failure(FailureKind.INVALID, "flagged", cause=FailureCause.CONTENT), ["flagged", "PARLEY_MODEL"]),
        (Failure(FailureKind.INVALID, "territory", cause=FailureCause.REGION), ["territory", "PARLEY_MODEL"]),
    ],
)
async def test_an_owner_reads_what_the_provider_answered_and_what_to_do(
    start_bot: StartBot, failure: Failure, names: list[str], language: str
) -> None:
    bot = await start_bot(failure)
    await bot.hears("hello", sender="ann", language=language)

    [told] = bot.screen
    assert all(name in told for name in names), told
    assert "secret0123" not in told
    assert "owner" not in told


@pytest.mark.parametrize("kind", sorted(set(FailureKind) - {FailureKind.TRANSIENT}))
@pytest.mark.parametrize("cause", [None, *FailureCause])
def test_others_read_one_sentence_and_nothing_of_the_cause(kind: FailureKind, cause: FailureCause | None) -> None:
    end = AgentEnd(reason=TerminalReason.ERROR, messages=(), error="HTTP 400 at host", failure=kind, cause=cause)

    told = trouble_text(end, "run-1234", "gpt", Reader("en", "/", is_owner=False), Secrets())

    assert "host" not in told
    assert "KEY" not in told
    assert told.endswith("(run run-1234)")
    assert ("rephrase" in told) == (cause is FailureCause.CONTENT and kind is FailureKind.INVALID)


def test_a_long_wait_is_told_and_a_network_failure_reads_differently_from_trouble_of_the_provider() -> None:
    def told(cause: FailureCause, wait: float | None = None) -> str:
        end = AgentEnd(
            reason=TerminalReason.ERROR,
            messages=(),
            error="it failed",
            failure=FailureKind.TRANSIENT,
            cause=cause,
            retry_after_s=wait,
        )
        return trouble_text(end, "run-1", "gpt", Reader("en", "/", is_owner=False), Secrets())

    assert "try again in 60 minutes" in told(FailureCause.RATE_LIMIT, 3600)
    assert "try again in 3 hours" in told(FailureCause.RATE_LIMIT, 3 * 3600)
    assert "try again in a while" in told(FailureCause.RATE_LIMIT)
    assert "cannot be reached" in told(FailureCause.NETWORK)
    assert "provider is having problems" in told(FailureCause.SERVER)
    assert "too little memory" in told(FailureCause.MEMORY)
