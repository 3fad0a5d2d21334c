"""Background tasks on every platform leave the chat free, and report each result, wherever the program is killed."""

import asyncio
import re
from collections import deque
from itertools import takewhile

import pytest

from parley.testing.emulators.control import Effect, Fault
from tests.emulators.model_script import Answer, ModelRequest, ToolUse, calls, says
from tests.end_to_end.platforms.catalogue import where
from tests.end_to_end.platforms.emulated import Emulated
from tests.end_to_end.platforms.platform import Chat
from tests.end_to_end.stage import Stage, has, says_last

pytestmark = [pytest.mark.quick_clock, pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(120)]

SECONDS = 30
PROMPT = "Count the files."
BEGUN = "It runs in the background."
TOLD = "There are 42 files."
RUNNING = re.compile(r"([a-z0-9]{6})\W+running")
BEGINS = calls(ToolUse("task", {"prompt": PROMPT, "background": True}))


class Cast:
    """The model of the chat and those of its tasks, each with its own answers."""

    def __init__(self, *chat: Answer, report: Answer | None = None, **more: Answer) -> None:
        self._chat = deque(chat)
        self.task = deque(value for name, value in more.items() if name.startswith("task"))
        self.report = report or says(TOLD)
        self.reported: list[str] = []
        """Everything the chat's model was told about tasks, in order."""

    def __call__(self, asked: ModelRequest) -> Answer:
        people = asked.texts("user")
        if people[0] == PROMPT:
            return self.task.popleft()
        if people[-1].startswith("<notification>") and asked.last_text == people[-1]:
            self.reported.append(people[-1])
            return self.report
        return self._chat.popleft()

    @property
    def is_over(self) -> bool:
        return not self._chat and not self.task


@pytest.fixture(autouse=True)
def restarts_without_limits(stage: Stage) -> None:
    """Lift the rate limits, because so many starts a minute would read more chats than a platform allows."""
    if isinstance(stage.platform, Emulated):
        stage.platform.lift_limits()


def count(chat: Chat, words: str) -> int:
    return "\n".join(chat.screen).count(words)


async def test_one_goes_on_talking_meanwhile_and_is_told_when_it_ends(stage: Stage) -> None:
    counting = asyncio.Event()
    stage.script.respond = cast = Cast(BEGINS, says(BEGUN), says("Rain."), task=says("42 files.", hold=counting))
    ann, chat = stage.private("Ann")

    await chat.says(ann, "count the files, in the background")
    await chat.until(says_last(BEGUN), SECONDS)
    await chat.says(ann, "weather?")
    await chat.until(says_last("Rain."), SECONDS)
    counting.set()
    await chat.until(says_last(TOLD), SECONDS)

    assert "42 files." in cast.reported[0]
    assert [count(chat, words) for words in (BEGUN, "Rain.", TOLD)] == [1, 1, 1]
    assert cast.is_over


async def test_it_is_listed_and_cancelled_by_button(stage: Stage) -> None:
    stage.script.respond = cast = Cast(
        BEGINS, says(BEGUN), report=says("It was cancelled."), task=says("never", hold=asyncio.Event())
    )
    ann, chat = stage.private("Ann")

    await chat.says(ann, "count the files, in the background")
    await chat.until(says_last(BEGUN), SECONDS)
    await chat.says(ann, "/tasks")
    await chat.until(lambda c: RUNNING.search(c.screen[-1]) is not None, SECONDS)
    found = RUNNING.search(chat.screen[-1])
    assert found
    await chat.presses(ann, f"Cancel {found[1]}")
    await chat.until(says_last("It was cancelled."), SECONDS)

    assert "cancelled: Count the files." in cast.reported[0]


async def test_it_asks_in_the_chat_before_it_runs_a_program(stage: Stage) -> None:
    stage.script.respond = Cast(
        BEGINS,
        says(BEGUN),
        task1=calls(ToolUse("run_command", {"argv": ["sh", "-c", "echo 42"]})),
        task2=says("42 files."),
    )
    ann, chat = stage.private("Ann")

    await chat.says(ann, "count the files, in the background")
    await stage.asked(1)
    if "run_command" not in stage.model.requests[0].tools:
        pytest.skip("no sandbox here")
    await chat.until(lambda c: any("May I do this?" in text for text in c.screen), SECONDS)
    await chat.presses(ann, "Allow once")
    await chat.until(says_last(TOLD), SECONDS)

    await chat.until(lambda c: any("✓ Approved by" in text for text in c.screen), SECONDS)


