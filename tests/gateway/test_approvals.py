"""Approvals of tool calls: who may answer, where, how often, and what else can end a question."""

import asyncio
import re
from datetime import timedelta
from pathlib import Path

import pytest

from agent_core.models.scripted import calls
from channels.base import ButtonPressed, Sender
from channels.limits import Limits
from channels.memory import NO_PACE, MemoryChannel, user
from tests.emulators.model_script import ToolUse, Turn, says
from tests.emulators.openai import OpenAiEmulator
from tests.end_to_end.forks import parley
from tests.gateway.approving import (
    CHART,
    asked,
    last_result,
    questions,
    recorder,
    states,
)
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot
from tests.process import Finished

TOUCH = Turn(tools=(ToolUse("run_command", {"argv": ["touch", "made"]}),))


@pytest.fixture
def start_bot(start_bot: StartBot) -> StartBot:
    """Start bots on a platform without rate limits, because these tests wait for many messages."""

    async def start(*turns: object, **how: object) -> Bot:
        return await start_bot(*turns, **{"channel": MemoryChannel(limits=NO_PACE), **how})

    return start


def everything_in(folder: Path) -> set[str]:
    return {path.name for path in folder.rglob("*")}


# A question and its answer


async def test_a_question_says_what_why_and_how_and_an_approval_lets_the_call_through(start_bot: StartBot) -> None:
    run, ran = recorder()
    bot = await start_bot(CHART, "Here is the chart.", tools=(run,))
    request = await asked(bot)

    said = questions(bot)[0].markdown
    assert "```\npython3 chart.py\n```" in said
    assert "It runs a program." in said
    assert f"Say yes or no within 10 minutes, or `/approve {request}` or `/deny {request}`." in said
    assert re.fullmatch("[0-9a-hjkmnp-tv-z]{6}", request)
    assert ran == []
    await bot.hears(f"/approve {request}")

    assert ran == [["python3", "chart.py"]]
    assert "✓ Approved by Ann: `python3 chart.py`" in bot.screen
    assert bot.screen[-1] == "Here is the chart."
    assert questions(bot) == []
    assert states(bot.home) == ["used"]


async def test_a_denial_is_told_to_the_model_and_the_question_becomes_one_line(start_bot: StartBot) -> None:
    run, ran = recorder()
    bot = await start_bot(CHART, "As you like.", tools=(run,))
    await asked(bot)

    await bot.channel.presses("Deny")
    await bot.app.settled()

    assert ran == []
    assert "the person refused this call" in last_result(bot)
    assert "✗ Denied by Ann: `python3 chart.py`" in bot.screen
    assert states(bot.home) == ["denied"]


async def test_the_progress_message_says_what_is_waited_for(start_bot: StartBot) -> None:  # S0-21
    run, _ = recorder()
    bot = await start_bot(CHART, "Here.", tools=(run,))
    request = await asked(bot)

    await bot.channel.until(lambda: any("… Waiting for approval: Running" in text for text in bot.screen))
    await bot.hears(f"/approve {request}")

    assert not any("Waiting" in text for text in bot.screen)


async def test_a_question_is_put_in_the_person_s_language(start_bot: StartBot) -> None:
    run, _ = recorder()
    bot = await start_bot(CHART, "好的。", tools=(run,))
    await bot.channel.hears("画图", sender=user("ann", "zh-hans"))
    await bot.channel.until(lambda: bool(questions(bot)))

    assert any("它会运行程序。" in text for text in bot.screen)
    await bot.channel.presses("拒绝")
    await bot.app.settled()

    assert "✗ Ann 已拒绝：`python3 chart.py`" in bot.screen


# Users and places that may answer


async def test_others_in_the_group_cannot_answer_and_its_person_can(start_bot: StartBot) -> None:  # D-11
    run, ran = recorder()
    bot = await start_bot(CHART, "Here.", tools=(run,))
    request = await asked(bot, sender="bob", group="team")

    for button in ("Allow once", "Deny"):
        await bot.channel.presses(button, sender="carl")
    await bot.channel.until(lambda: sum("Only the person who asked" in text for text in bot.screen) == 2)
    assert ran == []
    assert states(bot.home) == ["pending"]
    await bot.hears(f"/approve {request}", sender="bob", group="team")

    assert ran == [["python3", "chart.py"]]
    assert "✓ Approved by Bob: `python3 chart.py`" in bot.screen


