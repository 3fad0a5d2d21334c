"""The program is killed at the worst moments and restarted: every message is answered once."""

import asyncio
import re

import pytest

from parley.testing.emulators.control import Effect, Fault
from tests.emulators.model_script import Answer, ModelRequest, ToolUse, calls, says
from tests.end_to_end.platforms.catalogue import where
from tests.end_to_end.stage import Stage, is_finished, rows_of, says_last, shows

pytestmark = [
    where(lambda facts: facts.emulated),
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.timeout(120),
]

LINE = re.compile(r"\d tools?, \d+ s")
"""The line to which progress that an earlier life has shown is folded."""


@pytest.fixture(autouse=True)
def restarts_without_limits(stage: Stage) -> None:
    """Lift the rate limits, because so many starts a minute would read more chats than a platform allows."""
    stage.net.lift_limits()


def echo(asked: ModelRequest) -> Answer:
    return says(f"You said {asked.last_text.rpartition(chr(10))[2]}.")


@pytest.mark.command_line
async def test_killed_with_four_chats_waiting_for_the_model_all_four_are_answered_once(stage: Stage) -> None:
    stage.script.respond = lambda _: says("never said", hold=asyncio.Event())
    people = [stage.private(name) for name in ("Ann", "Bob", "Eve", "Joe")]

    for person, chat in people:
        await chat.says(person, f"I am {person.name}")
    await stage.asked(4)
    await stage.program.kill()
    stage.script.respond = echo
    await stage.start()

    for person, chat in people:
        await chat.until(shows(f"You said I am {person.name}."))


async def test_killed_with_four_messages_of_one_chat_open_all_four_are_heard_and_answered_once(
    stage: Stage,
) -> None:
    stage.script.respond = lambda _: says("never said", hold=asyncio.Event())
    ann, chat = stage.private("Ann")

    for words in ("one", "two", "three", "four"):
        await chat.says(ann, words)
    await stage.asked(1)
    await stage.heard()
    await stage.program.kill()
    stage.script.respond = lambda asked: says(f"heard {len(asked.texts('user'))}")
    await stage.start()
    await chat.until(says_last("heard 4"))

    assert stage.said == ["one", "two", "three", "four"]
    assert "\n".join(chat.screen).count("heard 4") == 1


async def test_what_waited_when_it_was_killed_is_heard_before_what_is_said_afterwards(stage: Stage) -> None:
    stage.script.respond = lambda _: says("never said", hold=asyncio.Event())
    ann, chat = stage.private("Ann")

    for words in ("one", "two", "three"):
        await chat.says(ann, words)
        await stage.asked(1)
    await stage.heard()
    await stage.program.kill()
    writing = asyncio.Event()
    stage.script.respond = lambda asked: says(f"heard {len(asked.texts('user'))}", hold=writing)
    await stage.start()
    await stage.asked(2)
    await chat.says(ann, "four")
    await stage.heard()
    writing.set()

    await chat.until(says_last("heard 4"))
    assert stage.said == ["one", "two", "three", "four"]


async def test_killed_between_two_model_calls_what_was_done_is_not_done_again(stage: Stage) -> None:
    stage.script.then(
        calls(ToolUse("write_file", {"path": "list.txt", "content": "buy milk"})),
        says("never said", hold=asyncio.Event()),
        calls(ToolUse("read_file", {"path": "list.txt"})),
        says("Noted."),
    )
    ann, chat = stage.private("Ann")

    await chat.says(ann, "remember the milk")
    await stage.asked(2)
    await stage.program.kill()
    await stage.start()
    await chat.until(lambda c: [text for text in c.screen if not LINE.fullmatch(text)] == ["Noted."])

    assert stage.model.requests[-1].last_text.count("buy milk") == 1
    assert stage.said == ["remember the milk"]


async def test_killed_during_a_tool_that_may_run_again_it_runs_again(stage: Stage) -> None:
    stage.script.then(calls(ToolUse("wait", {"seconds": 4})), says("Waited."))
    ann, chat = stage.private("Ann")

    await chat.says(ann, "wait four seconds")
    await chat.until(lambda c: re.search(r"\(\d s\)", c.screen[0]) is not None)
    await stage.program.kill()
    await stage.start()
    if stage.platform.facts.plans:
        await chat.until(lambda c: c.screen == ["Waited."] and rows_of(c.bot_messages[0]).startswith("✓ Waiting 4 s"))
    else:
        await chat.until(lambda c: LINE.fullmatch(c.screen[0]) is not None and is_finished(c))
        await chat.until(lambda c: c.screen[1:] == ["Waited."])
    assert chat.bot_messages[0].button("Stop") is None
    assert stage.model.requests[-1].last_text.startswith("Waited 4 s.")


