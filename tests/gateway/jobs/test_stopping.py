"""A job's run stops when an authorised user asks for it, and on no other message."""

import asyncio

from agent_core.models.scripted import Waits
from channels.memory import NO_PACE, MemoryChannel
from gateway.store.job import DeliveryState, FiringState, Job, Report
from tests.gateway.jobs.conftest import StartTimedBot
from tests.gateway.jobs.kit import TEAM, TimedBot, a_job
from tests.gateway.tasking import rows

SALES = a_job(Report(instructions="Report the sales."))
LATER = "2026-11-24 09:00"


async def at_work(start_bot: StartTimedBot, job: Job, *turns: object, **how: object) -> tuple[TimedBot, Waits]:
    """Start a bot whose agent is working on the job's first firing."""
    thinking = Waits(asyncio.Event(), "Sales: 42.")
    bot = await start_bot(thinking, *turns, **how)
    await bot.has(job)
    bot.at("2026-11-23 09:00")
    await bot.made.serving.scheduler.tick()
    await thinking.reached.wait()
    return bot, thinking


async def test_a_report_that_is_paused_ends_without_a_word(start_bot: StartTimedBot) -> None:
    bot, _ = await at_work(start_bot, SALES)
    await bot.hears("/cron pause abc123")

    assert bot.screen == ["`abc123` is paused."]
    firing = await bot.firing(SALES)
    assert (firing.state, firing.cause, firing.delivery) == (FiringState.FAILED, "stopped", DeliveryState.NONE)
    assert (await bot.job(SALES)).failures == 0
    assert rows(bot.home, "SELECT state, reason FROM runs") == [("done", "aborted")]
    assert rows(bot.home, "SELECT count(*) FROM inbox WHERE state = 'new'") == [(0,)]


async def test_what_was_stopped_counts_for_no_failure(start_bot: StartTimedBot) -> None:
    bot, _ = await at_work(start_bot, SALES, "Sales: 43.")
    await bot.hears("/cron pause abc123")
    await bot.hears("/cron resume abc123")
    bot.at(LATER)
    await bot.look()

    assert bot.screen[-1].endswith("Sales: 43.")
    assert "works again" not in bot.screen[-1]


async def test_one_that_is_removed_ends_too_also_where_it_waits_for_room(start_bot: StartTimedBot) -> None:
    gates = [Waits(asyncio.Event(), "Done.") for _ in range(3)]
    bot = await start_bot(*gates)
    await bot.has(*(a_job(SALES.work, name=f"job{number}00") for number in range(3)))
    bot.at("2026-11-23 09:00")
    await bot.made.serving.scheduler.tick()
    await bot.channel.until(lambda: all(gate.reached.is_set() for gate in gates))
    await bot.has(SALES)
    await bot.fires(SALES, "2026-11-23 09:00")
    await bot.channel.until(lambda: rows(bot.home, "SELECT count(*) FROM firings") == [(4,)])
    await bot.channel.hears("/cron rm abc123")
    await bot.channel.until(lambda: len(bot.screen) == 1)
    for gate in gates:
        gate.event.set()
    await bot.settled()

    assert len(bot.llm.requests) == 3
    assert len(bot.screen) == 4
    assert (await bot.firing(SALES)).cause == "stopped"


async def test_stop_in_the_chat_ends_no_report(start_bot: StartTimedBot) -> None:
    bot, thinking = await at_work(start_bot, SALES)
    await bot.channel.hears("/stop")
    await bot.channel.until(lambda: len(bot.screen) == 1)
    thinking.event.set()
    await bot.settled()

    assert bot.screen[-1].endswith("Sales: 42.")


async def test_what_another_has_planned_nobody_stops(start_bot: StartTimedBot) -> None:
    job = a_job(SALES.work, chat=TEAM)
    bot, thinking = await at_work(start_bot, job, channel=MemoryChannel(limits=NO_PACE))
    await bot.channel.hears("/cron rm abc123", sender="bob", group="team")
    await bot.channel.until(lambda: len(bot.channel.screen_of(TEAM)) == 1)
    thinking.event.set()
    await bot.settled()

    assert bot.channel.screen_of(TEAM)[-1].endswith("Sales: 42.")