# Killed at the worst moments


@where(lambda facts: facts.emulated)
async def test_killed_when_it_was_begun_and_nobody_had_been_told(stage: Stage) -> None:
    stage.script.respond = Cast(
        BEGINS,
        says("never said", hold=asyncio.Event()),
        says(BEGUN),
        task1=says("never said", hold=asyncio.Event()),
        task2=says("42 files."),
    )
    ann, chat = stage.private("Ann")

    await chat.says(ann, "count the files, in the background")
    await stage.asked(3)
    await stage.program.kill()
    await stage.start()
    await chat.until(lambda c: count(c, TOLD) == 1 and count(c, BEGUN) == 1, SECONDS)


@where(lambda facts: facts.emulated)
async def test_killed_in_the_middle_of_it(stage: Stage) -> None:
    stage.script.respond = cast = Cast(
        BEGINS,
        says(BEGUN),
        task1=calls(ToolUse("add_fact", {"text": "x"})),
        task2=says("never said", hold=asyncio.Event()),
        task3=says("42 files."),
    )
    ann, chat = stage.private("Ann")

    await chat.says(ann, "count the files, in the background")
    await chat.until(says_last(BEGUN), SECONDS)
    await stage.asked(4)
    await stage.program.kill()
    await stage.start()
    await chat.until(says_last(TOLD), SECONDS)

    assert count(chat, TOLD) == 1
    assert len(cast.reported) == 1
    assert cast.is_over


@where(lambda facts: facts.emulated)
async def test_killed_when_it_had_ended_and_its_report_was_being_written(stage: Stage) -> None:
    stage.script.respond = cast = Cast(
        BEGINS, says(BEGUN), report=says("never said", hold=asyncio.Event()), task=says("42 files.")
    )
    ann, chat = stage.private("Ann")

    await chat.says(ann, "count the files, in the background")
    await stage.asked(4)
    await chat.until(has(BEGUN), SECONDS)
    await stage.program.kill()
    cast.report = says(TOLD)
    await stage.start()
    await chat.until(says_last(TOLD), SECONDS)

    assert count(chat, TOLD) == 1
    assert cast.is_over


@where(lambda facts: facts.emulated)
async def test_killed_while_its_report_was_being_sent(stage: Stage) -> None:
    stage.script.respond = cast = Cast(BEGINS, says(BEGUN), task=says("42 files."))
    ann, chat = stage.private("Ann")

    stage.net.faults.add(Fault("*", Effect(hold=asyncio.Event()), 1, stage.net.finishes(TOLD)))
    await chat.says(ann, "count the files, in the background")
    await stage.net.emulator.wait_for(lambda: stage.net.faults.pending == 0, SECONDS)
    await stage.program.kill()
    await stage.start()
    await chat.until(says_last(TOLD), SECONDS)

    assert count(chat, TOLD) == 1
    assert len(cast.reported) == 1


@where(lambda facts: facts.emulated and facts.name != "telegram")
async def test_killed_again_and_again_with_several_open_each_is_told_once(stage: Stage) -> None:
    """Not on Telegram, which cannot tell whether a message arrived before the kill."""
    jobs = [f"Count drawer {number}." for number in range(4)]

    def answer(asked: ModelRequest) -> Answer:
        people = asked.texts("user")
        if people[0] in jobs:
            return says(f"found {people[0]}") if asked.messages[-1]["role"] == "tool" else calls("clock")
        new = takewhile(lambda message: message["role"] != "assistant", reversed(asked.messages))
        if "<notification>" in (news := str([*new])):
            return says(" ".join(f"<{job}>" for job in jobs if f"found {job}" in news))
        done = asked.messages[-1]["role"] == "tool"
        return says(BEGUN) if done else calls(*(ToolUse("task", {"prompt": job, "background": True}) for job in jobs))

    stage.script.respond = answer
    ann, chat = stage.private("Ann")

    await chat.says(ann, "count what is in the drawers, in the background")
    for asked in (3, 7):
        await stage.asked(asked)
        await stage.program.kill()
        await stage.start()
    await chat.until(lambda c: all(count(c, f"<{job}>") for job in jobs) and count(c, BEGUN) == 1, SECONDS)
    await stage.heard()

    assert [count(chat, f"<{job}>") for job in jobs] == [1] * 4
