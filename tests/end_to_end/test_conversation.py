"""Conversations with Parley in its own process, over real sockets, with the real SDK of each platform."""

import asyncio
import re

import pytest

from gateway.delivery.progress_message import SHOW_AFTER
from tests.emulators.model_script import ToolUse, calls, says
from tests.end_to_end.platforms.catalogue import where
from tests.end_to_end.stage import Stage, ends_with, is_finished, newest, rows_of, says_last, shows

pytestmark = pytest.mark.asyncio(loop_scope="module")

CODE = "\n".join(f"print({number:04})  # a line of code" for number in range(120))
LONG = "\n\n".join(f"## Part {part}\n\nSome words before it.\n\n```python\n{CODE}\n```" for part in range(1, 4))


@pytest.mark.command_line
async def test_progress_with_two_tools_then_the_answer_in_the_same_message(stage: Stage) -> None:  # U-17, S2-38
    ann, chat = stage.private("Ann")
    writing = asyncio.Event()
    stage.script.then(
        calls(ToolUse("wait", {"seconds": 0.6})),
        calls(ToolUse("calculator", {"expression": "17*23"})),
        says("It is **391**.", hold=writing),
    )

    await chat.says(ann, "wait a moment, then tell me 17*23")
    await chat.until(lambda c: "Waiting 0.6 s" in c.screen[0])
    assert stage.platform.facts.streams or newest(chat).button("Stop") is not None
    await chat.until(lambda c: rows_of(newest(c)).startswith("✓ Waiting 0.6 s\n✓ Calculating 17*23"))

    writing.set()
    await chat.until(shows("It is 391."))
    assert [each for row in newest(chat).buttons for each in row] == []


@where(lambda facts: facts.shows_typing)
@pytest.mark.fresh("other tests may have used up what Slack allows of reactions, without which none is shown")
async def test_it_is_seen_typing_until_there_is_something_to_show(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    thinking = stage.model.faults.hold("chat.completions")
    stage.script.then(says("Good morning, Ann."))

    said = await chat.says(ann, "good morning")
    await chat.until(lambda c: c.actions[0].at > 0)
    was_slow = chat.actions[0].at - said.at >= SHOW_AFTER  # on a busy machine progress may come first
    assert was_slow or all(chat.actions[0].at < message.at for message in chat.bot_messages)

    thinking.set()
    await chat.until(shows("Good morning, Ann."))


@where(lambda facts: facts.emulated)  # elsewhere the text is shown as it streams
async def test_a_quick_answer_is_one_message_that_was_never_edited(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    stage.script.then(says("Good morning, Ann."))

    said = await chat.says(ann, "good morning")
    await chat.until(shows("Good morning, Ann."))

    was_slow = newest(chat).at - said.at >= SHOW_AFTER  # on a busy machine progress may come first, but not before that
    assert list(newest(chat).history) == ["Good morning, Ann."] or was_slow
    assert stage.said == ["good morning"]


@where(lambda facts: facts.same_again)
async def test_the_same_event_twice_is_answered_once(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    stage.script.then(says("Once."), says("Twice."))

    await chat.says(ann, "hello")
    await chat.until(shows("Once."))
    await stage.heard()
    await stage.platform.redeliver()
    await stage.heard()
    await chat.says(ann, "hello again")

    await chat.until(shows("Once.", "Twice."))
    assert stage.said == ["hello", "hello again"]


async def test_two_messages_in_a_row_are_both_heard_in_their_order(stage: Stage, node_count: int) -> None:
    ann, chat = stage.private("Ann")
    both = asyncio.Event()
    stage.script.respond = lambda asked: says(f"heard {len(asked.texts('user'))}", hold=both)

    await chat.says(ann, "first")
    if node_count:  # messages come to several nodes at once, and the one that is stored first counts as first
        await stage.heard()
    await chat.says(ann, "second")
    await stage.heard()
    both.set()

    await chat.until(lambda c: len(c.screen) == 1 and says_last("heard 2")(c))
    assert stage.said == ["first", "second"]


async def test_a_message_during_a_run_steers_it(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    planning = asyncio.Event()
    stage.script.then(says("Oslo it is.", hold=planning), says("Bergen then."))

    await chat.says(ann, "plan a trip to Oslo")
    await stage.asked(1)
    await chat.says(ann, "no, to Bergen")
    await stage.heard()
    planning.set()

    await chat.until(ends_with("Oslo it is.\n\nBergen then."))
    assert stage.said == ["plan a trip to Oslo", "no, to Bergen"]


@where(lambda facts: facts.keeps_messages)
async def test_the_answer_never_stands_above_what_the_person_wrote_later(stage: Stage) -> None:  # D-29
    ann, chat = stage.private("Ann")
    planning = asyncio.Event()
    stage.script.then(says("Oslo it is.", hold=planning), says("Bergen then."))

    await chat.says(ann, "plan a trip to Oslo")
    await chat.until(lambda c: newest(c).button("Stop") is not None)
    later = await chat.says(ann, "no, to Bergen")
    await stage.heard()
    planning.set()

    await chat.until(ends_with("Oslo it is.\n\nBergen then."))
    assert newest(chat).at > later.at
    await chat.until(shows("Oslo it is.\n\nBergen then."))


@where(lambda facts: facts.people_edit)
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

    await chat.until(says_last("Bergen then."))
    assert stage.said == ["plan a trip to Oslo", "no, to Bergen"]


@where(lambda facts: facts.tells_replies)
async def test_what_is_replied_to_is_told_to_the_model(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    stage.script.then(says("Oslo, Bergen and Tromsø."), says("Rain."), says("The second is Bergen."))

    await chat.says(ann, "name three towns")
    await chat.until(shows("Oslo, Bergen and Tromsø."))
    towns = newest(chat)
    await chat.says(ann, "weather?")
    await chat.until(shows("Oslo, Bergen and Tromsø.", "Rain."))
    await chat.says(ann, "which is the second?", reply_to=towns)

    await chat.until(ends_with("The second is Bergen."))
    assert re.search(r"In reply to: \w+: Oslo, Bergen and Tromsø.", stage.model.requests[-1].last_text)


async def test_a_long_answer_with_code_comes_in_messages_each_whole_in_itself(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    facts = stage.platform.facts
    stage.script.then(says(LONG, chunk=1000))

    await chat.says(ann, "write me a lot of code")
    await chat.until(lambda c: sum(words.count("print(") for words in c.screen) == 360 and is_finished(c))

    assert len(LONG) > 10_000
    assert len(chat.screen) >= len(LONG) / facts.longest
    assert max(facts.measure(message.text) for message in chat.bot_messages) <= facts.longest
    lines = [line.strip() for words in chat.screen for line in words.splitlines() if "print(" in line]
    assert lines == CODE.splitlines() * 3
    for message in chat.bot_messages:
        assert message.text.count("```") % 2 == 0


async def test_no_message_breaks_a_family_apart(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    family = "👩‍👩‍👧"
    stage.script.then(says(family * 1200, chunk=1000))

    await chat.says(ann, "many families, please")
    await chat.until(lambda c: sum(words.count(family) for words in c.screen) == 1200 and is_finished(c))

    assert "".join(chat.screen).replace("\n", "") == family * 1200  # the terminal folds it
