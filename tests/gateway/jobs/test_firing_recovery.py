"""A firing survives a stop of the program at any point: it is announced once and recorded once."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from agent_core.clock import new_id
from agent_core.messages import AssistantMessage, StopReason, TextContent, ToolCall, ToolResultMessage, text_of
from agent_core.models.scripted import Waits, calls
from agent_core.origin import CLEAN
from agent_core.tools.tool import tool
from channels.base import AccountRefused, OutboundMessage, Posted
from channels.memory import NO_PACE, MemoryChannel
from gateway.runs.attempts import MOST_DEATHS
from gateway.store.job import DeliveryState, Firing, FiringState, Job, Report
from gateway.store.jobs import Advance
from gateway.store.rows import Post, Run
from gateway.store.rule import Once
from gateway.store.store import Store
from tests.gateway.dying import died
from tests.gateway.jobs.conftest import StartTimedBot
from tests.gateway.jobs.kit import ANN, Calendar, TimedBot, a_job, fired, moment
from tests.gateway.tasking import rows
from tests.gateway.test_recovery import answered
from tests.messages import user

NINE = moment("2026-11-23 09:00")
TEA = a_job("make tea", Once(at=NINE))
SALES = a_job(Report(instructions="Report the sales."), Once(at=NINE))
NEVER = "never said"
TOLD = "**Report: Report the sales.**\n\nSales: 42."


def firing_of(job: Job) -> Firing:
    assert job.slot is not None
    return Firing(job.id, job.slot.name, "fire01", job.chat, NINE, began=NINE, origin=CLEAN)


def run_of(job: Job) -> Run:
    name = firing_of(job).name
    return Run(name, job.chat, name, job.person, started=NINE)


@asynccontextmanager
async def earlier_life(home: Path, job: Job) -> AsyncIterator[Store]:
    """Yield the store of an earlier process that accepted the job's firing, and then stops where the test leaves it."""
    clock = Calendar("2026-11-23 09:00")
    async with Store.open(home, clock, new_id) as store:
        assert job.slot is not None
        await store.jobs.add(job)
        await store.inbox.accept(fired(job, job.slot))
        await store.jobs.advance([Advance(job.id, NINE, None)])
        yield store


async def next_life(start_bot: StartTimedBot, *turns: object, **how: object) -> TimedBot:
    bot = await start_bot(*turns, clock=Calendar("2026-11-23 09:00"), **how)
    await bot.settled()
    return bot


def notes(bot: TimedBot) -> int:
    """Return the number of notes in the conversation about something posted."""
    [(count,)] = rows(bot.home, "SELECT count(*) FROM transcript WHERE message LIKE '%posted this here by yourself%'")
    assert isinstance(count, int)
    return count


def is_all_done(bot: TimedBot) -> bool:
    open_rows = (
        "SELECT (SELECT count(*) FROM inbox WHERE state = 'new'), (SELECT count(*) FROM runs WHERE state != 'done')"
    )
    left = "SELECT count(*) FROM firings WHERE state = 'begun' OR delivery = 'pending'"
    return rows(bot.home, open_rows) == [(0, 0)] and rows(bot.home, left) == [(0,)]


# A reminder, with the program killed after each step


async def test_who_was_sent_away_in_between_is_told_nothing(start_bot: StartTimedBot, tmp_path: Path) -> None:
    eve = replace(SALES, person="eve")
    async with earlier_life(tmp_path, eve) as store:
        await store.firings.begin(firing_of(eve))
        await store.runs.begin_apart(run_of(eve))
    bot = await next_life(start_bot)

    assert (await bot.firing(eve)).state is FiringState.MISSED
    assert (bot.screen, bot.llm.requests) == ([], [])


async def test_a_reminder_after_it_was_taken_in(start_bot: StartTimedBot, tmp_path: Path) -> None:
    async with earlier_life(tmp_path, TEA):
        pass
    bot = await next_life(start_bot)

    assert bot.screen == ["⏰ make tea"]
    assert notes(bot) == 1
    assert is_all_done(bot)


