"""The card of a tool is the answer: closing words that only repeat it are kept, and not posted."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest

from agent_core.messages import AssistantMessage, ToolResultMessage
from agent_core.models.llm import FailureKind, LlmRequest
from agent_core.models.scripted import Call, Calls, Failure, Turn, calls
from agent_core.tools.tool import tool
from channels.memory import NO_PACE, MemoryChannel
from gateway.store.job import JobState
from tests.gateway.jobs.asking import typed_ids
from tests.gateway.jobs.conftest import StartTimedBot
from tests.gateway.jobs.kit import ANN, TimedBot, make_timed_bot, stopped_clock
from tests.gateway.jobs.test_any_step import FEW, copy, killed
from tests.gateway.jobs.test_schedule_tool import uses

ASKED = "every monday at nine remind me to stretch"
STRETCH = {"kind": "reminder", "what": "stretch", "when": "0 9 * * 1"}
PREVIEW = "**Shall I set this up?** (Reminder)\n\n> stretch"
PREVIEW_IN_CHINESE = "**要这样设置吗？**（提醒）\n\n> stretch"
SAYS_IT = "The preview is there: confirm it, and I will remind you each Monday at 9:00."


@tool()
async def look() -> str:
    """Look."""
    return "seen"


async def spoken(bot: TimedBot) -> list[str]:
    """Return what the model has said in words, as the transcript of ann's chat keeps it."""
    session = (await bot.store.chats.get(ANN)).session
    kept = await bot.store.transcript.history(session)
    return [each.text for each in kept if isinstance(each, AssistantMessage) and each.text]


@pytest.mark.parametrize(
    ("asked", "closing"),
    [
        (f"{ASKED}, please", "Done! I have put the preview below; press Confirm to set the reminder."),
        (f"Could you {ASKED}?", "Sure. The preview of your reminder is ready: tap Confirm and it will be set."),
        ("每周一九点提醒我伸展一下，好吗？", "预览已经在聊天里了，请点击确认。"),
        ("每周一和周四九点提醒我伸展", "好的，提醒的预览已放在上面，确认后生效。"),
    ],
)
async def test_words_about_the_card_are_not_posted_though_the_request_might_be_for_more(
    start_bot: StartTimedBot, asked: str, closing: str
) -> None:
    bot = await start_bot(uses("schedule", **STRETCH), closing)
    await bot.hears(asked)

    assert len(bot.screen) == 1


@pytest.mark.parametrize(
    "asked", [ASKED, f"Hi! Can you {ASKED}? Thanks!", "每周一九点提醒我伸展一下", "每周一九点提醒我伸展一下，谢谢！"]
)
async def test_the_card_is_the_answer_and_the_words_beside_it_are_kept(wired_bot: StartTimedBot, asked: str) -> None:
    bot = await wired_bot(uses("schedule", **STRETCH), SAYS_IT)
    await bot.hears(asked)

    assert [text.startswith((PREVIEW, PREVIEW_IN_CHINESE)) for text in bot.screen] == [True]
    assert await spoken(bot) == [SAYS_IT]


async def test_what_is_set_at_once_is_told_by_its_card_alone(wired_bot: StartTimedBot) -> None:
    bot = await wired_bot(uses("schedule", kind="reminder", what="pizza", when="in 20 minutes"), "I will.")
    await bot.hears("remind me in 20 minutes of the pizza, please: pizza")

    assert len(bot.screen) == 1
    assert await spoken(bot) == ["I will."]


async def test_two_cards_are_two_messages_and_no_third(start_bot: StartTimedBot) -> None:
    both = Calls((Call("schedule", {**STRETCH}), Call("schedule", {**STRETCH, "when": "0 9 * * 4"})))
    bot = await start_bot(both, "Both previews are there.")
    await bot.hears("every monday and thursday at nine remind me to stretch")

    assert [text.startswith(PREVIEW) for text in bot.screen] == [True, True]


