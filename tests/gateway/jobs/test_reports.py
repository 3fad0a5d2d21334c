"""Reports are made apart from the conversation, a few at once, within limits, and posted for questions."""

import asyncio

from agent_core.loop.limits import LoopLimits
from agent_core.models.scripted import Waits, calls
from agent_core.subagents import CLOSING_S
from agent_core.tools.tool import ToolContext, tool
from gateway.store.job import DeliveryState, FiringState, Heartbeat, Report
from gateway.store.rule import Cron, Every, Once
from tests.gateway.jobs.conftest import StartTimedBot
from tests.gateway.jobs.kit import ANN, a_job, moment, seen
from tests.gateway.tasking import rows

SALES = Report(instructions="Report yesterday's sales.")
MAKE_TEA = "make tea"
NOTHING = calls(("nothing_to_report", {"why": "all is well"}))


async def test_a_report_is_made_apart_from_the_talk_and_posted(wired_bot: StartTimedBot) -> None:  # S2-47
    bot = await wired_bot("Hello.", "Sales: 42, lower than before.", "Because it rained.")
    await bot.hears("my password is swordfish")
    await bot.has(a_job(SALES))
    bot.at("2026-11-23 09:00")
    await bot.look()

    assert bot.screen[-1] == "**Report: Report yesterday's sales.**\n\nSales: 42, lower than before."
    asked = bot.llm.requests[-1]
    assert "swordfish" not in seen(asked)
    assert "Report yesterday's sales." in seen(asked)
    assert "Now: Monday 2026-11-23 09:00 (Europe/Paris)" in seen(asked)
    assert "Nobody can answer you now" in seen(asked)
    assert "call nothing_to_report" in asked.system
    names = {spec.name for spec in asked.tools}
    assert names >= {"nothing_to_report", "send_file", "read_history", "own_usage"}
    assert not names & {"task", "schedule", "jobs", "remember", "forget"}


async def test_an_answer_to_a_report_has_it_before_it(wired_bot: StartTimedBot) -> None:  # S2-48
    bot = await wired_bot("Sales: 42, lower than before.", "Because it rained.")
    await bot.has(a_job(SALES))
    bot.at("2026-11-23 09:00")
    await bot.look()
    await bot.hears("why is it lower?")

    assert bot.screen[-1] == "Because it rained."
    assert "a scheduled report (abc123)" in seen(bot.llm.requests[-1])
    assert "Sales: 42, lower than before." in seen(bot.llm.requests[-1])


async def test_nothing_to_report_posts_nothing(wired_bot: StartTimedBot) -> None:
    bot = await wired_bot(NOTHING, "Hello.")
    await bot.has(a_job(SALES))
    bot.at("2026-11-23 09:00")
    await bot.look()

    assert bot.screen == []
    firing = await bot.firing("abc123")
    assert (firing.state, firing.delivery) == (FiringState.NOTHING, DeliveryState.NONE)
    await bot.hears("hi")
    assert "abc123" not in seen(bot.llm.requests[-1])


async def test_what_it_cost_is_known(start_bot: StartTimedBot) -> None:
    bot = await start_bot("Sales: 42.")
    await bot.has(a_job(SALES))
    bot.at("2026-11-23 09:00")
    await bot.look()

    firing = await bot.firing("abc123")
    assert firing.tokens > 0
    assert rows(bot.home, "SELECT state, reason, model FROM runs WHERE session LIKE 'job-%'") == [
        ("done", "completed", "scripted")
    ]
    assert rows(bot.home, "SELECT tokens, cost / 1e9 FROM spending") == [(firing.tokens, firing.cost_usd)]


@tool(acts="write")
async def draw(context: ToolContext) -> str:
    """Draw a chart."""
    context.workspace.mkdir(parents=True, exist_ok=True)
    await asyncio.to_thread((context.workspace / "chart.txt").write_text, "|||")
    return "drawn: chart.txt"


async def test_files_go_with_the_report(wired_bot: StartTimedBot) -> None:
    bot = await wired_bot(
        calls(("draw", {})), calls(("send_file", {"path": "chart.txt"})), "Sales: 42.", "Thank you.", tools=(draw,)
    )
    await bot.has(a_job(SALES))
    bot.at("2026-11-23 09:00")
    await bot.look()

    [(_, message)] = bot.channel.posts
    assert [file.name for file in message.attachments] == ["chart.txt"]
    await bot.hears("nice")
    assert "With it went these files: chart.txt." in seen(bot.llm.requests[-1])


async def test_at_most_three_run_at_once_in_the_house(wired_bot: StartTimedBot) -> None:  # S2-47
    gates = [Waits(asyncio.Event(), "Done.") for _ in range(4)]
    bot = await wired_bot(*gates)
    await bot.has(*(a_job(SALES, name=f"job{number}00") for number in range(4)))
    bot.at("2026-11-23 09:00")
    await bot.made.serving.scheduler.tick()
    await bot.channel.until(lambda: sum(gate.reached.is_set() for gate in gates) == 3)
    assert len(bot.llm.requests) == 3
    for gate in gates:
        gate.event.set()
    await bot.settled()

    assert len(bot.screen) == 4


