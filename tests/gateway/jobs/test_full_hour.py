"""Many jobs are due in the same minute while users write."""

import asyncio
from collections.abc import Sized
from datetime import timedelta

import pytest

from agent_core.messages import text_of
from agent_core.models.scripted import Waits
from channels.limits import Limits
from channels.memory import MemoryChannel
from gateway.schedule.jobs.job_runs import MOST_AT_ONCE, Places
from gateway.store.job import Report
from tests.gateway.jobs.conftest import StartTimedBot
from tests.gateway.jobs.kit import ANN, BOB, TimedBot, a_job
from tests.process import until

SLOWLY = Limits(max_text=4_000, edit_every=timedelta(0), calls_per_second=2)


async def test_who_writes_while_many_reminders_are_sent_is_answered_before_them(start_bot: StartTimedBot) -> None:
    bot = await start_bot("Hello, Bob.", channel=MemoryChannel(limits=SLOWLY))
    chats = [ANN.model_copy(update={"chat": f"ann{number}"}) for number in range(60)]
    await bot.has(*(a_job("make tea", name=f"job{number:03}", chat=chat) for number, chat in enumerate(chats)))

    bot.at("2026-11-23 09:00")
    await bot.made.serving.scheduler.tick()
    await bot.channel.until(lambda: len(bot.screen) >= SLOWLY.calls_per_second)
    await bot.channel.hears("hello", sender="bob")
    await bot.channel.until(lambda: "Hello, Bob." in bot.screen)

    assert len(bot.screen) < len(chats), "half a second each"


def waiting_reports(bot: TimedBot) -> Sized:
    return bot.made.jobs.work._places._waiting  # noqa: SLF001


async def test_a_second_person_s_report_comes_before_those_that_wait_of_the_first(start_bot: StartTimedBot) -> None:
    gates = [Waits(asyncio.Event(), f"Report {number}.") for number in range(9)]
    bot = await start_bot(*gates)
    hers = [a_job(Report(instructions=f"hers {number}"), name=f"job{number:03}") for number in range(8)]
    his = a_job(Report(instructions="his"), name="zzz999", chat=BOB, person="bob")
    await bot.has(*hers, his)

    bot.at("2026-11-23 09:00")
    for job in hers:
        await bot.fires(job)
    await until(lambda: len(waiting_reports(bot)) == len(hers) - MOST_AT_ONCE)
    await bot.fires(his)
    await until(lambda: len(waiting_reports(bot)) == len(gates) - MOST_AT_ONCE)
    await gates[MOST_AT_ONCE - 1].reached.wait()
    gates[0].event.set()
    await gates[MOST_AT_ONCE].reached.wait()
    asked = [text_of(each.messages[-1].content) for each in bot.llm.requests]
    assert [words.endswith("his") for words in asked] == [False] * MOST_AT_ONCE + [True]

    for gate in gates:
        gate.event.set()
    await bot.settled()
    assert len(bot.llm.requests) == len(gates)


async def test_who_is_cancelled_while_waiting_or_just_let_in_leaves_the_place_to_others() -> None:
    places, gate = Places(1), asyncio.Event()

    async def works(person: str) -> str:
        async with places.of(person):
            await gate.wait()
            return person

    first, second, third = (asyncio.create_task(works(person)) for person in ("ann", "bob", "carl"))
    await asyncio.sleep(0)
    second.cancel()
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    third.cancel()  # it was given a place but has not run yet
    last = asyncio.create_task(works("dora"))
    gate.set()

    assert await last == "dora"
