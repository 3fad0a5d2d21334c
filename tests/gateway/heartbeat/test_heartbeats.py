"""Check-ins over several days: when they run, what they say, and when they stay silent."""

import asyncio
from dataclasses import replace
from datetime import datetime

import pytest

from agent_core.messages import text_of
from agent_core.models.llm import FailureKind
from agent_core.models.scripted import Failure, Waits, calls
from channels.base import ChannelError
from channels.memory import NO_PACE, MemoryChannel
from gateway.schedule.heartbeat.check_in import BUDGET, TOOLS
from gateway.schedule.heartbeat.gates import MOST_TOKENS
from gateway.schedule.heartbeat.greeting import AROUND, planned
from gateway.schedule.times.quiet import QuietHours
from gateway.settings.budgets import BudgetSettings
from gateway.store.job import DeliveryState, FiringState, JobState, Pause, Report
from gateway.store.rule import Once
from gateway.texts.say import say
from tests.gateway.heartbeat.beating import HALF_AN_HOUR, NOTHING, Beating, clocks
from tests.gateway.heartbeat.conftest import StartBeating
from tests.gateway.jobs.kit import ANN, PARIS, Calendar, a_job, moment

DRY = "The plants are dry."
GONE = ChannelError("the platform says no", permanent=True)


def told(bot: Beating, number: int = -1) -> str:
    """Return the last message of the model's newest request."""
    return text_of(bot.llm.requests[number].messages[-1].content)


# Check-ins that need no model


async def test_a_whole_day_without_a_list_asks_no_model(start_beating: StartBeating) -> None:
    bot = await start_beating()
    await bot.hears("/heartbeat on")
    await bot.presses("Without a list")
    bot.writes("# To look after\n<!-- nothing yet -->\n- [x] done\n- [ ]\n")
    await bot.hears("/heartbeat quiet off")

    for _ in range(7):
        await bot.goes_by(3.5)
        assert await bot.outcome() == "heartbeat_nothing"
        await bot.hears("/heartbeat")  # a message from her, so that no greeting is due

    assert (bot.asked, bot.ticks) == (0, 0)


async def test_in_two_days_of_nothing_only_greetings_ask_a_model(start_beating: StartBeating) -> None:
    bot = await start_beating(*["Good day!", "Hello!", "Good evening!", "How do you do?"])
    await bot.hears("/heartbeat on")
    await bot.presses("Without a list")

    await bot.goes_by(48)

    assert bot.asked == bot.ticks <= 4


# The checklist


async def test_what_needs_her_is_said_and_explained_once(wired_looking: StartBeating) -> None:
    bot = await wired_looking(DRY, "The plants are very dry.")
    await bot.goes_by(0.5)

    assert bot.asked == 1
    assert "Water the plants" in told(bot)
    assert bot.screen[-1].startswith(f"{DRY}\n\n*(I write unasked only when")
    assert await bot.outcome() == "heartbeat_spoke"

    await bot.goes_by(0.5)
    assert bot.screen[-1] == "The plants are very dry."


async def test_nothing_to_report_says_nothing(wired_looking: StartBeating) -> None:
    bot = await wired_looking(NOTHING)
    shown = list(bot.screen)
    await bot.goes_by(0.5)

    assert bot.asked == 1
    assert bot.screen == shown
    assert await bot.outcome() == "heartbeat_all_well"
    [look] = await bot.looks()
    assert (look.state, look.delivery) == (FiringState.NOTHING, DeliveryState.NONE)


@pytest.mark.parametrize(
    "text",
    ["Nothing to report.", "nothing_to_report(why='all well')", "`NO_REPLY`", "HEARTBEAT_OK", "没有需要报告的。"],
)
async def test_nothing_to_report_in_so_many_words_is_nothing_too(start_looking: StartBeating, text: str) -> None:
    bot = await start_looking(text)
    shown = list(bot.screen)
    await bot.goes_by(0.5)

    assert bot.screen == shown
    assert await bot.outcome() == "heartbeat_all_well"