async def test_one_that_is_still_worked_on_is_not_begun_again(wired_bot: StartTimedBot) -> None:  # S2-47
    gate = Waits(asyncio.Event(), "The first.")
    bot = await wired_bot(gate, "The third.")
    began = "2026-11-23 08:50"
    await bot.has(a_job(SALES, Every(seconds=600, since=moment(began)), created=began))
    bot.at("2026-11-23 09:00")
    await bot.made.serving.scheduler.tick()
    await gate.reached.wait()
    bot.at("2026-11-23 09:10")
    await bot.made.serving.scheduler.tick()
    await bot.channel.until(lambda: rows(bot.home, "SELECT 1 FROM firings WHERE state = 'overlapped'") == [(1,)])
    gate.event.set()
    await bot.settled()
    bot.at("2026-11-23 09:20")
    await bot.look()

    assert [firing.state for firing in await bot.store.firings.history("abc123", 9)] == [
        FiringState.DONE,
        FiringState.OVERLAPPED,
        FiringState.DONE,
    ]
    assert [said.splitlines()[-1] for said in bot.screen] == ["The first.", "The third."]


async def test_a_reminder_does_not_wait_for_those_that_run(start_bot: StartTimedBot) -> None:
    gates = [Waits(asyncio.Event(), "Done.") for _ in range(3)]
    bot = await start_bot(*gates)
    await bot.has(*(a_job(SALES, name=f"job{number}00") for number in range(3)), a_job(MAKE_TEA))
    bot.at("2026-11-23 09:00")
    await bot.made.serving.scheduler.tick()

    await bot.channel.until(lambda: bot.screen == ["⏰ make tea"])
    for gate in gates:
        gate.event.set()
    await bot.settled()


async def test_it_goes_as_far_as_it_may_and_no_further(wired_bot: StartTimedBot) -> None:  # S2-47
    gate = Waits(asyncio.Event(), "never")
    bot = await wired_bot(gate)
    await bot.has(a_job(SALES, Once(at=moment("2026-11-23 09:00"))))
    bot.at("2026-11-23 09:00")
    await bot.made.serving.scheduler.tick()
    await gate.reached.wait()
    bot.calendar.advance(LoopLimits().max_seconds + CLOSING_S + 1)
    await bot.settled()

    firing = await bot.firing("abc123")
    assert (firing.state, firing.cause) == (FiringState.FAILED, "time")
    [said] = bot.screen
    assert "It took too long." in said


async def test_it_spends_what_it_may_and_no_more(start_bot: StartTimedBot) -> None:
    @tool()
    async def look(at: int) -> str:
        """Look."""
        return f"nothing at {at}"

    turns = [calls(("look", {"at": at}), text="a " * 12_000) for at in range(14)]
    bot = await start_bot(*turns, tools=(look,))
    await bot.has(a_job(SALES, Once(at=moment("2026-11-23 09:00"))))
    bot.at("2026-11-23 09:00")
    await bot.look()

    firing = await bot.firing("abc123")
    assert (firing.state, firing.cause) == (FiringState.FAILED, "budget")
    assert firing.tokens > 0


async def test_one_that_comes_by_night_waits_for_the_morning(start_bot: StartTimedBot) -> None:
    bot = await start_bot("Sales: 42.", "Yes.")
    await bot.has(a_job(SALES, Cron(expression="0 23 * * *")))
    await bot.store.heartbeats.save(Heartbeat(ANN, "ann", "beat01", on=False, quiet_chosen=True))
    bot.at("2026-11-23 23:00")
    await bot.look()

    assert bot.screen == []
    assert (await bot.firing("abc123")).delivery is DeliveryState.HELD
    await bot.hears("is there a report?")
    assert "It waits for the end of their quiet hours." in seen(bot.llm.requests[-1])
    bot.at("2026-11-24 08:01")
    await bot.look()
    await bot.app.settled()

    assert bot.screen[-1] == "**Report: Report yesterday's sales.**\n\nSales: 42."
    assert (await bot.firing("abc123")).delivery is DeliveryState.SENT


async def test_it_stands_in_the_conversation_that_is_there_when_it_comes(start_bot: StartTimedBot) -> None:
    bot = await start_bot("Hello.", "Sales: 42.", "Yes.", "Which report?")
    await bot.hears("hi")
    await bot.hears("/new")
    await bot.has(a_job(SALES))
    bot.at("2026-11-23 09:00")
    await bot.look()
    await bot.hears("why?")
    assert "Sales: 42." in seen(bot.llm.requests[-1])

    await bot.hears("/new")
    await bot.hears("and the report?")
    assert "Sales: 42." not in seen(bot.llm.requests[-1])


async def test_it_stands_before_the_answer_to_it(start_bot: StartTimedBot) -> None:
    bot = await start_bot("Sales: 42.", "Because it rained.")
    await bot.has(a_job(SALES))
    bot.at("2026-11-23 09:00")
    await bot.look()
    await bot.hears("why is it lower?")

    chat = await bot.store.chats.get(ANN)
    told = [message.role for message in await bot.store.transcript.history(chat.session)]
    assert told == ["notification", "user", "assistant"]
