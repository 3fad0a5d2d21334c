"""Jobs run on request: outside their times, or as a rehearsal that only the user sees."""

import asyncio

import pytest

from agent_core.clock import new_id
from agent_core.models.llm import FailureKind
from agent_core.models.scripted import Failure, Waits, calls
from channels.base import ChatKey
from channels.memory import NO_PACE, MemoryChannel
from gateway.store.job import DeliveryState, FiringState, Job, Report
from gateway.texts.amounts import USD, money
from tests.gateway.jobs.conftest import StartTimedBot
from tests.gateway.jobs.kit import ANN, BOB, TEAM, TimedBot, a_job, stopped_clock
from tests.gateway.tasking import rows

SALES = Report(instructions="Report the sales.")
NOTHING = calls(("nothing_to_report", {"why": "all is well"}))


class FindingChannel(MemoryChannel):
    """A platform that implements `FindsPrivateChats`."""

    async def private_chat(self, person: str) -> ChatKey:
        return self.chat(person)


async def runs(bot: TimedBot, job: Job, for_author: ChatKey | None = None) -> None:
    await bot.firings.run_now(job, new_id(), for_author=for_author)
    await bot.settled()


def notes(bot: TimedBot) -> list[tuple[object, ...]]:
    return rows(bot.home, "SELECT count(*) FROM transcript WHERE message LIKE '%posted this here by yourself%'")


async def test_it_is_done_now_and_due_as_before(start_bot: StartTimedBot) -> None:
    bot = await start_bot("Sales: 42.", "Sales: 43.")
    job = a_job(SALES)
    await bot.has(job)
    await runs(bot, job)

    assert bot.screen == ["**Report: Report the sales.**\n\nSales: 42."]
    assert await bot.job(job) == job
    assert notes(bot) == [(1,)]
    bot.at("2026-11-23 09:00")
    await bot.look()
    assert len(bot.screen) == 2


async def test_who_asked_for_it_hears_that_there_is_nothing(start_bot: StartTimedBot) -> None:
    bot = await start_bot(NOTHING)
    job = a_job(SALES)
    await bot.has(job)
    await runs(bot, job)

    [said] = bot.screen
    assert "There is nothing to report: Report the sales. (`abc123`)" in said


async def test_who_asked_for_it_hears_at_once_that_it_failed(start_bot: StartTimedBot) -> None:
    bot = await start_bot(Failure(FailureKind.AUTH), Failure(FailureKind.AUTH))
    job = a_job(SALES)
    await bot.has(job)
    await runs(bot, job)
    await runs(bot, job)

    assert ["I could not do this: Report the sales." in said for said in bot.screen] == [True, True]


async def test_who_asked_for_it_hears_that_it_is_being_done(start_bot: StartTimedBot) -> None:
    gate = Waits(asyncio.Event(), "Sales: 42.")
    bot = await start_bot(gate)
    job = a_job(SALES)
    await bot.has(job)
    bot.at("2026-11-23 09:00")
    await bot.made.serving.scheduler.tick()
    await gate.reached.wait()
    await bot.firings.run_now(job, "e1")
    await bot.channel.until(lambda: any("This is being worked on already" in said for said in bot.screen))
    gate.event.set()
    await bot.settled()

    assert len(bot.llm.requests) == 1
    assert (await bot.firing("abc123", "2026-11-23T08:00:00Z")).state is FiringState.DONE


async def test_a_rehearsal_says_that_it_is_one_and_what_it_cost(start_bot: StartTimedBot) -> None:
    bot = await start_bot("Sales: 42.")
    job = a_job(SALES)
    await bot.has(job)
    await runs(bot, job, ANN)

    [(posted, message)] = bot.channel.posts
    assert posted.chat == ANN
    assert "🧪 A rehearsal: only you see it, and its times stay as they are." in message.markdown
    firing = await bot.firing("abc123")
    assert f"It used {firing.tokens:,} tokens, {money(round(firing.cost_usd * USD))} USD." in message.markdown
    assert message.markdown.endswith("Sales: 42.")
    assert message.buttons == ()
    assert (firing.state, firing.delivery) == (FiringState.DONE, DeliveryState.SENT)


