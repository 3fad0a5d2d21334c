"""What becomes of a job that is due: it is said once, on time, and the chat's agent knows of it."""

import asyncio

import pytest

from agent_core.llm import LlmRequest
from agent_core.messages import UserMessage, text_of
from agent_core.models.scripted import Waits, calls
from agent_core.subagents import SECONDS
from agent_core.tools import ToolContext, tool
from channels.base import Accepted, Addressed, ChannelError
from gateway.jobs.run import MOST_AT_ONCE
from gateway.store.job import DeliveryState, FiringState, JobState, Pause, Report
from gateway.timing.rule import Every, Once
from tests.gateway.approving import CHART, acting
from tests.gateway.jobs.conftest import StartTimedBot
from tests.gateway.jobs.kit import TEAM, a_job, moment
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
    context.workspace.mkdir(parents=True, exist_ok=True)
    await asyncio.to_thread((context.workspace / "chart.txt").write_text, "|||")
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


async def test_at_most_three_run_at_once_in_the_house(start_bot: StartTimedBot) -> None:  # S2-47
    gates = [Waits(asyncio.Event(), "Done.") for _ in range(4)]
    bot = await start_bot(*gates)
    await bot.has(*(a_job(SALES, name=f"job{number}00") for number in range(4)))
    bot.at("2026-11-23 09:00")
    await bot.house.wakes.look()
    await bot.channel.until(lambda: sum(gate.reached.is_set() for gate in gates) == MOST_AT_ONCE)
    assert len(bot.llm.requests) == MOST_AT_ONCE
    for gate in gates:
        gate.event.set()
    await bot.settled()

    assert len(bot.screen) == 4


