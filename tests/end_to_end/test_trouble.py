"""Faults of the connection to a platform: rate limits, errors, lost answers, dead connections, repeated events."""

import asyncio

import pytest

from parley.testing.emulators.control import Effect, Fault
from tests.emulators.model_script import ToolUse, Turn, calls, says
from tests.end_to_end.platforms.catalogue import where
from tests.end_to_end.stage import Stage, ends_with, has, newest, rows_of, shows

pytestmark = [pytest.mark.quick_clock, where(lambda facts: facts.emulated), pytest.mark.asyncio(loop_scope="module")]


async def test_told_to_wait_during_progress_the_answer_still_arrives_and_nobody_calls_in_the_window(
    stage: Stage,
) -> None:
    ann, chat = stage.private("Ann")
    shown, refused = asyncio.Event(), asyncio.Event()
    more = Turn(tools=(ToolUse("calculator", {"expression": "17*23"}),), hold=shown)
    stage.script.then(calls(ToolUse("wait", {"seconds": 1.5})), more, says("Done.", hold=refused))
    stage.net.faults.rate_limit(stage.net.edit, retry_after=2)

    await chat.says(ann, "wait a moment")
    await chat.until(lambda c: "Waiting" in c.screen[0])
    shown.set()
    await stage.net.emulator.wait_for(lambda: 429 in statuses_of(stage))
    refused.set()

    await chat.until(shows("Done."))
    assert statuses_of(stage).count(429) == 1


def statuses_of(stage: Stage) -> list[int | None]:
    """Return how the platform answered the edits of progress."""
    return [call.status for call in stage.net.emulator.calls_of(stage.net.edit)]


async def test_told_to_wait_with_the_answer_only_that_chat_waits(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    bob, with_bob = stage.private("Bob")
    stage.script.respond = lambda asked: says(f"Hello {asked.last_text.rpartition(' ')[2]}.")
    is_hers = stage.net.is_in(chat)
    stage.net.faults.add(Fault(stage.net.send, Effect(status=429, retry_after=2), None, is_hers))

    await chat.says(ann, "I am Ann")
    await stage.net.emulator.wait_for(lambda: any(map(is_hers, stage.net.emulator.calls_of(stage.net.send))))
    await with_bob.says(bob, "I am Bob")
    await with_bob.until(shows("Hello Bob."))
    assert chat.screen == []
    stage.net.faults.clear()

    await chat.until(shows("Hello Ann."))
    *_, refused, _ = filter(is_hers, stage.net.emulator.calls_of(stage.net.send))
    assert newest(chat).at - refused.at >= 2


async def test_a_message_that_the_platform_did_not_take_is_sent_again(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    stage.script.then(says("Hello Ann."))
    stage.net.faults.fail(stage.net.send, status=502, times=2)

    await chat.says(ann, "hello")

    await chat.until(shows("Hello Ann."))


@where(lambda facts: not facts.streams)  # there the end is no part: tests/channels/slack/test_stream_trouble.py
async def test_an_edit_whose_answer_was_lost_leaves_one_message(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    writing = asyncio.Event()
    stage.script.then(calls(ToolUse("wait", {"seconds": 0.6})), says("Done.", hold=writing), says("You are welcome."))

    await chat.says(ann, "wait a moment")
    await chat.until(lambda c: "✓" in rows_of(c.bot_messages[0]))
    stage.net.faults.lose_answer(stage.net.edit)
    writing.set()
    await chat.until(shows("Done."))
    await chat.says(ann, "thanks")

    await chat.until(shows("Done.", "You are welcome."))


async def test_a_message_whose_answer_was_lost_is_sent_once_more_and_not_again(stage: Stage) -> None:
    """The message appears once if the platform can be searched or knows its key, and otherwise twice."""
    ann, chat = stage.private("Ann")
    stage.script.then(says("Hello Ann."), says("You are welcome."))
    stage.net.faults.lose_answer(stage.net.send, times=1 if stage.platform.facts.knows_resends else 2)
    seen = ["Hello Ann."] if stage.platform.facts.knows_resends else ["Hello Ann.", "Hello Ann."]

    await chat.says(ann, "hello")
    await chat.until(shows(*seen))
    await chat.says(ann, "thanks")

    await chat.until(has("You are welcome."))
    if stage.platform.facts.knows_resends:
        assert chat.screen == [*seen, "You are welcome."]
        return
    stage.script.then(says("Bye."))
    await chat.says(ann, "and bye")
    await chat.until(lambda c: any(message.button("Show last answer") for message in c.bot_messages))
    await chat.until(has("Bye."))
    await chat.presses(ann, "Show last answer")
    await chat.until(ends_with("Hello Ann."))


@where(lambda facts: not facts.streams)  # there the end is all that follows the begin
async def test_an_early_edit_that_is_slow_does_not_overwrite_the_answer(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    shown = asyncio.Event()
    stage.script.then(calls(ToolUse("wait", {"seconds": 0.6})), says("Done.", hold=shown))
    stage.net.faults.delay(stage.net.edit, seconds=1.5, times=1)

    await chat.says(ann, "wait a moment")
    await chat.until(lambda c: "Waiting" in rows_of(c.bot_messages[0]))
    shown.set()

    await chat.until(shows("Done."))
    assert newest(chat).history[-1] == "Done."
    assert stage.net.faults.pending == 0


async def test_where_the_progress_message_is_gone_the_answer_is_a_new_one(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    writing = asyncio.Event()
    stage.script.then(calls(ToolUse("wait", {"seconds": 0.6})), says("Done.", hold=writing))

    await chat.says(ann, "wait a moment")
    await chat.until(lambda c: "✓" in rows_of(c.bot_messages[0]))
    await chat.deletes(newest(chat))
    writing.set()

    await chat.until(shows("Done."))


async def test_after_all_connections_were_killed_messages_are_answered(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    stage.script.then(says("Hello Ann."))

    assert stage.net.emulator.kill_connections() > 0
    await chat.says(ann, "hello")

    await chat.until(shows("Hello Ann."))


async def test_events_that_come_twice_at_once_are_answered_once(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    stage.script.then(says("Once."), says("Twice."))

    stage.net.faults.duplicate()
    await chat.says(ann, "hello")
    await chat.until(shows("Once."))
    await stage.heard()
    await chat.says(ann, "hello again")

    await chat.until(shows("Once.", "Twice."))


async def test_events_out_of_order_lose_nothing(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    bob, with_bob = stage.private("Bob")
    stage.script.respond = lambda asked: says(f"heard {asked.last_text[-3:]}")

    stage.net.faults.reorder(2)
    await chat.says(ann, "one")
    await with_bob.says(bob, "two")

    await chat.until(shows("heard one"))
    await with_bob.until(shows("heard two"))