async def test_of_a_group_s_job_the_group_sees_and_knows_nothing(start_bot: StartTimedBot) -> None:
    bot = await start_bot("Sales: 42.", channel=FindingChannel(limits=NO_PACE))
    job = a_job(SALES, chat=TEAM)
    await bot.has(job)
    alone = await bot.made.base.delivery.private_chat(TEAM, "ann")
    assert alone == ANN
    await runs(bot, job, alone)

    assert bot.channel.screen_of(TEAM) == []
    assert "Sales: 42." in bot.channel.screen_of(ANN)[0]
    assert notes(bot) == [(0,)]


async def test_where_nobody_can_be_alone_there_is_no_chat_for_it(start_bot: StartTimedBot) -> None:
    bot = await start_bot()

    assert await bot.made.base.delivery.private_chat(TEAM, "ann") is None
    assert await bot.made.base.delivery.private_chat(ANN, "ann") == ANN


async def test_a_rehearsal_of_a_reminder_costs_nothing(start_bot: StartTimedBot) -> None:
    bot = await start_bot()
    job = a_job("make tea")
    await bot.has(job)
    await runs(bot, job, ANN)

    [said] = bot.screen
    assert "It costs nothing." in said
    assert "make tea" in said


async def test_a_rehearsal_that_fails_says_so_and_counts_for_nothing(start_bot: StartTimedBot) -> None:
    bot = await start_bot(Failure(FailureKind.AUTH))
    job = a_job(SALES)
    await bot.has(job)
    await runs(bot, job, ANN)

    [said] = bot.screen
    assert "🧪" in said
    assert "The model's provider refused the key." in said
    assert (await bot.job(job)).failures == 0


async def test_a_rehearsal_keeps_nothing_from_its_time(start_bot: StartTimedBot) -> None:
    gate = Waits(asyncio.Event(), "Rehearsed.")
    bot = await start_bot(gate, "Sales: 42.")
    job = a_job(SALES)
    await bot.has(job)
    await bot.firings.run_now(job, "e1", for_author=ANN)
    await gate.reached.wait()
    bot.at("2026-11-23 09:00")
    await bot.made.serving.scheduler.tick()
    await bot.channel.until(lambda: any("Sales: 42." in said for said in bot.screen))
    gate.event.set()
    await bot.settled()

    assert len(bot.screen) == 2


async def test_it_goes_on_after_a_restart_where_it_was_to_be_seen(start_bot: StartTimedBot) -> None:
    gate = Waits(asyncio.Event(), "never said")
    bot = await start_bot(gate, "Sales: 42.")
    job = a_job(SALES, chat=TEAM)
    await bot.has(job)
    await bot.firings.run_now(job, "e1", for_author=ANN)
    await gate.reached.wait()
    await bot.restart()
    await bot.settled()

    assert bot.channel.screen_of(TEAM) == []
    assert "Sales: 42." in bot.channel.screen_of(ANN)[0]


async def test_what_is_asked_for_once_is_done_once_however_often_the_event_comes(start_bot: StartTimedBot) -> None:
    """After a crash a command is handled again."""
    bot = await start_bot("Sales: 42.", "Sales: 43.")
    job = a_job(SALES)
    await bot.has(job)
    first = await bot.firings.run_now(job, "e1")
    again = await bot.firings.run_now(job, "e1")
    await bot.settled()

    assert first.id == again.id
    assert len(bot.screen) == 1


@pytest.mark.parametrize("verb", ["run", "test"])
async def test_reports_made_at_once_keep_the_pace_of_the_person_who_asks(start_bot: StartTimedBot, verb: str) -> None:
    channel = MemoryChannel(limits=NO_PACE)
    bot = await start_bot(*["Here it is."] * 10, channel=channel, clock=stopped_clock())
    await bot.has(a_job(SALES, chat=BOB, person="bob"))

    for _ in range(30):
        await bot.hears(f"/cron {verb} abc123", sender="bob")

    assert len(bot.llm.requests) == 10
    assert "Please try that again in" in bot.screen[-1]