async def test_who_was_let_in_again_is_looked_after_again(start_looking: StartBeating) -> None:
    bot = await start_looking("Hello.", "Hello.", NOTHING)
    job = await bot.its_job()
    sent_away = a_job("eat", name="def456", person="eve", state=JobState.PAUSED, pause=Pause.NOT_ALLOWED)
    await bot.has(sent_away)
    await bot.store.jobs.change(job.id, lambda found: replace(found, state=JobState.PAUSED, pause=Pause.NOT_ALLOWED))
    await bot.hears("here I am again")

    assert (await bot.its_job()).state is JobState.ACTIVE
    assert (await bot.job(sent_away)).state is JobState.PAUSED


async def test_the_same_words_are_not_said_twice_in_a_day(wired_looking: StartBeating) -> None:
    bot = await wired_looking(DRY, "the PLANTS are dry")
    await bot.goes_by(1)

    assert bot.asked == 2
    assert "Do not repeat it" in told(bot)
    assert DRY in told(bot)
    assert [look.state for look in await bot.looks()] == [FiringState.DONE, FiringState.NOTHING]


async def test_at_most_two_messages_a_day_and_a_restart_keeps_count(wired_looking: StartBeating) -> None:  # S2-46
    bot = await wired_looking("One.", "Two.", "Three.")
    await bot.goes_by(0.5)
    await bot.restart()
    await bot.goes_by(0.5)
    await bot.restart()
    await bot.goes_by(8)

    assert bot.asked == 2
    assert await bot.outcome() == "heartbeat_said_enough"

    await bot.until("2026-11-24 08:00")
    assert bot.asked == 3


async def test_what_could_not_be_delivered_is_not_counted(start_looking: StartBeating) -> None:  # S2-46
    bot = await start_looking("One.", "Two.", "Three.")
    bot.channel.fails("send", GONE)
    await bot.goes_by(0.5)
    [look] = await bot.looks()

    assert look.delivery is DeliveryState.FAILED
    await bot.hears("/heartbeat")
    assert "0 of at most 2" in bot.screen[-1]
    assert "**Heartbeat:** off" in bot.screen[-1]  # a user who blocks Parley gets no more check-ins
    await bot.presses("Switch on")
    await bot.goes_by(0.5)
    assert bot.screen[-1].startswith("Two.")


async def test_who_writes_again_is_looked_after_again(start_looking: StartBeating) -> None:
    bot = await start_looking("One.", "Hello.", "Two.")
    reminder = a_job("Call the bank", Once(at=moment("2026-11-23 09:00")))
    report = a_job(Report(instructions="Tell what is new"), name="def456")
    await bot.has(reminder, report)
    bot.channel.fails("send", GONE)
    await bot.goes_by(2)
    assert (await bot.its_job()).pause is Pause.UNDELIVERABLE

    await bot.hears("here I am again")
    assert (await bot.its_job()).state is (await bot.job(report)).state is JobState.ACTIVE
    await bot.look()
    assert bot.screen[-1].startswith("⏰ Call the bank")  # late, as after a night in which the program was down
    await bot.goes_by(0.5)
    assert bot.screen[-1].startswith("Two.")


async def test_a_day_s_looks_cost_so_much_and_no_more(start_looking: StartBeating) -> None:
    reads = calls(("read_file", {"path": "HEARTBEAT.md"}), text="a " * 12_000)
    bot = await start_looking(*[reads, NOTHING] * 60, budgets=BudgetSettings(unknown_price=0.01))
    await bot.until("2026-11-23 20:30")
    assert await bot.outcome() == "heartbeat_used_enough"
    used = sum(look.tokens for look in await bot.looks())
    assert MOST_TOKENS <= used <= MOST_TOKENS + 2 * (BUDGET.max_tokens or 0)

    asked = bot.asked
    await bot.until("2026-11-24 08:00")
    assert bot.asked > asked