@pytest.mark.parametrize(
    ("asked", "turns"),
    [
        (f"{ASKED}. What is 17 * 23?", [uses("schedule", **STRETCH), "It is much."]),
        (f"{ASKED} and tell me the capital of France", [uses("schedule", **STRETCH), "Paris."]),
        ("每周一九点提醒我伸展，顺便告诉我法国的首都", [uses("schedule", **STRETCH), "巴黎。"]),
        (f"{ASKED} and what is 2+2?", [uses("schedule", **STRETCH), "4"]),
        (f"{ASKED}, and 4+5?", [uses("schedule", **STRETCH), "9."]),
        (f"{ASKED}, and the capital of France?", [uses("schedule", **STRETCH), "Paris."]),
        (f"{ASKED} and convert 9 feet", [uses("schedule", **STRETCH), "It is nine feet."]),
        (f"{ASKED}; is today a monday?", [uses("schedule", **STRETCH), "Yes, today is."]),
        (f"{ASKED}, thanks, and is it cold?", [uses("schedule", **STRETCH), "The preview is there. Yes, it is."]),
        (f"{ASKED} and pick a colour", [uses("schedule", **STRETCH), "The preview is there, and green."]),
        ("每周一九点提醒我伸展，法国的首都是哪里？", [uses("schedule", **STRETCH), "巴黎。"]),
        ("每周一九点提醒我伸展，2+7等于几", [uses("schedule", **STRETCH), "等于9。"]),
        (ASKED, [uses("schedule", **STRETCH), "It is there. By the way, 391 days are left."]),
        (ASKED, [uses("schedule", **STRETCH), "It is there. On public holidays, too?"]),
        (ASKED, [uses("schedule", **STRETCH), "It is there; see https://stretch.example"]),
        (ASKED, [uses("schedule", **STRETCH), "It is there.\n\nStretching is healthy."]),
        (ASKED, [uses("schedule", **STRETCH), "It is there, and this is why it is good for you. " * 6]),
        (ASKED, [calls(("look", {})), uses("schedule", **STRETCH), "I looked, and saw it."]),
        (ASKED, [uses("schedule", **{**STRETCH, "when": "soon"}), "At what time, please."]),
        (ASKED, [Calls((Call("schedule", {**STRETCH}), Call("schedule", {**STRETCH, "when": "soon"}))), "One failed."]),
    ],
)
async def test_words_that_say_more_are_shown_below_the_card(
    start_bot: StartTimedBot, asked: str, turns: list[Turn]
) -> None:
    bot = await start_bot(*turns, tools=[look])
    await bot.hears(asked)

    assert isinstance(turns[-1], str)
    assert bot.screen[-1] == turns[-1].strip()


async def test_a_run_that_fails_after_its_card_says_so(start_bot: StartTimedBot) -> None:
    bot = await start_bot(uses("schedule", **STRETCH), Failure(FailureKind.AUTH))
    await bot.hears(ASKED)

    card, trouble = bot.screen
    assert card.startswith(PREVIEW)
    assert "refused the key" in trouble


async def test_after_the_card_the_next_message_is_answered_as_ever(wired_bot: StartTimedBot) -> None:
    bot = await wired_bot(uses("schedule", **STRETCH), SAYS_IT, "Hello.", new_request_id=typed_ids())
    await bot.hears(ASKED)
    bot.calendar.advance(1)
    await bot.hears("yes")
    await bot.hears("hello")

    [job] = await bot.store.jobs.in_chat(ANN)
    assert job.state is JobState.ACTIVE
    assert bot.screen[-1] == "Hello."
    assert len(bot.screen) == 3


def _proposes(request: LlmRequest) -> Turn:
    done = any(isinstance(message, ToolResultMessage) for message in request.messages)
    return SAYS_IT if done else uses("schedule", **STRETCH)


@asynccontextmanager
async def life(home: Path, channel: MemoryChannel) -> AsyncIterator[TimedBot]:
    # no time passes, so that no progress is posted, which a kill at that moment leaves behind
    bot = make_timed_bot(home, [_proposes] * 9, channel=channel, clock=stopped_clock())
    await bot.start()
    try:
        yield bot
    finally:
        await bot.stop()


async def asks(bot: TimedBot) -> None:
    await bot.hears(ASKED)
    await bot.app.settled()


async def test_killed_at_any_step_there_is_one_card_and_no_other_message(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    step, came, every = 0, True, 1 if request.config.getoption("all_platforms") else FEW
    while came:
        channel = MemoryChannel(limits=NO_PACE)
        async with AsyncExitStack() as lives:
            first = await lives.enter_async_context(life(tmp_path / f"{step}", channel))
            came = await killed(asks(first), step)
            home = tmp_path / f"{step}-next"
            await asyncio.to_thread(copy, first.home, home)
            bot = await lives.enter_async_context(life(home, channel))
            await bot.app.settled()
            if not bot.screen:  # it was killed before it had heard anything
                assert step == 0
                await bot.hears(ASKED)

            assert [text.startswith(PREVIEW) for text in bot.screen] == [True], step
            assert len(await bot.store.jobs.in_chat(ANN)) == 1
            assert await bot.store.runs.open_ids() == set()
        step += every
    assert step > 2 * FEW
