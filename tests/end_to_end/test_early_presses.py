"""Presses and answers to a message whose send is not acknowledged yet, on every emulated platform."""

import asyncio
import time

import pytest

from parley.testing.emulators.control import Effect, Fault
from tests.emulators.model_script import ToolUse, Turn, says, unauthorized
from tests.end_to_end.jobs import PROPOSED, proposes, waits_for_a_yes
from tests.end_to_end.platforms.catalogue import where
from tests.end_to_end.platforms.platform import Chat, Person
from tests.end_to_end.stage import Stage, ends_with, newest, shows
from tests.process import until

pytestmark = [where(lambda facts: facts.emulated), pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(120)]

RUNS = Turn(tools=(ToolUse("run_command", {"argv": ["sh", "-c", "echo run >> made; wc -l < made; rm made"]}),))
ASKED = "May I do this?"


def answered_late(stage: Stage, words: str) -> asyncio.Event:
    """Delay the answer to every call with these words until the returned event is set."""
    answered = asyncio.Event()
    late = Effect(answer_late=answered)
    stage.net.faults.add(Fault("*", late, None, lambda call: words in str(call.params)))
    return answered


def buttons(chat: Chat) -> list[str]:
    return [button.text for message in chat.bot_messages for row in message.buttons for button in row]


async def presses_early(stage: Stage, chat: Chat, person: Person, asking: str, button: str) -> None:
    """Ask, and press the button under the answer before the platform has acknowledged that answer."""
    await chat.says(person, asking)
    await chat.until(lambda c: newest(c).button(button) is not None)
    await chat.presses(person, button)
    await stage.heard()


async def is_asked(stage: Stage, chat: Chat) -> None:
    """Wait for the question, or skip the test where this machine has no sandbox."""
    await stage.asked(1)
    if "run_command" not in stage.model.requests[0].tools:
        pytest.skip("no sandbox here")
    await chat.until(lambda c: any(ASKED in text for text in c.screen))


async def test_what_failed_is_tried_again(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    stage.script.then(unauthorized(), says("Oslo."))
    answered = answered_late(stage, "Try again")

    await presses_early(stage, chat, ann, "the capital of Norway?", "Try again")
    answered.set()

    await chat.until(ends_with("Oslo."))
    await chat.until(lambda c: not buttons(c))


@pytest.mark.parametrize("answer", ["Allow once", "yes"])
async def test_what_is_allowed_is_run(stage: Stage, answer: str) -> None:
    ann, chat = stage.private("Ann")
    stage.script.then(RUNS, says("It ran."))
    answered = answered_late(stage, ASKED)

    await chat.says(ann, "run it")
    await is_asked(stage, chat)
    if answer == "yes":
        asked = time.time()
        await until(lambda: int(time.time()) > asked)  # Telegram's dates have whole seconds
        await chat.says(ann, answer)
    else:
        await chat.presses(ann, answer)
    await stage.heard()
    answered.set()

    await chat.until(lambda c: c.screen[-1].endswith("It ran."))
    await chat.until(lambda c: any("✓ Approved by" in text for text in c.screen))
    await chat.until(lambda c: not buttons(c))


async def test_what_is_stopped_while_it_is_asked_is_not_run(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    stage.script.then(RUNS)
    answered = answered_late(stage, ASKED)

    await chat.says(ann, "run it")
    await is_asked(stage, chat)
    await chat.says(ann, "/stop")
    await stage.heard()
    answered.set()

    await chat.until(lambda c: any("Stopped" in text for text in c.screen))
    await chat.until(lambda c: not buttons(c))
    assert len(stage.model.requests) == 1


async def test_a_proposal_is_set(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    stage.script.then(proposes(), says(PROPOSED))
    answered = answered_late(stage, "Shall I set this up?")

    await chat.says(ann, "send me the sales every weekday at nine")
    await chat.until(lambda c: waits_for_a_yes(c) is not None)
    await chat.presses(ann, "Confirm")
    await stage.heard()
    answered.set()

    await chat.until(lambda c: any("✓ Set" in text for text in c.screen))
    await chat.until(lambda c: waits_for_a_yes(c) is None)
    await until(lambda: not stage.script.answers)
    assert not any(PROPOSED in text for text in chat.screen)


async def test_what_is_said_under_an_answer_is_answered_below_it(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    stage.script.then(says("It is sunny."), says("Yes."))
    answered = answered_late(stage, "It is sunny.")

    await chat.says(ann, "how is it?")
    await chat.until(shows("It is sunny."))
    await chat.says(ann, "really?")
    await stage.heard()
    answered.set()

    await chat.until(shows("It is sunny.", "Yes."))
    assert stage.said == ["how is it?", "really?"]


@where(lambda facts: facts.people_edit)
async def test_what_waits_under_an_answer_may_still_be_edited(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    stage.script.then(says("It is sunny."), says("Rainy."))
    answered = answered_late(stage, "It is sunny.")

    await chat.says(ann, "how is it?")
    await chat.until(shows("It is sunny."))
    waiting = await chat.says(ann, "and tomorow?")
    await stage.heard()
    await chat.edits(waiting, "and tomorrow?")
    await stage.heard()
    answered.set()

    await chat.until(shows("It is sunny.", "Rainy."))
    assert stage.said == ["how is it?", "and tomorrow?"]


async def test_a_stop_under_an_answer_finds_nothing_to_stop(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    stage.script.then(says("It is sunny."))
    answered = answered_late(stage, "It is sunny.")

    await chat.says(ann, "how is it?")
    await chat.until(shows("It is sunny."))
    await chat.says(ann, "/stop")
    await stage.heard()
    answered.set()

    await chat.until(shows("It is sunny.", "Nothing is running here."))


async def test_progress_under_which_somebody_writes_does_not_become_the_answer(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    planning = asyncio.Event()
    stage.script.then(says("Oslo it is.", hold=planning), says("Bergen then."))
    answered = answered_late(stage, "Stop")

    await chat.says(ann, "plan a trip to Oslo")
    await chat.until(lambda c: newest(c).button("Stop") is not None)
    later = await chat.says(ann, "no, to Bergen")
    await stage.heard()
    answered.set()
    planning.set()

    await chat.until(ends_with("Oslo it is.\n\nBergen then."))
    assert newest(chat).at > later.at


async def test_a_language_is_chosen(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    answered = answered_late(stage, "中文")

    await chat.says(ann, "/language")
    await chat.until(lambda c: newest(c).button("中文") is not None)
    await chat.presses(ann, "中文")
    await stage.heard()
    answered.set()

    await chat.until(lambda c: "我会在这里使用中文。" in c.screen[-1] and not buttons(c))
