"""A question survives a stop of the program at any point; nothing is asked or run twice."""

import asyncio
import time
from pathlib import Path

import pytest

from agent_core.loop.permissions import Answer
from agent_core.reasons import TerminalReason
from agent_core.tools.tool import tool
from channels.limits import Limits
from channels.memory import NO_PACE, MemoryChannel
from gateway.permissions.approvals import LASTS
from gateway.store.rows import RunEnd
from tests.clock import FakeClock
from tests.gateway.approving import (
    ANN,
    APPROVED,
    BY_ANN,
    CHART,
    QUESTION,
    RUN,
    acting,
    asked,
    cut_off_in_the_call,
    id_of,
    last_result,
    life,
    proposal,
    questions,
    recorder,
    states,
)
from tests.gateway.conftest import StartBot

# Each step of one question, with the program killed after it


async def test_after_it_was_noted_and_before_it_was_sent(start_bot: StartBot, tmp_path: Path) -> None:
    ran: list[list[str]] = []
    async with life(tmp_path) as here:
        await cut_off_in_the_call(here.store)
        asked = await here.permissions.decide(proposal(tmp_path))

    bot = await start_bot("Here.", tools=(acting(ran=ran),))
    await bot.channel.until(lambda: any(QUESTION in text for text in bot.screen))
    await bot.hears(f"/approve {asked.request_id}")

    assert len(ran) == 1
    assert sum(QUESTION in call.markdown for call in bot.channel.calls if call.kind == "send") == 1
    assert bot.screen[-1] == "Here."


@pytest.mark.parametrize(("keeps_keys", "copies"), [(True, 1), (False, 2)])
async def test_after_it_was_sent_and_before_that_was_noted(
    start_bot: StartBot, tmp_path: Path, *, keeps_keys: bool, copies: int
) -> None:
    channel = MemoryChannel(keeps_keys=keeps_keys)
    async with life(tmp_path) as here:
        await cut_off_in_the_call(here.store)
        await here.permissions.decide(proposal(tmp_path))
        [post] = await here.store.outbox.unsent()
        await channel.send(ANN, post.message, post.key)

    bot = await start_bot("Here.", tools=(acting(),), channel=channel)
    await bot.channel.until(lambda: sum(QUESTION in text for text in bot.screen) == copies)
    await bot.channel.until(lambda: any("Waiting for approval" in text for text in bot.screen))
    await bot.channel.presses("Allow once")
    await bot.app.settled()

    assert sum(QUESTION in text for text in bot.screen) == copies - 1
    assert APPROVED in bot.screen


@pytest.mark.parametrize("keeps_keys", [True, False])
async def test_after_it_was_approved_and_before_anybody_was_told(
    start_bot: StartBot, tmp_path: Path, *, keeps_keys: bool
) -> None:
    ran: list[list[str]] = []
    channel = MemoryChannel(keeps_keys=keeps_keys)
    async with life(tmp_path) as here:
        await cut_off_in_the_call(here.store)
        asked = await here.permissions.decide(proposal(tmp_path))
        [post] = await here.store.outbox.unsent()
        posted = await channel.send(ANN, post.message, post.key)
        await here.store.outbox.sent(post, posted)
        await here.approvals.reply(asked.request_id, ANN, BY_ANN, approved=True)

    bot = await start_bot("Here.", tools=(acting(ran=ran),), channel=channel)
    await bot.app.settled()

    assert len(ran) == 1
    assert bot.screen == [APPROVED, "Here."]
    assert states(tmp_path) == ["used"]


async def test_after_it_was_approved_and_before_it_was_noted_where_it_stands(
    start_bot: StartBot, tmp_path: Path
) -> None:
    channel = MemoryChannel(keeps_keys=True)
    async with life(tmp_path) as here:
        await cut_off_in_the_call(here.store)
        asked = await here.permissions.decide(proposal(tmp_path))
        [post] = await here.store.outbox.unsent()
        await channel.send(ANN, post.message, post.key)
        await here.approvals.reply(asked.request_id, ANN, BY_ANN, approved=True)
        # This process does not know the message's id and cannot edit it.
    assert states(tmp_path) == ["approved"]

    bot = await start_bot("Here.", tools=(acting(),), channel=channel)
    await bot.app.settled()

    assert bot.screen == [APPROVED, "Here."]


async def test_after_it_was_used_and_before_the_call_began(start_bot: StartBot, tmp_path: Path) -> None:
    ran: list[list[str]] = []
    async with life(tmp_path) as here:
        await cut_off_in_the_call(here.store)
        call = proposal(tmp_path)
        asked = await here.permissions.decide(call)
        await here.approvals.reply(asked.request_id, ANN, BY_ANN, approved=True)
        assert await here.permissions.answer(asked.request_id, call) is Answer.APPROVED

    bot = await start_bot("I do not know.", tools=(acting(ran=ran),))
    await bot.app.settled()

    assert ran == []
    assert "outcome is unknown" in bot.llm.requests[0].model_dump_json()
    assert states(tmp_path) == ["used"]


async def test_after_it_was_denied(start_bot: StartBot, tmp_path: Path) -> None:
    ran: list[list[str]] = []
    async with life(tmp_path) as here:
        await cut_off_in_the_call(here.store)
        asked = await here.permissions.decide(proposal(tmp_path))
        await here.approvals.reply(asked.request_id, ANN, BY_ANN, approved=False)

    bot = await start_bot("As you like.", tools=(acting(ran=ran),))
    await bot.app.settled()

    assert ran == []
    assert "the person refused this call" in bot.llm.requests[0].model_dump_json()


