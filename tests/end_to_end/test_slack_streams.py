"""Answers that are streamed on Slack, from the first words to the end, also where Parley dies on the way."""

import asyncio
from collections.abc import Mapping

import pytest

from parley.testing.emulators.control import Effect, Fault
from parley.testing.emulators.slack import SlackEmulator
from parley.testing.emulators.slack_chat import Chat
from parley.testing.emulators.slack_state import Person
from tests.emulators.model_script import Pause, ToolUse, Turn, calls, says, unauthorized
from tests.end_to_end.platforms.catalogue import only
from tests.end_to_end.stage import Stage, shows

pytestmark = [only("slack"), pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(120)]

WORDS = "It is a long story, which is told from its beginning to its end."


async def pane_of(stage: Stage, slack: SlackEmulator) -> tuple[Person, Chat]:
    """Return Ann, and her chat with Parley in the assistant's pane."""
    stage.net.lift_limits()  # each start of Parley reads the history, which Slack limits
    ann, _ = stage.private("Ann")
    person = slack._world.people[str(ann.id)]  # noqa: SLF001 (of the emulated Slack)
    return person, await slack.private(person).opens_assistant(person)


def number_of(slack: SlackEmulator, method: str) -> int:
    return len(slack.calls_of(method))


def is_whole(chat: Chat) -> bool:
    """Return True if nothing is streamed or edited any more, and no stream broke."""
    grows = chat.streaming or any(message.button("Stop") for message in chat.bot_messages)
    return not grows and not chat.broken


async def test_words_are_streamed_while_the_model_writes(stage: Stage, slack: SlackEmulator) -> None:
    ann, chat = await pane_of(stage, slack)
    going_on = asyncio.Event()
    stage.script.then(Turn(WORDS, pause=Pause(3, going_on)))
    await chat.says(ann, "tell me a story")
    await chat.until(lambda c: c.screen == [WORDS[:36]])
    assert chat.streaming

    going_on.set()
    await chat.until(lambda c: c.screen == [WORDS] and is_whole(c))
    assert (number_of(slack, "chat.postMessage"), number_of(slack, "chat.update")) == (0, 0)
    assert chat.bot_messages[0].metadata is not None


async def test_tools_are_tasks_of_a_plan_above_the_one_message_that_is_left(stage: Stage, slack: SlackEmulator) -> None:
    ann, chat = await pane_of(stage, slack)
    stage.script.then(
        calls(ToolUse("wait", {"seconds": 3})),
        calls(ToolUse("calculator", {"expression": "17*23"})),
        says("**391**."),
    )
    await chat.says(ann, "wait a moment, then tell me 17*23")
    await chat.until(lambda c: "… Waiting 3 s" in c.screen[0])
    await chat.until(lambda c: c.screen == ["391."] and is_whole(c))
    plan = chat.bot_messages[0].plan
    assert plan is not None
    assert plan.title == "Used 2 tools"
    assert [each.status for each in plan.tasks] == ["complete", "complete"]
    assert number_of(slack, "chat.postMessage") == 0


KILLED_AT: Mapping[str, tuple[str, Effect]] = {
    "begin": ("chat.startStream", Effect(hold=asyncio.Event())),
    "begun": ("chat.startStream", Effect(answer_late=asyncio.Event())),
    "append": ("chat.appendStream", Effect(hold=asyncio.Event())),
    "appended": ("chat.appendStream", Effect(answer_late=asyncio.Event())),
    "end": ("chat.stopStream", Effect(hold=asyncio.Event())),
    "ended": ("chat.stopStream", Effect(answer_late=asyncio.Event())),
}


@pytest.mark.parametrize("moment", KILLED_AT)
async def test_killed_at_any_step_one_whole_answer_is_left(stage: Stage, slack: SlackEmulator, moment: str) -> None:
    ann, chat = await pane_of(stage, slack)
    method, effect = KILLED_AT[moment]
    is_long = method == "chat.appendStream"  # so that there is an append, however busy the machine is
    stage.script.respond = lambda _: Turn(WORDS * (20 if is_long else 1), per_chunk=0.3)
    slack.faults.add(Fault(method, effect, 1))
    await chat.says(ann, "tell me a story")
    await slack.wait_for(lambda: slack.faults.pending == 0)
    await stage.program.kill()
    slack.faults.clear()
    stage.script.respond = lambda _: says(WORDS)
    await stage.start()

    await chat.until(lambda c: c.screen == [WORDS] and is_whole(c))
    await chat.says(ann, "again")
    await chat.until(lambda c: c.screen == [WORDS, WORDS] and is_whole(c))
    await stage.heard()
    assert chat.screen == [WORDS, WORDS]


async def test_slacks_own_stop_stops_the_run(stage: Stage, slack: SlackEmulator) -> None:
    ann, chat = await pane_of(stage, slack)
    stage.script.then(Turn(WORDS, pause=Pause(3, asyncio.Event())), says("Hello again."))
    await chat.says(ann, "tell me a story")
    await chat.until(lambda c: bool(c.streaming))
    await chat.stops(ann)
    await chat.until(lambda c: any("topped" in text for text in c.screen))
    await chat.says(ann, "hello")
    await chat.until(lambda c: "Hello again." in c.screen and is_whole(c))


async def test_a_workspace_without_streams_has_edits_as_ever(stage: Stage, slack: SlackEmulator) -> None:
    ann, chat = await pane_of(stage, slack)
    slack.refuse_streams("feature_not_enabled")
    going_on = asyncio.Event()
    try:
        stage.script.then(Turn(WORDS, pause=Pause(3, going_on)))
        await chat.says(ann, "tell me a story")
        await chat.until(lambda c: bool(c.screen) and WORDS[:35] in c.screen[0])
        assert chat.bot_messages[0].button("Stop") is not None
        going_on.set()
        await chat.until(shows(WORDS))
    finally:
        slack.refuse_streams("")


async def test_words_before_tools_are_gone_once_the_answer_is_there(stage: Stage, slack: SlackEmulator) -> None:
    ann, chat = await pane_of(stage, slack)
    going_on = asyncio.Event()
    before = calls(ToolUse("wait", {"seconds": 0.6}), text="I will wait.")
    stage.script.then(before, Turn(WORDS, pause=Pause(3, going_on)))
    await chat.says(ann, "wait, then tell me a story")
    await chat.until(lambda c: "I will wait." in c.screen[0] and "It is a long" in c.screen[0])
    going_on.set()
    await chat.until(lambda c: c.screen == [WORDS] and is_whole(c))
    plan = chat.bot_messages[0].plan
    assert plan is not None
    assert plan.rows == "✓ Waiting 0.6 s"


async def test_a_run_that_failed_is_told_by_an_alert(stage: Stage, slack: SlackEmulator) -> None:
    ann, chat = await pane_of(stage, slack)
    stage.script.then(unauthorized())
    await chat.says(ann, "hello")
    await chat.until(lambda c: len(c.screen) == 1 and is_whole(c))

    assert [each["type"] for each in chat.bot_messages[0].blocks] == ["alert", "actions"]
    assert chat.bot_messages[0].button("Try again") is not None