async def test_killed_while_the_answer_is_sent_it_is_sent_once(stage: Stage) -> None:
    stage.script.then(says("Hello Ann."))
    ann, chat = stage.private("Ann")

    stage.net.faults.add(Fault("*", Effect(hold=asyncio.Event()), 1, stage.net.finishes("Hello Ann.")))
    await chat.says(ann, "hello")
    await stage.net.emulator.wait_for(lambda: stage.net.faults.pending == 0)
    await stage.program.kill()
    await stage.start()

    await chat.until(shows("Hello Ann."))
    assert len(stage.model.requests) == 1


async def test_killed_while_progress_becomes_the_answer_there_is_one_message(stage: Stage) -> None:
    """The edit was made but its answer lost; edits may be repeated."""
    writing = asyncio.Event()
    stage.script.then(calls(ToolUse("wait", {"seconds": 0.5})), says("Done.", hold=writing), says("Still here."))
    ann, chat = stage.private("Ann")

    await chat.says(ann, "wait a moment")
    await chat.until(lambda c: "✓" in rows_of(c.bot_messages[0]))
    stage.net.faults.lose_answer(stage.net.edit)
    writing.set()
    await chat.until(shows("Done."))
    await stage.program.kill()
    stage.net.faults.clear()
    await stage.start()
    await chat.says(ann, "are you there?")

    await chat.until(shows("Done.", "Still here."))


async def test_killed_in_the_middle_of_a_long_answer_the_rest_follows_in_order(stage: Stage) -> None:
    size = stage.platform.facts.longest * 3 // 4
    words = "\n\n".join(f"paragraph {number} " + "x" * size for number in range(4))
    stage.script.then(says(words, chunk=1000))
    ann, chat = stage.private("Ann")

    stage.net.faults.add(
        Fault(stage.net.send, Effect(hold=asyncio.Event()), 1, lambda call: "paragraph 2" in str(call.params))
    )
    await chat.says(ann, "write a lot")
    await stage.net.emulator.wait_for(lambda: stage.net.faults.pending == 0)
    assert len(chat.screen) == 2
    await stage.program.kill()
    await stage.start()
    await chat.until(lambda c: len(c.screen) == 4)

    assert [shown[:11] for shown in chat.screen] == [f"paragraph {number}" for number in range(4)]
    assert len(stage.model.requests) == 1


async def test_killed_while_a_command_is_answered_it_is_answered_once(stage: Stage) -> None:
    ann, chat = stage.private("Ann")

    stage.net.faults.add(Fault(stage.net.reply, Effect(hold=asyncio.Event()), 1))
    await chat.says(ann, "/stop")
    await stage.net.emulator.wait_for(lambda: stage.net.faults.pending == 0)
    await stage.program.kill()
    await stage.start()

    await chat.until(shows("Nothing is running here."))


async def test_killed_in_a_window_the_next_life_still_answers(stage: Stage) -> None:
    stage.script.then(says("Hello Ann."))
    ann, chat = stage.private("Ann")

    stage.net.faults.rate_limit(stage.net.send, retry_after=2)
    await chat.says(ann, "hello")
    await stage.net.emulator.wait_for(lambda: stage.net.faults.pending == 0)
    await stage.program.kill()
    await asyncio.sleep(2)  # the time window itself, which no process can remember over a kill
    await stage.start()

    await chat.until(shows("Hello Ann."))


async def test_stopped_by_the_operator_it_ends_quickly_and_goes_on_after_the_restart(stage: Stage) -> None:
    stage.script.respond = lambda _: says("never said", hold=asyncio.Event())
    people = [stage.private(name) for name in ("Ann", "Bob", "Eve")]

    for person, chat in people:
        await chat.says(person, f"I am {person.name}")
    await stage.asked(3)
    assert await stage.program.terminate() == 0
    stage.script.respond = echo
    await stage.start()

    for person, chat in people:
        await chat.until(shows(f"You said I am {person.name}."))


async def test_what_was_written_while_it_was_down_is_answered(stage: Stage) -> None:
    stage.script.respond = echo
    ann, chat = stage.private("Ann")

    await chat.says(ann, "hello")
    await chat.until(shows("You said hello."))
    await stage.program.terminate()
    await chat.says(ann, "anybody there?")
    await chat.says(ann, "hm?")
    await stage.start()

    await chat.until(says_last("You said hm?."))
    assert stage.said == ["hello", "anybody there?", "hm?"]