async def test_one_that_is_still_worked_on_is_not_begun_again(start_bot: StartTimedBot) -> None:  # S2-47
    gate = Waits(asyncio.Event(), "The first.")
    bot = await start_bot(gate, "The third.")
    await bot.has(a_job(SALES, Every(seconds=600, since=moment("2026-11-23 09:00"))))
    bot.at("2026-11-23 09:00")
    await bot.house.wakes.look()
    await gate.reached.wait()
    bot.at("2026-11-23 09:10")
    await bot.house.wakes.look()
    await bot.channel.until(lambda: rows(bot.home, "SELECT 1 FROM firings WHERE state = 'overlapped'") == [(1,)])
    gate.event.set()
    await bot.settled()
    bot.at("2026-11-23 09:20")
    await bot.look()

    assert [firing.state for firing in await bot.store.jobs.history("abc123", 9)] == [
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
    await bot.house.wakes.look()

    await bot.channel.until(lambda: bot.screen == ["⏰ make tea"])
    for gate in gates:
        gate.event.set()
    await bot.settled()


async def test_it_goes_as_far_as_it_may_and_no_further(start_bot: StartTimedBot) -> None:  # S2-47
    gate = Waits(asyncio.Event(), "never")
    bot = await start_bot(gate)
    await bot.has(a_job(SALES, Once(at=moment("2026-11-23 09:00"))))
    bot.at("2026-11-23 09:00")
    await bot.house.wakes.look()
    await gate.reached.wait()
    bot.calendar.advance(SECONDS + 1)
    await bot.settled()

    firing = await bot.firing("abc123")
    assert (firing.state, firing.cause) == (FiringState.FAILED, "time")
    [said] = bot.screen
    assert "It took too long." in said


async def test_it_spends_what_it_may_and_no_more(start_bot: StartTimedBot) -> None:
    @tool()
    async def look() -> str:
        """Look."""
        return "nothing"

    bot = await start_bot(*[calls(("look", {}), text="a " * 12_000)] * 14, tools=(look,))
    await bot.has(a_job(SALES, Once(at=moment("2026-11-23 09:00"))))
    bot.at("2026-11-23 09:00")
    await bot.look()

    firing = await bot.firing("abc123")
    assert (firing.state, firing.cause) == (FiringState.FAILED, "budget")
    assert firing.tokens > 0


# What strangers and absent people may have to do with it


async def test_words_of_strangers_in_the_talk_it_comes_from_are_marked(start_bot: StartTimedBot) -> None:
    bot = await start_bot("Sales: 42.", "Yes.")
    await bot.has(a_job(SALES, tainted=True))
    bot.at("2026-11-23 09:00")
    await bot.look()
    await bot.hears("thanks")

    assert (await bot.firing("abc123")).untrusted
    assert "<untrusted" in seen(bot.llm.requests[-1])


async def test_nobody_is_asked_at_night(start_bot: StartTimedBot) -> None:
    ran: list[list[str]] = []
    bot = await start_bot(CHART, "I could not draw it.", tools=(acting(ran=ran),))
    await bot.has(a_job(SALES))
    bot.at("2026-11-23 09:00")
    await bot.look()

    assert ran == []
    assert bot.screen[-1].endswith("I could not draw it.")
    assert "Nobody can be asked in a scheduled run" in seen(bot.llm.requests[-1])
    assert rows(bot.home, "SELECT count(*) FROM approvals") == [(0,)]


async def test_what_the_chat_s_person_may_not_do_any_more_is_not_done(start_bot: StartTimedBot) -> None:
    bot = await start_bot()
    job = a_job(MAKE_TEA, person="dora")
    await bot.has(job)
    bot.at("2026-11-23 09:00")

    assert await bot.fires(job) is Accepted.REFUSED
    assert bot.screen == []


async def test_one_that_was_removed_meanwhile_is_not_said(start_bot: StartTimedBot) -> None:
    bot = await start_bot()
    job = a_job(MAKE_TEA, state=JobState.REMOVED)
    await bot.has(job)
    bot.at("2026-11-23 09:00")
    await bot.fires(job)
    await bot.settled()

    assert bot.screen == []
    assert rows(bot.home, "SELECT count(*) FROM inbox WHERE state = 'new'") == [(0,)]


# What the platform says to it


async def test_a_chat_that_takes_nothing_any_more_has_its_jobs_paused(start_bot: StartTimedBot) -> None:
    bot = await start_bot()
    elsewhere = a_job("stand up", name="def456", chat=TEAM)
    await bot.has(a_job(MAKE_TEA), a_job("eat", name="ghi789"), elsewhere)
    bot.channel.fails("send", ChannelError("bot was blocked by the user", permanent=True))
    bot.at("2026-11-23 09:00")
    await bot.fires(a_job(MAKE_TEA))
    await bot.settled()

    firing = await bot.firing("abc123")
    assert (firing.state, firing.delivery) == (FiringState.DONE, DeliveryState.FAILED)
    assert firing.delivery_error == "bot was blocked by the user"
    for name in ("abc123", "ghi789"):
        job = await bot.job(name)
        assert (job.state, job.pause) == (JobState.PAUSED, Pause.UNDELIVERABLE)
    assert (await bot.job(elsewhere)).state is JobState.ACTIVE
    assert rows(bot.home, "SELECT count(*) FROM transcript") == [(0,)]


async def test_a_platform_that_has_trouble_gets_it_later(start_bot: StartTimedBot) -> None:
    bot = await start_bot()
    await bot.has(a_job(MAKE_TEA))
    bot.channel.fails("send", ChannelError("busy", retry_after=0.01), times=2)
    bot.at("2026-11-23 09:00")
    await bot.look()

    assert bot.screen == ["⏰ make tea"]
    assert (await bot.firing("abc123")).delivery is DeliveryState.SENT


async def test_in_a_thread_it_is_said_there_and_opens_it_for_talk(start_bot: StartTimedBot) -> None:
    bot = await start_bot("Yes.")
    thread = bot.channel.chat(group="team", thread="t1")
    await bot.has(a_job(MAKE_TEA, chat=thread))
    bot.at("2026-11-23 09:00")
    await bot.look()
    await bot.hears("is it ready?", group="team", thread="t1", addressed=Addressed.AMBIENT)

    assert bot.channel.screen_of(thread) == ["⏰ make tea", "Yes."]