async def test_what_cannot_be_read_is_left_alone(start_looking: StartBeating) -> None:
    bot = await start_looking()
    bot.writes("x" * 20_000)
    await bot.goes_by(0.5)

    assert (bot.asked, bot.ticks) == (0, 0)
    assert await bot.outcome() == "heartbeat_unreadable"


# Ending by itself


async def test_after_three_failures_it_stops_and_says_so_once(start_looking: StartBeating) -> None:
    bot = await start_looking(*[Failure(FailureKind.FATAL, "no such model")] * 9)
    await bot.goes_by(6)

    assert len(await bot.looks()) == 3
    assert [text for text in bot.screen if "so I have stopped it" in text] == [bot.screen[-1]]
    beats, job = await bot.beats(), await bot.its_job()
    assert (beats.on, beats.failures, job.pause) == (False, 3, Pause.FAILURES)
    await bot.hears("/heartbeat")
    assert "I stopped after repeated failures" in bot.screen[-1]


async def test_switched_on_again_it_has_three_new_tries(start_looking: StartBeating) -> None:
    bot = await start_looking(*[Failure(FailureKind.FATAL, "no such model")] * 4, NOTHING)
    await bot.goes_by(6)
    await bot.hears("/heartbeat on")
    await bot.goes_by(1)

    beats = await bot.beats()
    assert (beats.on, beats.failures, beats.last_outcome) == (True, 0, "heartbeat_all_well")


async def test_who_looks_by_hand_after_it_has_stopped_is_not_told_again(start_looking: StartBeating) -> None:
    clock = Calendar()
    channel = MemoryChannel(limits=NO_PACE, keeps_keys=False, now=clock.time)
    failures = [Failure(FailureKind.FATAL, "no such model")] * 3
    bot = await start_looking(*failures, DRY, clock=clock, channel=channel)
    await bot.goes_by(2)
    await bot.hears("/heartbeat now")

    assert DRY in bot.screen[-2:]
    assert len([text for text in bot.screen if "so I have stopped it" in text]) == 1


async def test_switched_off_during_its_third_failure_it_says_no_more(start_looking: StartBeating) -> None:
    looking = Waits(asyncio.Event(), Failure(FailureKind.FATAL, "no such model"))
    bot = await start_looking(*[Failure(FailureKind.FATAL, "no such model")] * 2, looking)
    await bot.goes_by(1)
    bot.calendar.advance(HALF_AN_HOUR)
    await bot.made.serving.scheduler.tick()
    await looking.reached.wait()
    await bot.channel.hears("/heartbeat off")
    await bot.channel.until(lambda: "is off" in bot.screen[-1])
    looking.event.set()
    await bot.settled()

    assert "is off" in bot.screen[-1]
    assert (await bot.its_job()).pause is Pause.PERSON


async def test_a_look_that_never_comes_to_an_end_has_failed_and_says_nothing(start_looking: StartBeating) -> None:
    bot = await start_looking(*[calls(("clock", {}))] * 20)
    shown = list(bot.screen)
    await bot.goes_by(0.5)

    [look] = await bot.looks()
    assert look.state is FiringState.FAILED
    assert bot.asked <= 6
    assert bot.screen == shown


async def test_after_a_week_without_a_word_it_stops_and_says_so_once(start_looking: StartBeating) -> None:
    bot = await start_looking(*[NOTHING] * 20)
    bot.writes("")
    shown = list(bot.screen)
    await bot.goes_by(9 * 24)

    assert bot.screen == [*shown, say("heartbeat_stopped_silence", "en", days=7, slash="/")]
    assert (await bot.its_job()).pause is Pause.SILENCE
    assert (await bot.looks())[-1].due < moment("2026-11-30 08:30")
    await bot.hears("/heartbeat")
    assert "I stopped because you had not written for a long time" in bot.screen[-1]


