"""A job's run stops when an authorised user asks for it, and on no other message."""

import asyncio

import pytest

from agent_core.models.scripted import Waits
from channels.base import Sender
from channels.memory import NO_PACE, MemoryChannel
from gateway.store.job import DeliveryState, Firing, FiringState, Job, Report
from tests.gateway.jobs.conftest import StartTimedBot
from tests.gateway.jobs.kit import ANN, TEAM, TimedBot, a_job
from tests.gateway.jobs.test_full_hour import waiting_reports
from tests.gateway.tasking import rows
from tests.process import until

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
    await until(lambda: len(waiting_reports(bot)) == 1)
    await bot.channel.hears("/cron rm abc123")
    await bot.channel.until(lambda: len(bot.screen) == 1)
    for gate in gates:
        gate.event.set()
    await bot.settled()

    assert len(bot.llm.requests) == 3
    assert len(bot.screen) == 4
    assert (await bot.firing(SALES)).cause == "stopped"


async def test_one_that_is_paused_just_before_its_run_begins_does_not_begin(
    start_bot: StartTimedBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    bot = await start_bot()
    await bot.has(SALES)
    used_up = bot.made.jobs.work.rights.runs_used_up

    async def paused_meanwhile(job: Job, firing: Firing) -> int:
        await bot.made.jobs.jobs.pause(job.id, ANN, Sender(id="ann", name="Ann"))
        return await used_up(job, firing)

    monkeypatch.setattr(bot.made.jobs.work.rights, "runs_used_up", paused_meanwhile)
    bot.at("2026-11-23 09:00")
    await bot.look()

    assert (bot.llm.requests, bot.screen) == ([], [])
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
