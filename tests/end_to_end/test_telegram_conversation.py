"""Talking to Parley on Telegram: the program in its own process, the real SDK, real sockets."""

import asyncio
import re
from itertools import pairwise

import pytest

from tests.emulators.model_script import ToolUse, calls, says
from tests.emulators.telegram_text import units
from tests.end_to_end.program import Stage, newest

pytestmark = pytest.mark.asyncio(loop_scope="module")

CODE = "\n".join(f"print({number:04})  # a line of code" for number in range(120))
LONG = "\n\n".join(f"## Part {part}\n\nSome words before it.\n\n```python\n{CODE}\n```" for part in range(1, 4))


async def test_typing_then_progress_with_two_tools_then_the_answer_in_the_same_message(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    thinking = stage.model.faults.hold("chat.completions")
    writing = asyncio.Event()
    stage.script.then(
        calls(ToolUse("wait", {"seconds": 0.6})),
        calls(ToolUse("calculator", {"expression": "17*23"})),
        says("It is **391**.", hold=writing),
    )

    await chat.says(ann, "wait a moment, then tell me 17*23")
    await chat.until(lambda c: c.actions[0].action == "typing")
    assert chat.screen == []

    thinking.set()
    await chat.until(lambda c: "Waiting 0.6 s" in c.screen[0])
    assert newest(chat).button("Stop") is not None
    await chat.until(lambda c: c.screen[0].startswith("✓ Waiting 0.6 s\n✓ Calculating 17*23"))

    writing.set()
    await chat.until(lambda c: c.screen == ["It is 391."])
    assert newest(chat).buttons == []
    assert [(entity.type, entity.offset, entity.length) for entity in newest(chat).entities] == [("bold", 6, 3)]


async def test_a_quick_answer_is_one_message_that_was_never_edited(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    stage.script.then(says("Good morning, Ann."))

    await chat.says(ann, "good morning")
    await chat.until(lambda c: c.screen == ["Good morning, Ann."])

    assert newest(chat).history == ["Good morning, Ann."]
    assert stage.said == ["good morning"]


async def test_after_a_long_run_the_answer_is_a_new_message_and_progress_folds_to_a_line(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    stage.script.then(
        calls(ToolUse("wait", {"seconds": 10})),
        calls(ToolUse("wait", {"seconds": 0.8})),
        says("Good things take time."),
    )

    await chat.says(ann, "take your time")
    await chat.until(lambda c: len(c.screen) == 2 and "tools" in c.screen[0], timeout=30)

    folded, answer = chat.bot_messages
    assert re.fullmatch(r"2 tools, 1\d s", folded.text)
    assert answer.text == "Good things take time."
    assert not answer.silent
    assert answer.edits == []
    shown = [folded.at, *(edit.at for edit in folded.edits[:-1])]
    assert max(after - before for before, after in pairwise(shown)) < 2.5
    assert len(chat.actions) >= 3


async def test_the_same_update_twice_is_answered_once(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    stage.script.then(says("Once."), says("Twice."))

    stage.telegram.faults.duplicate()
    await chat.says(ann, "hello")
    await chat.until(lambda c: c.screen == ["Once."])
    stage.telegram.redeliver()
    await stage.heard()
    await chat.says(ann, "hello again")

    await chat.until(lambda c: c.screen == ["Once.", "Twice."])
    assert stage.said == ["hello", "hello again"]


async def test_two_messages_in_a_row_are_both_heard_in_their_order(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    stage.script.respond = lambda asked: says(f"heard {len(asked.texts('user'))}")

    await chat.says(ann, "first")
    await chat.says(ann, "second")

    await chat.until(lambda c: c.screen[-1].endswith("heard 2"))
    assert stage.said == ["first", "second"]
    assert len(chat.screen) == 1


async def test_updates_out_of_order_lose_nothing(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    bob, with_bob = stage.private("Bob")
    stage.script.respond = lambda asked: says(f"heard {asked.last_text[-3:]}")

    stage.telegram.faults.reorder(2)
    await chat.says(ann, "one")
    await with_bob.says(bob, "two")

    await chat.until(lambda c: c.screen == ["heard one"])
    await with_bob.until(lambda c: c.screen == ["heard two"])


async def test_a_message_during_a_run_steers_it(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    planning = asyncio.Event()
    stage.script.then(says("Oslo it is.", hold=planning), says("Bergen then."))

    await chat.says(ann, "plan a trip to Oslo")
    await stage.asked(1)
    await chat.says(ann, "no, to Bergen")
    await stage.heard()
    planning.set()

    await chat.until(lambda c: c.screen[-1] == "Oslo it is.\n\nBergen then.")
    assert stage.said == ["plan a trip to Oslo", "no, to Bergen"]


async def test_an_edit_of_a_message_that_waits_changes_it(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    planning = asyncio.Event()
    stage.script.then(says("Oslo it is.", hold=planning), says("Bergen then."))

    await chat.says(ann, "plan a trip to Oslo")
    await stage.asked(1)
    waiting = await chat.says(ann, "no, to Bregen")
    await stage.heard()
    await chat.edits(waiting, "no, to Bergen")
    await stage.heard()
    planning.set()

    await chat.until(lambda c: c.screen[-1].endswith("Bergen then."))
    assert stage.said == ["plan a trip to Oslo", "no, to Bergen"]


async def test_an_edit_of_a_message_that_was_answered_asks_nothing_anew(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    stage.script.then(says("Rain."), says("You are welcome."))

    asked = await chat.says(ann, "weather in Oslo?")
    await chat.until(lambda c: c.screen == ["Rain."])
    await chat.edits(asked, "weather in Oslo please?")
    await chat.says(ann, "thanks")

    await chat.until(lambda c: c.screen == ["Rain.", "You are welcome."])
    assert stage.said == ["weather in Oslo?", "thanks"]


async def test_what_is_replied_to_and_quoted_is_told_to_the_model(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    stage.script.then(says("Oslo, Bergen and Tromsø."), says("It is in the north."))

    await chat.says(ann, "name three towns")
    await chat.until(lambda c: len(c.screen) == 1)
    await chat.says(ann, "where is that?", reply_to=newest(chat), quote="Tromsø")

    await chat.until(lambda c: c.screen[-1] == "It is in the north.")
    assert "In reply to: Parley: Tromsø" in stage.model.requests[-1].last_text


async def test_a_long_answer_with_code_comes_in_several_messages_each_whole_in_itself(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    stage.script.then(says(LONG))

    await chat.says(ann, "write me a lot of code")
    await chat.until(lambda c: sum(words.count("print(") for words in c.screen) == 360, timeout=15)

    messages = chat.bot_messages
    assert len(LONG) > 10_000
    assert len(messages) >= 3
    assert max(units(message.text) for message in messages) <= 4096
    lines = [line for message in messages for line in message.text.splitlines() if line.startswith("print(")]
    assert lines == CODE.splitlines() * 3
    for message in messages:
        assert "```" not in message.text
        marked = "".join(
            message.text.encode("utf-16-le")[2 * each.offset : 2 * (each.offset + each.length)].decode("utf-16-le")
            for each in message.entities
            if each.type == "pre"
        )
        assert marked.count("print(") == message.text.count("print(")


async def test_no_message_breaks_a_family_apart(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    family = "👩‍👩‍👧"
    stage.script.then(says(family * 1200))

    await chat.says(ann, "many families, please")
    await chat.until(lambda c: sum(words.count(family) for words in c.screen) == 1200, timeout=15)

    assert "".join(chat.screen) == family * 1200
