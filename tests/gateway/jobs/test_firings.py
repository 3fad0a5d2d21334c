"""A due job is announced once, on time, and the chat's agent knows of it."""

import asyncio

import pytest

from agent_core.messages import text_of
from agent_core.models.scripted import calls
from agent_core.origin import NOT_KNOWN
from agent_core.tools.tool import tool
from channels.base import Accepted, Addressed, ChannelError
from gateway.store.job import DeliveryState, FiringState, JobState, Pause, Report
from gateway.store.rule import Once
from tests.gateway.approving import CHART, acting
from tests.gateway.jobs.conftest import StartTimedBot
from tests.gateway.jobs.kit import TEAM, a_job, moment, seen
from tests.gateway.tasking import rows

MAKE_TEA = "make tea"
SALES = Report(instructions="Report yesterday's sales.")


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


async def test_the_next_answer_of_the_model_knows_of_it(wired_bot: StartTimedBot) -> None:  # S2-48
    bot = await wired_bot("Enjoy it.")
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
        ("2026-11-23 12:10", "3.2 h late"),
        ("2026-11-25 09:00", "2 days late"),
        ("2027-03-23 09:00", "120 days late"),
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
    await bot.made.serving.scheduler.tick()
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


# Untrusted input and absent users


async def test_words_of_strangers_in_the_talk_it_comes_from_are_marked(start_bot: StartTimedBot) -> None:
    bot = await start_bot("Sales: 42.", "Yes.")
    await bot.has(a_job(SALES, origin=NOT_KNOWN))
    bot.at("2026-11-23 09:00")
    await bot.look()
    await bot.hears("thanks")

    assert (await bot.firing("abc123")).origin.is_data
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


# Failures of the platform


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


async def test_what_arrived_in_part_is_known_to_the_chat_s_agent(start_bot: StartTimedBot) -> None:
    bot = await start_bot("Yes.")
    await bot.has(a_job("tea " * 1_500))
    bot.channel.fails("send", ChannelError("no", permanent=True))
    bot.at("2026-11-23 09:00")
    await bot.look()

    assert (await bot.firing("abc123")).delivery is DeliveryState.FAILED
    assert len(bot.screen) == 1
    await bot.hears("tea?")
    assert "a reminder (abc123)" in seen(bot.llm.requests[-1])


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


async def test_the_metrics_say_how_jobs_went_and_how_late_they_were(start_bot: StartTimedBot) -> None:
    bot = await start_bot()
    await bot.has(a_job(MAKE_TEA))
    bot.at("2026-11-23 09:02")
    await bot.look()

    tally = bot.made.chats.firings.tally
    assert dict(tally.runs) == {"done": 1}
    assert dict(tally.lateness.cumulative())["60.0"] == 0
    assert dict(tally.lateness.cumulative())["300.0"] == 1