async def test_a_reminder_after_it_was_begun(start_bot: StartTimedBot, tmp_path: Path) -> None:
    async with earlier_life(tmp_path, TEA) as store:
        await store.firings.begin(firing_of(TEA))
    bot = await next_life(start_bot)

    assert bot.screen == ["⏰ make tea"]
    assert (await bot.firing("abc123")).id == "fire01"
    assert is_all_done(bot)


def ended(job: Job, text: str) -> tuple[Firing, list[Post]]:
    """Return the finished firing and its message, as recorded when the work is done."""
    firing = replace(firing_of(job), state=FiringState.DONE, text=text, ended=NINE, delivery=DeliveryState.PENDING)
    return firing, [
        Post(f"{firing.name}:proactive:0", firing.name, ANN, OutboundMessage(markdown=f"⏰ {text}"), origin=CLEAN)
    ]


async def test_a_reminder_after_it_was_noted_and_before_it_was_sent(start_bot: StartTimedBot, tmp_path: Path) -> None:
    async with earlier_life(tmp_path, TEA) as store:
        await store.firings.begin(firing_of(TEA))
        firing, posts = ended(TEA, "make tea")
        await store.firings.end([firing], posts)
    bot = await next_life(start_bot)

    assert bot.screen == ["⏰ make tea"]
    assert (await bot.firing("abc123")).delivery is DeliveryState.SENT
    assert notes(bot) == 1
    assert is_all_done(bot)


@pytest.mark.parametrize("noted_as_begun", [True, False])
async def test_a_reminder_after_it_was_sent_and_before_that_was_noted(
    start_bot: StartTimedBot, tmp_path: Path, *, noted_as_begun: bool
) -> None:
    channel = MemoryChannel(limits=NO_PACE)
    firing, [post] = ended(TEA, "make tea")
    async with earlier_life(tmp_path, TEA) as store:
        await store.firings.begin(firing_of(TEA))
        await store.firings.end([firing], [post])
        if noted_as_begun:
            await store.outbox.tried(post.key, 1)
        await channel.send(ANN, post.message, post.key)
    bot = await next_life(start_bot, channel=channel)

    assert bot.screen == ["⏰ make tea"]
    assert notes(bot) == 1
    assert is_all_done(bot)


async def test_a_reminder_after_it_arrived_and_before_the_conversation_knew(
    start_bot: StartTimedBot, tmp_path: Path
) -> None:
    firing, [post] = ended(TEA, "make tea")
    async with earlier_life(tmp_path, TEA) as store:
        await store.firings.begin(firing_of(TEA))
        await store.firings.end([firing], [post])
        await store.outbox.sent(post, Posted(chat=post.chat, message_id="m1"))
    bot = await next_life(start_bot)

    assert bot.channel.calls == []
    assert (await bot.firing("abc123")).delivery is DeliveryState.SENT
    assert notes(bot) == 1
    assert is_all_done(bot)


async def test_a_reminder_after_its_delivery_was_noted_too(start_bot: StartTimedBot, tmp_path: Path) -> None:
    firing, [post] = ended(TEA, "make tea")
    async with earlier_life(tmp_path, TEA) as store:
        await store.firings.begin(firing_of(TEA))
        await store.firings.end([firing], [post])
        await store.outbox.sent(post, Posted(chat=post.chat, message_id="m1"))
        await store.firings.end([replace(firing, delivery=DeliveryState.SENT)])
    bot = await next_life(start_bot)
    await bot.restart()
    await bot.settled()

    assert bot.channel.calls == []
    assert notes(bot) == 1
    assert is_all_done(bot)


async def test_nothing_comes_again_once_all_is_done(start_bot: StartTimedBot, tmp_path: Path) -> None:
    async with earlier_life(tmp_path, TEA):
        pass
    bot = await next_life(start_bot)
    for _ in range(2):
        await bot.restart()
        await bot.look()

    assert bot.screen == ["⏰ make tea"]
    assert notes(bot) == 1