async def test_an_owner_answers_for_anybody(start_bot: StartBot) -> None:  # D-11
    run, ran = recorder()
    bot = await start_bot(CHART, "Here.", tools=(run,))
    await asked(bot, sender="bob", group="team")

    await bot.channel.presses("Allow once", sender="ann")
    await bot.app.settled()

    assert ran == [["python3", "chart.py"]]


async def test_whoever_may_not_speak_is_not_heard(start_bot: StartBot) -> None:
    run, ran = recorder()
    bot = await start_bot(CHART, "Here.", tools=(run,))
    await asked(bot, sender="bob", group="team")

    await bot.channel.presses("Allow once", sender="mallory")

    assert states(bot.home) == ["pending"]
    await bot.channel.presses("Deny", sender="bob")
    await bot.app.settled()
    assert ran == []


async def test_elsewhere_the_question_is_not_known(start_bot: StartBot) -> None:
    run, ran = recorder()
    bot = await start_bot(CHART, "Here.", tools=(run,))
    request = await asked(bot, group="team", thread="7")

    for group, thread in ((None, None), ("team", None), ("team", "8")):
        await bot.channel.hears(f"/approve {request}", group=group, thread=thread)
    unknown = f"There is no question {request} here."
    await bot.channel.until(lambda: bot.screen.count(unknown) == 3)
    assert ran == []
    await bot.hears(f"/deny {request}", group="team", thread="7")

    assert states(bot.home) == ["denied"]


# Spellings of an answer


@pytest.mark.parametrize("typed", ["K0M1Q1", "k0m1q1", "kOmlqI", " `k0m1q1` please", "k0m-1q1."])
async def test_an_id_is_understood_however_it_is_typed(start_bot: StartBot, typed: str) -> None:
    run, ran = recorder()
    bot = await start_bot(CHART, "Here.", tools=(run,), new_request_id=lambda: "k0m1q1")
    await asked(bot)

    await bot.hears(f"/approve {typed}")

    assert len(ran) == 1


async def test_an_answer_without_an_id_is_nobody_s_who_was_not_asked(start_bot: StartBot) -> None:
    run, ran = recorder()
    bot = await start_bot(CHART, "Here.", tools=(run,))
    await bot.hears("/deny")
    assert bot.screen == ["No question here is waiting for your answer."]
    await asked(bot, sender="bob", group="team")

    await bot.channel.hears("/approve", sender="carl", group="team")
    await bot.channel.until(lambda: bot.screen.count("No question here is waiting for your answer.") == 2)

    assert ran == []
    await bot.hears("/deny", sender="bob", group="team")
    assert states(bot.home) == ["denied"]


async def test_status_tells_of_open_questions_and_only_then(start_bot: StartBot) -> None:
    run, _ = recorder()
    bot = await start_bot(CHART, "Here.", tools=(run,))
    await bot.hears("/status")
    assert "Questions" not in bot.screen[0]
    request = await asked(bot)

    await bot.channel.hears("/status")
    await bot.channel.until(lambda: any("**Questions:** 1 open" in text for text in bot.screen))
    await bot.hears(f"/deny {request}")


# Repeated, late and forged answers


async def test_a_second_answer_changes_nothing_and_is_told_so(start_bot: StartBot) -> None:
    run, ran = recorder()
    bot = await start_bot(CHART, "Here.", tools=(run,))
    request = await asked(bot)
    press = ButtonPressed(
        event_id="press-2",
        chat=bot.channel.chat(),
        sender=Sender(id="ann", name="Ann"),
        at=1.0,
        message_id="m",
        action=f"/approve {request}",
    )
    await bot.channel.presses("Allow once")
    await bot.channel.deliver(press)
    await bot.channel.deliver(press)
    await bot.hears(f"/deny {request}")

    assert len(ran) == 1
    assert bot.screen.count("That has been approved already.") == 2
    assert states(bot.home) == ["used"]


async def test_a_denied_call_cannot_be_approved_afterwards(start_bot: StartBot) -> None:
    run, ran = recorder()
    bot = await start_bot(CHART, "Well.", tools=(run,))
    request = await asked(bot)
    await bot.hears(f"/deny {request}")

    await bot.hears(f"/approve {request}")
    await bot.hears("/approve zzzzzz")

    assert bot.screen[-2:] == ["That has been denied already.", "There is no question zzzzzz here."]
    assert ran == []


# Other ends of a question


async def test_other_words_take_the_question_back(start_bot: StartBot) -> None:
    run, ran = recorder()
    bot = await start_bot(CHART, "Never mind then.", tools=(run,))
    request = await asked(bot)

    await bot.hears("forget it")
    await bot.hears(f"/approve {request}")

    assert ran == []
    assert "✗ No longer needed: `python3 chart.py`" in bot.screen
    assert bot.screen[-1] == "That is no longer needed."
    assert states(bot.home) == ["withdrawn"]


