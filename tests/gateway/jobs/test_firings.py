"""What becomes of a job that is due: it is said once, on time, and the chat's agent knows of it."""

import asyncio

import pytest

from agent_core.llm import LlmRequest
from agent_core.messages import UserMessage, text_of
from agent_core.models.scripted import calls
from agent_core.tools import ToolContext, tool
from channels.base import Accepted
from gateway.store.job import DeliveryState, FiringState, Report
from gateway.timing.rule import Once
from tests.gateway.jobs.conftest import StartTimedBot
from tests.gateway.jobs.kit import a_job, moment
from tests.gateway.tasking import rows

MAKE_TEA = "make tea"
SALES = Report(instructions="Report yesterday's sales.")
NOTHING = calls(("nothing_to_report", {"why": "all is well"}))


def seen(request: LlmRequest) -> str:
    """All that the model reads of a conversation."""
    beside = (message.context for message in request.messages if isinstance(message, UserMessage))
    return "\n".join([*filter(None, beside), *(text_of(message.content) for message in request.messages)])


# Reminders


async def test_a_reminder_is_said_when_it_is_due_and_no_model_is_asked(start_bot: StartTimedBot) -> None:
    bot = await start_bot()
    await bot.has(a_job(MAKE_TEA))

    await bot.look()
    assert bot.screen == []
    bot.at("2026-11-23 09:00")
    await bot.look()

    assert bot.screen == ["⏰ make tea"]
    assert bot.llm.requests == []
    firing = await bot.firing("abc123")
    assert (firing.state, firing.delivery) == (FiringState.DONE, DeliveryState.SENT)


async def test_the_next_answer_of_the_model_knows_of_it(start_bot: StartTimedBot) -> None:  # S2-48
    bot = await start_bot("Enjoy it.")
    await bot.has(a_job(MAKE_TEA))
    bot.at("2026-11-23 09:00")
    await bot.look()

    await bot.hears("done")

    [request] = bot.llm.requests
    assert "You have posted this here by yourself: a reminder (abc123), due Mon 23 Nov 09:00." in seen(request)
    assert "⏰ make tea" in seen(request)


async def test_an_agent_that_is_in_memory_hears_of_it_as_one_that_is_not(start_bot: StartTimedBot) -> None:
    bot = await start_bot("Hello.", "Enjoy it.")
    await bot.hears("hi")
    await bot.has(a_job(MAKE_TEA))
    bot.at("2026-11-23 09:00")
    await bot.look()

    await bot.hears("done")

    assert "a reminder (abc123)" in seen(bot.llm.requests[-1])
    assert rows(bot.home, "SELECT count(*) FROM transcript WHERE message LIKE '%posted this here%'") == [(1,)]


async def test_the_same_slot_comes_in_once_however_often_it_is_found(start_bot: StartTimedBot) -> None:
    bot = await start_bot()
    job = a_job(MAKE_TEA)
    await bot.has(job)
    bot.at("2026-11-23 09:00")

    assert await bot.fires(job) is Accepted.NEW
    assert await bot.fires(job) is Accepted.DUPLICATE
    await bot.settled()
    assert await bot.fires(job) is Accepted.DUPLICATE
    await bot.settled()

    assert bot.screen == ["⏰ make tea"]


@pytest.mark.parametrize(
    ("at", "line"),
    [
        ("2026-11-23 09:00", ""),
        ("2026-11-23 09:20", "20 min late"),
        ("2026-11-23 12:10", "3 h late"),
        ("2026-11-25 09:00", "2 days late"),
    ],
)
async def test_one_that_comes_late_says_how_late(start_bot: StartTimedBot, at: str, line: str) -> None:
    bot = await start_bot()
    await bot.has(a_job(MAKE_TEA, Once(at=moment("2026-11-23 09:00"))))
    bot.at(at)
    await bot.look()

    [said] = bot.screen
    assert said.startswith("⏰ make tea")
    assert line in said
    assert ("late" in said) == bool(line)


async def test_it_comes_on_time_while_an_answer_is_under_way_and_is_noted_behind_it(start_bot: StartTimedBot) -> None:
    working, go_on = asyncio.Event(), asyncio.Event()

    @tool()
    async def slow() -> str:
        """Work for long."""
        working.set()
        await go_on.wait()
        return "worked"

    bot = await start_bot(calls(("slow", {})), "I have worked.", "Yes.", tools=(slow,))
    await bot.has(a_job(MAKE_TEA))
    await bot.channel.hears("work")
    await working.wait()
    bot.at("2026-11-23 09:00")
    await bot.house.wakes.look()
    await bot.channel.until(lambda: "⏰ make tea" in bot.screen)
    go_on.set()
    await bot.settled()
    await bot.hears("was that the tea?")

    told = [text_of(message.content) for message in bot.llm.requests[-1].messages]
    assert "I have worked." in told[2] or "I have worked." in told[3]
    assert "make tea" not in seen(bot.llm.requests[1])
    assert [("make tea" in text) for text in told] == [False, False, False, False, True, False]
    kinds = [type(message).__name__ for message in bot.llm.requests[-1].messages]
    assert kinds == [
        "UserMessage",
        "AssistantMessage",
        "ToolResultMessage",
        "AssistantMessage",
        "UserMessage",
        "UserMessage",
    ]


async def test_a_note_alone_shows_no_typing_sign(start_bot: StartTimedBot) -> None:
    bot = await start_bot()
    await bot.has(a_job(MAKE_TEA))
    bot.at("2026-11-23 09:00")
    await bot.look()

    assert [call.kind for call in bot.channel.calls] == ["send"]


# Reports


async def test_a_report_is_made_apart_from_the_talk_and_posted(start_bot: StartTimedBot) -> None:  # S2-47
    bot = await start_bot("Hello.", "Sales: 42, lower than before.", "Because it rained.")
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


async def test_an_answer_to_a_report_has_it_before_it(start_bot: StartTimedBot) -> None:  # S2-48
    bot = await start_bot("Sales: 42, lower than before.", "Because it rained.")
    await bot.has(a_job(SALES))
    bot.at("2026-11-23 09:00")
    await bot.look()
    await bot.hears("why is it lower?")

    assert bot.screen[-1] == "Because it rained."
    assert "a scheduled report (abc123)" in seen(bot.llm.requests[-1])
    assert "Sales: 42, lower than before." in seen(bot.llm.requests[-1])


async def test_nothing_to_report_posts_nothing(start_bot: StartTimedBot) -> None:
    bot = await start_bot(NOTHING, "Hello.")
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
    assert rows(bot.home, "SELECT state, reason, tokens, model FROM runs WHERE session LIKE 'job-%'") == [
        ("done", "completed", firing.tokens, "scripted")
    ]


@tool(acts="write")
async def draw(context: ToolContext) -> str:
    """Draw a chart."""
    path = context.workspace / "chart.txt"
    await asyncio.to_thread(path.write_text, "|||")
    return "drawn: chart.txt"


async def test_files_go_with_the_report(start_bot: StartTimedBot) -> None:
    bot = await start_bot(
        calls(("draw", {})), calls(("send_file", {"path": "chart.txt"})), "Sales: 42.", "Thank you.", tools=(draw,)
    )
    await bot.has(a_job(SALES))
    bot.at("2026-11-23 09:00")
    await bot.look()

    [(_, message)] = bot.channel.posts
    assert [file.name for file in message.attachments] == ["chart.txt"]
    await bot.hears("nice")
    assert "With it went these files: chart.txt." in seen(bot.llm.requests[-1])