# A report


async def test_a_report_in_the_middle_of_a_call(wired_bot: StartTimedBot) -> None:
    working, looked = asyncio.Event(), []

    @tool(idempotent=True)
    async def look() -> str:
        """Look."""
        looked.append(1)
        if len(looked) == 1:
            working.set()
            await asyncio.Event().wait()
        return "42"

    bot = await wired_bot(calls(("look", {})), "Sales: 42.", tools=(look,))
    await bot.has(SALES)
    bot.at("2026-11-23 09:00")
    await bot.made.serving.scheduler.tick()
    await working.wait()
    await bot.restart()
    await bot.settled()

    assert bot.screen == [TOLD]
    assert len(looked) == 2
    assert notes(bot) == 1
    assert is_all_done(bot)


async def test_a_report_while_the_model_thinks(wired_bot: StartTimedBot) -> None:
    thinking = Waits(asyncio.Event(), NEVER)
    bot = await wired_bot(thinking, "Sales: 42.")
    await bot.has(SALES)
    bot.at("2026-11-23 09:00")
    await bot.made.serving.scheduler.tick()
    await thinking.reached.wait()
    await bot.restart()
    await bot.settled()

    assert bot.screen == [TOLD]
    assert rows(bot.home, "SELECT count(*) FROM transcript WHERE message LIKE '%Report the sales%'") == [(2,)]
    assert is_all_done(bot)


async def test_a_report_after_its_last_answer_and_before_its_end(start_bot: StartTimedBot, tmp_path: Path) -> None:
    run = run_of(SALES)
    async with earlier_life(tmp_path, SALES) as store:
        await store.firings.begin(firing_of(SALES))
        await store.runs.begin_apart(run)
        await store.transcript.append(run, 1, user("Report the sales."))
        await store.transcript.append(run, 1, answered("Sales: 42."))
    bot = await next_life(start_bot)

    assert bot.llm.requests == []
    assert bot.screen == [TOLD]
    assert is_all_done(bot)


async def test_one_that_had_nothing_to_report_is_not_asked_again(start_bot: StartTimedBot, tmp_path: Path) -> None:
    run = run_of(SALES)
    call = ToolCall(id="call-1", name="nothing_to_report", arguments={"why": "no sales"})
    result = ToolResultMessage(
        tool_call_id="call-1",
        tool_name="nothing_to_report",
        content=(TextContent(text="no sales"),),
        is_error=False,
        origin=CLEAN,
    )
    async with earlier_life(tmp_path, SALES) as store:
        await store.firings.begin(firing_of(SALES))
        await store.runs.begin_apart(run)
        await store.transcript.append(run, 1, user("Report the sales."))
        await store.transcript.append(
            run, 1, AssistantMessage(content=(call,), stop_reason=StopReason.TOOL_USE, origin=CLEAN)
        )
        await store.transcript.append(run, 1, result)
    bot = await next_life(start_bot)

    assert bot.llm.requests == []
    assert bot.screen == []
    assert (await bot.firing("abc123")).state is FiringState.NOTHING
    assert is_all_done(bot)


async def test_one_that_ends_the_program_each_time_is_set_aside_and_can_be_tried_again(
    start_bot: StartTimedBot, tmp_path: Path
) -> None:
    async with earlier_life(tmp_path, SALES) as store:
        await store.firings.begin(firing_of(SALES))
        await store.runs.begin_apart(run_of(SALES))
        await died(store, run_of(SALES), MOST_DEATHS - 1)
    bot = await next_life(start_bot, "Sales: 42.")

    assert bot.llm.requests == []
    firing = await bot.firing("abc123")
    assert (firing.state, firing.cause) == (FiringState.FAILED, "lives")
    assert "cut off three times at the same point" in bot.screen[0]
    assert is_all_done(bot)

    await bot.channel.presses("Try again")
    await bot.settled()
    assert "Sales: 42." in bot.screen[-1]