@pytest.mark.parametrize("approved", [True, False])
async def test_what_nobody_did_within_ten_minutes_is_too_late(
    start_bot: StartBot, tmp_path: Path, *, approved: bool
) -> None:
    ran: list[list[str]] = []
    channel = MemoryChannel()
    clock = FakeClock()
    clock.now = time.time() - LASTS - 1
    async with life(tmp_path, clock=clock) as here:
        await cut_off_in_the_call(here.store)
        asked = await here.permissions.decide(proposal(tmp_path))
        [post] = await here.store.outbox.unsent()
        posted = await channel.send(ANN, post.message, post.key)
        await here.store.outbox.sent(post, posted)
        if approved:
            await here.approvals.reply(asked.request_id, ANN, BY_ANN, approved=True)

    bot = await start_bot("Not then.", tools=(acting(ran=ran),), channel=channel)
    await bot.app.settled()
    await bot.hears(f"/approve {asked.request_id}")

    assert ran == []
    assert "nobody approved this call in time" in bot.llm.requests[0].model_dump_json()
    line = "✗ The approval expired before it was used" if approved else "✗ Not answered in time"
    assert bot.screen[0] == f"{line}: `python3 chart.py`"
    assert bot.screen[-1].startswith("Too late")


async def test_a_question_runs_out_while_it_is_waited_for(tmp_path: Path) -> None:
    clock = FakeClock()
    channel = MemoryChannel(limits=NO_PACE)
    async with life(tmp_path, channel, clock) as here:
        await here.store.runs.begin(RUN)
        call = proposal(tmp_path)
        asked = await here.permissions.decide(call)

        assert await here.permissions.answer(asked.request_id, call) is Answer.EXPIRED
        await here.approvals.settled()

    assert LASTS in clock.slept
    assert channel.screen == ["✗ Not answered in time: `python3 chart.py`"]


async def test_a_question_of_a_run_that_is_over_is_taken_back_at_the_next_start(
    start_bot: StartBot, tmp_path: Path
) -> None:
    channel = MemoryChannel()
    async with life(tmp_path) as here:
        await here.store.runs.begin(RUN)
        asked = await here.permissions.decide(proposal(tmp_path))
        [post] = await here.store.outbox.unsent()
        posted = await channel.send(ANN, post.message, post.key)
        await here.store.outbox.sent(post, posted)
        await here.store.runs.end(RUN, RunEnd(TerminalReason.ERROR, "scripted"), [])

    bot = await start_bot(channel=channel)
    await bot.app.settled()
    await bot.hears(f"/approve {asked.request_id}")

    assert bot.screen == ["✗ No longer needed: `python3 chart.py`", "That is no longer needed."]


async def test_a_question_that_is_given_up_by_a_stop_stays_for_the_next_life(tmp_path: Path) -> None:
    async with life(tmp_path) as here:
        await here.store.runs.begin(RUN)
        call = proposal(tmp_path)
        asked = await here.permissions.decide(call)
        waiting = asyncio.create_task(here.permissions.answer(asked.request_id, call))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.wait([waiting])

    assert waiting.cancelled()
    async with life(tmp_path) as here:
        assert (await here.permissions.decide(call)).request_id == asked.request_id
    assert states(tmp_path) == ["pending"]


async def test_a_question_outlives_the_program_and_is_not_put_twice(start_bot: StartBot) -> None:
    run, ran = recorder()
    bot = await start_bot(CHART, "Here.", tools=(run,))
    request = await asked(bot)
    await bot.channel.until(lambda: states(bot.home) == ["pending"])

    for _ in range(2):
        await bot.restart()
        await bot.channel.until(lambda: any("Waiting for approval" in text for text in bot.screen))
    assert [id_of(each) for each in questions(bot)] == [request]
    await bot.hears(f"/approve {request}")

    assert len(ran) == 1
    assert sum("May I do this?" in call.markdown for call in bot.channel.calls if call.kind == "send") == 1
    assert bot.screen[-1] == "Here."


@pytest.mark.parametrize("forgets", [True, False])
async def test_a_question_is_shown_again_where_it_is_not_to_be_seen_any_more(
    start_bot: StartBot, *, forgets: bool
) -> None:
    run, ran = recorder()
    channel = MemoryChannel(limits=Limits(max_text=4_000, forgets=forgets))
    bot = await start_bot(CHART, "Here.", tools=(run,), channel=channel)
    request = await asked(bot)
    before = len(channel.calls)
    await bot.restart()
    await bot.channel.until(lambda: not forgets or any(QUESTION in call.markdown for call in channel.calls[before:]))

    await bot.hears(f"/approve {request}")
    assert ran == [["python3", "chart.py"]]
    assert sum(QUESTION in call.markdown for call in channel.calls[before:]) == forgets
    assert bot.screen[-1] == "Here."


async def test_nobody_answers_twice_what_was_used_before_a_stop(start_bot: StartBot) -> None:
    ran = []
    never = asyncio.Event()

    @tool(acts="exec")
    async def run(command: list[str]) -> str:
        """Run a program."""
        ran.append(command)
        await never.wait()
        return "done"

    bot = await start_bot(CHART, "I do not know.", tools=(run,))
    request = await asked(bot)
    await bot.channel.hears(f"/approve {request}")
    await bot.channel.until(lambda: len(ran) == 1)
    await bot.restart()
    await bot.app.settled()

    assert len(ran) == 1
    assert "outcome is unknown" in last_result(bot)
    await bot.hears(f"/approve {request}")
    assert bot.screen[-1] == "That has been approved already."
