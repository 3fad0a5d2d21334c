"""Trouble on the line to Telegram: told to wait, errors, lost answers, dead connections, a second poller."""

import asyncio
import time
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from aiohttp import ClientSession

from tests.emulators.control import Effect, Fault
from tests.emulators.model_script import ToolUse, calls, says
from tests.end_to_end.program import Stage, newest

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(loop_scope="module")
async def web() -> AsyncIterator[ClientSession]:
    async with ClientSession() as session:
        yield session


async def test_told_to_wait_during_progress_the_answer_still_arrives_and_nobody_calls_in_the_window(
    stage: Stage,
) -> None:
    ann, chat = stage.private("Ann")
    stage.script.then(calls(ToolUse("wait", {"seconds": 1.5})), says("Done."))
    stage.telegram.faults.rate_limit("editMessageText", retry_after=2)

    await chat.says(ann, "wait a moment")
    await chat.until(lambda c: "Waiting" in c.screen[0])

    await chat.until(lambda c: c.screen == ["Done."], timeout=15)
    assert [call.status for call in stage.telegram.calls_of("editMessageText")].count(429) == 1


async def test_told_to_wait_with_the_answer_only_that_chat_waits(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    bob, with_bob = stage.private("Bob")
    stage.script.respond = lambda asked: says(f"Hello {asked.last_text.rpartition(' ')[2]}.")
    ours = str(chat.id)
    stage.telegram.faults.add(
        Fault("sendMessage", Effect(status=429, retry_after=2), 1, lambda call: str(call.params["chat_id"]) == ours)
    )

    await chat.says(ann, "I am Ann")
    await stage.telegram.wait_for(lambda: stage.telegram.faults.pending == 0)
    refused = time.monotonic()
    await with_bob.says(bob, "I am Bob")
    await with_bob.until(lambda c: c.screen == ["Hello Bob."])
    assert chat.screen == []

    await chat.until(lambda c: c.screen == ["Hello Ann."], timeout=15)
    assert newest(chat).at - refused > 1.9


async def test_a_message_that_telegram_did_not_take_is_sent_again(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    stage.script.then(says("Hello Ann."))
    stage.telegram.faults.fail("sendMessage", status=502, times=2)

    await chat.says(ann, "hello")

    await chat.until(lambda c: c.screen == ["Hello Ann."], timeout=15)


async def test_an_edit_whose_answer_was_lost_leaves_one_message(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    writing = asyncio.Event()
    stage.script.then(calls(ToolUse("wait", {"seconds": 0.6})), says("Done.", hold=writing), says("You are welcome."))

    await chat.says(ann, "wait a moment")
    await chat.until(lambda c: "✓" in c.screen[0])
    stage.telegram.faults.lose_answer("editMessageText")
    writing.set()
    await chat.until(lambda c: c.screen == ["Done."])
    await chat.says(ann, "thanks")

    await chat.until(lambda c: c.screen == ["Done.", "You are welcome."], timeout=15)


async def test_a_message_whose_answer_was_lost_is_sent_once_more_and_not_again(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    stage.script.then(says("Hello Ann."), says("You are welcome."))
    stage.telegram.faults.lose_answer("sendMessage", times=2)

    await chat.says(ann, "hello")
    await chat.until(lambda c: c.screen == ["Hello Ann."] * 2, timeout=15)
    await chat.says(ann, "thanks")

    await chat.until(lambda c: c.screen == ["Hello Ann.", "Hello Ann.", "You are welcome."], timeout=15)


async def test_an_early_edit_that_is_slow_does_not_overwrite_the_answer(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    stage.script.then(calls(ToolUse("wait", {"seconds": 0.6})), says("Done."))
    stage.telegram.faults.delay("editMessageText", seconds=1.5, times=1)

    await chat.says(ann, "wait a moment")

    await chat.until(lambda c: c.screen == ["Done."], timeout=15)
    assert newest(chat).history[-1] == "Done."
    assert stage.telegram.faults.pending == 0


async def test_where_the_progress_message_is_gone_the_answer_is_a_new_one(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    writing = asyncio.Event()
    stage.script.then(calls(ToolUse("wait", {"seconds": 0.6})), says("Done.", hold=writing))

    await chat.says(ann, "wait a moment")
    await chat.until(lambda c: "✓" in c.screen[0])
    await chat.deletes(newest(chat))
    writing.set()

    await chat.until(lambda c: c.screen == ["Done."])


async def test_who_blocked_parley_meanwhile_can_be_answered_again_later(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    bob, with_bob = stage.private("Bob")
    writing = asyncio.Event()
    stage.script.then(says("Hello?", hold=writing), says("Hello Bob."), says("Welcome back."))

    await chat.says(ann, "hello")
    await stage.asked(1)
    await chat.blocks()
    writing.set()
    await with_bob.says(bob, "hello")
    await with_bob.until(lambda c: c.screen == ["Hello Bob."])
    await stage.telegram.wait_for(lambda: 403 in [call.status for call in stage.telegram.calls_of("sendMessage")])
    await chat.unblocks()
    await chat.says(ann, "here I am again")

    await chat.until(lambda c: c.screen == ["Welcome back."])


async def test_after_all_connections_were_killed_messages_are_answered(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    stage.script.then(says("Hello Ann."))

    assert stage.telegram.kill_connections() > 0
    await chat.says(ann, "hello")

    await chat.until(lambda c: c.screen == ["Hello Ann."], timeout=15)


async def test_updates_whose_delivery_was_lost_come_again_and_are_answered_once(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    stage.script.then(says("Once."), says("Twice."))

    stage.telegram.faults.lose_answer("getUpdates")
    await chat.says(ann, "hello")
    await chat.until(lambda c: c.screen == ["Once."], timeout=15)
    stage.telegram.faults.fail("getUpdates", status=502)
    await chat.says(ann, "hello again")

    await chat.until(lambda c: c.screen == ["Once.", "Twice."], timeout=15)


async def test_a_second_poller_is_told_on_the_console_and_nothing_is_lost(stage: Stage, web: ClientSession) -> None:
    ann, chat = stage.private("Ann")
    stage.script.then(says("Hello Ann."))

    async with web.post(f"{stage.telegram.bot_url}{stage.telegram.token}/getUpdates", json={"timeout": 0}) as answer:
        assert answer.status == 200
    await chat.says(ann, "hello")

    await chat.until(lambda c: c.screen == ["Hello Ann."], timeout=15)
    assert "another program polls with this bot's token" in stage.log