async def test_lives_that_ended_as_they_should_do_not_count(start_bot: StartTimedBot) -> None:
    lives = [Waits(asyncio.Event(), NEVER) for _ in range(MOST_DEATHS + 2)]
    bot = await start_bot(*lives, "Sales: 42.")
    await bot.has(SALES)
    bot.at("2026-11-23 09:00")
    await bot.made.serving.scheduler.tick()
    for life in lives:
        await life.reached.wait()
        await bot.restart()
    await bot.settled()

    assert bot.screen == [TOLD]


async def test_a_job_whose_platform_is_not_connected_waits(start_bot: StartTimedBot, tmp_path: Path) -> None:
    elsewhere = replace(TEA, chat=ANN.model_copy(update={"platform": "other"}))
    async with earlier_life(tmp_path, elsewhere):
        pass
    bot = await next_life(start_bot)

    assert bot.channel.calls == []
    assert rows(bot.home, "SELECT count(*) FROM inbox WHERE state = 'new'") == [(1,)]


async def test_what_a_platform_refused_with_the_whole_account_is_said_in_the_next_life(
    start_bot: StartTimedBot,
) -> None:
    bot = await start_bot()
    await bot.has(TEA)
    bot.channel.fails("send", AccountRefused("the token was revoked"))
    bot.at("2026-11-23 09:00")
    await bot.look()
    assert bot.screen == []
    await bot.restart()
    await bot.settled()

    assert bot.screen == ["⏰ make tea"]
    assert notes(bot) == 1
    assert is_all_done(bot)


async def test_of_thirty_none_is_lost_and_none_said_twice_however_often_it_stops(
    start_bot: StartTimedBot,
) -> None:
    names = [f"job{number:03}" for number in range(30)]

    @tool(idempotent=True)
    async def look() -> str:
        """Look."""
        return "42"

    def play(request: object) -> object:
        messages = request.messages  # type: ignore[attr-defined]
        asked = text_of(messages[0].content)
        return f"Done: {asked}" if len(messages) > 1 else calls(("look", {}))

    bot = await start_bot(*[play] * 1000, tools=(look,))
    work = [f"work {name}" if number % 2 else Report(instructions=f"work {name}") for number, name in enumerate(names)]
    await bot.has(*(a_job(what, Once(at=NINE), name=name) for name, what in zip(names, work, strict=True)))
    bot.at("2026-11-23 09:00")
    await bot.made.serving.scheduler.tick()
    for asked in (1, 6, 11, 16, 21):
        await bot.channel.until(lambda asked=asked: len(bot.llm.requests) >= asked)  # type: ignore[misc]
        await bot.restart()
    await bot.settled()

    assert sorted(said.split()[-1] for said in bot.screen) == names
    assert notes(bot) == 30
    assert is_all_done(bot)


async def test_told_to_stop_a_report_comes_to_a_good_point_and_goes_on_in_the_next_life(
    start_bot: StartTimedBot,
) -> None:
    thinking = Waits(asyncio.Event(), calls(("nothing_to_report", {"why": "no sales"})))
    bot = await start_bot(thinking)
    later = moment("2026-11-23 09:01")
    await bot.has(SALES, a_job("make tea", Once(at=later), name="def456", next_at=later))
    bot.at("2026-11-23 09:00")
    await bot.made.serving.scheduler.tick()
    await thinking.reached.wait()
    assert bot.app.at_work == 1

    over = await bot.drains()
    bot.at("2026-11-23 09:01")
    await bot.made.serving.scheduler.tick()
    thinking.event.set()
    await over
    assert bot.screen == []

    await bot.restart()
    await bot.settled()
    assert (await bot.firing("abc123")).state is FiringState.NOTHING
    assert len(bot.screen) == 1
    assert len(bot.llm.requests) == 1