# Reasons beyond the checklist


async def test_a_reminder_that_is_overdue_is_looked_at_once_and_again_after_a_day(start_beating: StartBeating) -> None:
    bot = await start_beating(*["Call the bank!", "Did you call the bank?", "Hello!", "Good day!"])
    await bot.hears("/heartbeat on")
    await bot.presses("Without a list")
    bot.writes("# Reminders\n- [ ] 2026-11-23 09:15 Call the bank\n", "reminders.md")

    await bot.until("2026-11-23 11:30")

    assert bot.asked == 1
    assert "reminder for 2026-11-23 09:15: Call the bank" in told(bot)
    assert bot.screen[-1].startswith("Call the bank!")
    assert clocks(await bot.looks()) == ["09:30"]


# Check-ins in the conversation


async def test_her_answer_finds_what_was_said(wired_looking: StartBeating) -> None:  # S2-48
    bot = await wired_looking(DRY, "Since Sunday.")
    await bot.goes_by(0.5)
    await bot.hears("since when?")

    assert any(DRY in text_of(message.content) for message in bot.llm.requests[-1].messages)


async def test_the_run_of_a_look_has_few_tools_and_none_that_acts(wired_looking: StartBeating) -> None:  # S2-47
    bot = await wired_looking(NOTHING)
    await bot.goes_by(0.5)

    names = {tool.name for tool in bot.llm.requests[0].tools}
    assert "nothing_to_report" in names
    assert names <= TOOLS


async def test_in_chinese(start_beating: StartBeating) -> None:
    bot = await start_beating("植物干了。")
    bot.writes("- [ ] 给植物浇水")
    await bot.hears("/heartbeat on", language="zh-hans")
    await bot.goes_by(0.5)

    assert "in Chinese" in told(bot)
    assert bot.screen[-1].startswith("植物干了。\n\n*（只有觉得")


# Greetings


async def test_whoever_is_silent_for_hours_is_greeted_once_in_short_at_a_planned_moment(
    wired_beating: StartBeating,
) -> None:
    greetings = [f"Hello number {number}! How has your day been so far, my dear old friend?" for number in range(9)]
    bot = await wired_beating(*greetings)
    await bot.hears("/heartbeat on")
    await bot.presses("Without a list")
    shown = len(bot.screen)
    await bot.until("2026-11-25 20:59:59")
    assert bot.asked == bot.ticks == len(await bot.looks()) == 1
    assert bot.screen[shown].startswith("Hello number 0!")

    await bot.hears("/heartbeat")  # a message from her
    await bot.until("2026-11-27 20:59:59")

    looks = await bot.looks()
    assert bot.asked == bot.ticks == len(looks) == 2  # S2-46
    assert bot.screen[-1] == "Hello number 1!"
    for look in looks:
        plan = planned(ANN, datetime.fromtimestamp(look.due, PARIS).date(), PARIS, QuietHours(21 * 60, 8 * 60), 2)
        assert any(abs(look.due - at) <= AROUND for at in plan)


async def test_greetings_share_the_number_a_day_and_the_switches(wired_looking: StartBeating) -> None:  # D-16
    bot = await wired_looking("One.", "Two.", "Good day!")
    await bot.goes_by(1)
    bot.writes("")
    await bot.hears("/heartbeat")  # a message from her: from now on she may be greeted again
    await bot.until("2026-11-23 20:59")
    assert bot.asked == 2

    await bot.until("2026-11-24 20:59")
    assert bot.asked == 3

    await bot.hears("/heartbeat off")
    await bot.until("2026-11-25 20:59")
    assert bot.asked == 3


async def test_a_group_is_not_greeted(start_beating: StartBeating) -> None:
    bot = await start_beating()
    await bot.hears("/heartbeat on", group="team")
    await bot.presses("Without a list")
    await bot.goes_by(48)

    assert (bot.asked, bot.ticks) == (0, 0)