@pytest.mark.parametrize("command", ["/stop", "/new"])
async def test_a_stop_takes_the_question_back(start_bot: StartBot, command: str) -> None:
    run, ran = recorder()
    bot = await start_bot(CHART, tools=(run,))
    await asked(bot)

    await bot.hears(command)

    assert ran == []
    assert "✗ No longer needed: `python3 chart.py`" in bot.screen
    assert "Stopped." in bot.screen
    assert states(bot.home) == ["withdrawn"]


async def test_what_cannot_be_shown_whole_is_not_asked_for(start_bot: StartBot) -> None:
    run, ran = recorder()
    long = calls(("run", {"command": ["sh", "-c", "true;" * 1_000]}))
    bot = await start_bot(long, "Too long.", tools=(run,), channel=MemoryChannel(limits=Limits(max_text=4_000)))

    await bot.hears("do it")

    assert ran == []
    assert "too long to be shown whole" in last_result(bot)
    assert bot.screen == ["Too long."]
    assert states(bot.home) == []


async def test_where_nobody_can_answer_any_more_nothing_waits(start_bot: StartBot) -> None:
    run, ran = recorder()
    bot = await start_bot(CHART, "Not then.", CHART, "Nor now.", tools=(run,))
    await asked(bot)

    bot.app.input_ended("memory")
    await bot.app.settled()
    assert "nobody approved this call in time" in last_result(bot)
    assert "✗ Not answered in time: `python3 chart.py`" in bot.screen
    await bot.hears("and now?")

    assert ran == []
    assert "nobody is there to give it" in last_result(bot)
    assert bot.screen[-1] == "Nor now."


async def piped(home: Path, model: OpenAiEmulator, **settings: str) -> Finished:
    """Run `./run chat` with "make it" from a pipe, where no user can answer."""
    environ = {"HOME": str(home), "OPENAI_BASE_URL": model.base_url, "OPENAI_API_KEY": "sk-test-4f1d9b7c2a6e"}
    async with asyncio.timeout(50):
        talked = await parley("chat", cwd=home, environ={**environ, **settings}, says="make it\n")
    if "run_command" not in model.requests[0].tools:
        pytest.skip("no sandbox here")
    return talked


async def test_at_the_end_of_piped_input_nobody_is_waited_for(tmp_path: Path) -> None:
    async with OpenAiEmulator([TOUCH, says("Nobody was there.")]) as model:
        talked = await piped(tmp_path, model, PARLEY_PERMISSIONS_OWNER="exec=ask")

    assert (talked.code, talked.err) == (0, "")
    assert talked.out.endswith("\nNobody was there.\n")
    assert "May I" not in talked.out
    assert "nobody is there to give it" in str(model.requests[1].messages[-1]["content"])
    assert "made" not in everything_in(tmp_path)


async def test_an_owner_is_not_asked_for_a_command_that_is_shut_in(tmp_path: Path) -> None:
    async with OpenAiEmulator([TOUCH, says("Made.")]) as model:
        talked = await piped(tmp_path, model)

    assert (talked.code, talked.err) == (0, "")
    assert talked.out.endswith("\nMade.\n")
    assert "made" in everything_in(tmp_path)


async def test_an_owner_is_asked_for_a_command_that_has_the_network(tmp_path: Path) -> None:
    async with OpenAiEmulator([TOUCH, says("Not made.")]) as model:
        await piped(tmp_path, model, PARLEY_COMMANDS_NETWORK="on")

    assert "nobody is there to give it" in str(model.requests[1].messages[-1]["content"])
    assert "made" not in everything_in(tmp_path)


async def test_nobody_seems_to_type_while_people_are_asked(start_bot: StartBot) -> None:
    run, _ = recorder()
    often = NO_PACE.model_copy(update={"typing_every": timedelta(milliseconds=1)})
    bot = await start_bot(CHART, "Here.", tools=(run,), channel=MemoryChannel(limits=often))
    request = await asked(bot)
    await bot.channel.until(lambda: any("Waiting for approval" in text for text in bot.screen))
    typed = len([call for call in bot.channel.calls if call.kind == "typing"])

    await bot.channel.hears("/status")
    await bot.channel.until(lambda: any("**Questions:** 1 open" in text for text in bot.screen))

    assert len([call for call in bot.channel.calls if call.kind == "typing"]) == typed
    await bot.hears(f"/deny {request}")
