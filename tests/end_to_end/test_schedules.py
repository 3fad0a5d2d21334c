"""Reports and reminders arrive on time on every emulated platform.

They are proposed, confirmed, run and answered, through restarts, clock changes and users' actions.
"""

import asyncio

import pytest

from parley.testing.emulators.control import Effect, Fault
from tests.emulators.model_script import Answer, ToolUse, calls, says
from tests.end_to_end.jobs import (
    PROPOSED,
    REPORT,
    SECONDS,
    Cast,
    agreed,
    confirmed,
    is_next,
    is_paused,
    is_read,
    proposes,
    tells,
    the_job,
    waits_for_a_yes,
)
from tests.end_to_end.platforms.catalogue import only, where
from tests.end_to_end.platforms.platform import Chat, Person
from tests.end_to_end.stage import Stage

pytestmark = [pytest.mark.quick_clock, where(lambda facts: facts.emulated), pytest.mark.timeout(120)]

SUNDAY, MONDAY = "2026-11-22 18:00", "2026-11-23 09:00:01"
SALES = b"day,sold\nWednesday,120\nThursday,135\nFriday,128\n"
CHART = calls(ToolUse("run_skill_script", {"skill": "chart", "script": "chart.py", "args": ["sales.csv", "sales.png"]}))
SEND = calls(ToolUse("send_file", {"path": "sales.png"}))
NEVER = "never said"


async def planned(stage: Stage, *runs: Answer, then: tuple[Answer, ...] = ()) -> tuple[Cast, Person, Chat]:
    """Start on Sunday evening, and set a report for nine on each weekday, made by these runs."""
    stage.script.respond = cast = Cast(proposes(), says(PROPOSED), *then, runs=runs)
    stage.net.lift_limits()
    stage.set_clock(SUNDAY)
    await stage.start()
    ann, chat = stage.private("Ann")
    await agreed(stage, ann, chat)
    return cast, ann, chat


async def test_a_report_is_agreed_on_comes_in_the_morning_with_a_chart_and_can_be_talked_about(
    own_stage: Stage,
) -> None:
    stage = own_stage
    chat_model = (proposes(skill="chart"), says(PROPOSED), says("Because of Friday."))
    stage.script.respond = cast = Cast(*chat_model, runs=(CHART, SEND, says(REPORT)))
    stage.set_clock(SUNDAY)
    await stage.start()
    ann, chat = stage.private("Ann")

    await chat.says(ann, "send me the sales every weekday at nine", document=("sales.csv", SALES, "text/csv"))
    await chat.until(lambda c: waits_for_a_yes(c) is not None, SECONDS)
    if "run_command" not in stage.model.requests[0].tools:
        pytest.skip("no sandbox here")
    preview = waits_for_a_yes(chat)
    assert preview is not None
    for words in ("weekday", "09:00", "Europe/Paris", "23 Nov", "27 Nov", "the skills chart", "Cost"):
        assert words in preview.shown
    await confirmed(ann, chat)
    stage.clock.move_to(MONDAY)
    await chat.until(tells(REPORT), SECONDS)
    await chat.until(lambda c: len(stage.net.pictures(c)) == 1, SECONDS)
    assert stage.net.pictures(chat)[0].startswith(b"\x89PNG\r\n")
    assert "Report the sales." in cast.asked[0].texts("user")[-1]
    assert not any(PROPOSED in text for text in chat.screen)  # the preview is the answer
    await is_read(stage.program.home)
    await chat.says(ann, "why is it lower?")
    await chat.until(tells("Because of Friday."), SECONDS)
    assert any(REPORT in words for words in stage.model.requests[-1].texts("user"))  # S2-48
    assert stage.said[-1] == "why is it lower?"
    assert cast.is_over


async def test_who_answers_a_report_before_all_of_it_is_there_is_understood(own_stage: Stage) -> None:
    stage = own_stage
    words = "\n\n".join([REPORT, "x" * (stage.platform.facts.longest - 100), "That is all."])
    _, ann, chat = await planned(stage, says(words, chunk=1000), then=(says("Because of Friday."),))

    sending = asyncio.Event()
    last = Fault(stage.net.send, Effect(hold=sending), 1, lambda call: "That is all." in str(call.params))
    stage.net.faults.add(last)
    stage.clock.move_to(MONDAY)
    await stage.net.emulator.wait_for(lambda: stage.net.faults.pending == 0, SECONDS)
    await chat.says(ann, "why is it lower?")
    await stage.heard()
    sending.set()
    await chat.until(tells("Because of Friday."), SECONDS)

    assert any(REPORT in heard for heard in stage.model.requests[-1].texts("user"))  # S2-48


async def test_a_reminder_is_made_by_command_and_says_its_words_without_a_model(own_stage: Stage) -> None:
    stage = own_stage
    stage.set_clock(MONDAY)
    await stage.start()
    ann, chat = stage.private("Ann")

    await chat.says(ann, "/remind in 20m drink some water")
    await chat.until(lambda c: any("I will remind you" in text for text in c.screen), SECONDS)
    stage.clock.move(hours=1 / 3)
    await chat.until(tells("⏰ drink some water"), SECONDS)

    assert stage.model.requests == []


async def test_in_a_group_a_job_is_tried_for_its_author_alone(own_stage: Stage) -> None:
    stage = own_stage
    stage.script.respond = cast = Cast(says("Hello."), runs=(says(REPORT),))
    stage.set_clock(SUNDAY)
    await stage.start()
    ann, private = stage.private("Ann")
    team = await stage.net.room("Team", [ann, stage.net.person("Bob")])

    await private.says(ann, "hello")
    await private.until(tells("Hello."), SECONDS)
    await team.says(ann, "/cron add every weekday 9:00 report the sales")
    await team.until(lambda c: waits_for_a_yes(c) is not None, SECONDS)
    await confirmed(ann, team)
    await team.says(ann, f"/cron test {the_job(team)}")
    await private.until(tells(REPORT), SECONDS)
    await is_read(stage.program.home)

    assert tells(REPORT, 0)(team)
    assert cast.is_over
    await is_next(stage.program.home, "2026-11-23 09:00")


# While the program is down


async def test_down_over_its_time_it_comes_once_and_late(own_stage: Stage) -> None:
    cast, _, chat = await planned(own_stage, says(REPORT))

    await own_stage.program.kill()
    own_stage.clock.move_to("2026-11-23 10:30")
    await own_stage.start()
    await chat.until(tells(REPORT), SECONDS)

    assert cast.is_over
    assert "1.5 h late" in chat.screen[-1]


async def test_down_for_too_long_it_is_skipped_and_said_so(own_stage: Stage) -> None:
    cast, _, chat = await planned(own_stage)

    await own_stage.program.kill()
    own_stage.clock.move_to("2026-11-23 15:00")
    await own_stage.start()
    await chat.until(lambda c: "too late" in c.screen[-1] and "Tue 24 Nov 09:00" in c.screen[-1], SECONDS)

    assert cast.asked == []


async def test_killed_in_the_middle_of_a_run_it_comes_once(own_stage: Stage) -> None:
    held = says(NEVER, hold=asyncio.Event())
    cast, _, chat = await planned(own_stage, calls("list_dir"), held, says(REPORT))

    own_stage.clock.move_to(MONDAY)
    await own_stage.asked(4)
    await own_stage.program.kill()
    await own_stage.start()
    await chat.until(tells(REPORT), SECONDS)

    assert cast.is_over


async def test_killed_while_it_is_sent_it_comes_once(own_stage: Stage) -> None:
    cast, _, chat = await planned(own_stage, says(REPORT))

    fault = Fault(own_stage.net.send, Effect(hold=asyncio.Event()), 1, lambda call: REPORT in str(call.params))
    own_stage.net.faults.add(fault)
    own_stage.clock.move_to(MONDAY)
    await own_stage.net.emulator.wait_for(lambda: own_stage.net.faults.pending == 0, SECONDS)
    await own_stage.program.kill()
    await own_stage.start()
    await chat.until(tells(REPORT), SECONDS)

    assert cast.is_over


@where(lambda facts: facts.knows_resends)
async def test_killed_when_the_platform_had_it_and_nobody_knew_it_comes_once(own_stage: Stage) -> None:
    cast, ann, chat = await planned(own_stage, says(REPORT), then=(says("Welcome."),))

    fault = Fault(own_stage.net.send, Effect(lose_answer=True), None, lambda call: REPORT in str(call.params))
    own_stage.net.faults.add(fault)
    own_stage.clock.move_to(MONDAY)
    await chat.until(tells(REPORT), SECONDS)
    await own_stage.program.kill()
    own_stage.net.faults.clear()
    await own_stage.start()
    await is_next(own_stage.program.home, "2026-11-24 09:00")
    await chat.says(ann, "thanks")
    await chat.until(tells("Welcome."), SECONDS)

    assert tells(REPORT)(chat)
    assert cast.is_over


# Changes of clocks and of permissions


@only("telegram")
async def test_a_clock_that_jumps_a_day_back_and_forth_brings_each_day_once(own_stage: Stage) -> None:
    cast, _, chat = await planned(own_stage, says("Monday."), says("Tuesday."))
    home = own_stage.program.home

    own_stage.clock.move_to(MONDAY)
    await chat.until(tells("Monday."), SECONDS)
    await is_next(home, "2026-11-24 09:00")
    own_stage.clock.move(hours=-24)
    await is_next(home, "2026-11-23 09:00")
    own_stage.clock.move(hours=24)
    await is_next(home, "2026-11-24 09:00")
    own_stage.clock.move(hours=24)
    await chat.until(tells("Tuesday."), SECONDS)

    assert cast.is_over
    assert tells("Monday.")(chat)


@only("telegram")
async def test_a_time_that_the_night_of_the_clock_change_leaves_out_comes_at_the_first_moment_that_is_there(
    own_stage: Stage,
) -> None:
    own_stage.script.respond = Cast(proposes("30 2 * * *", "reminder", "Bread."), says(PROPOSED))
    own_stage.set_clock("2027-03-27 20:00")
    await own_stage.start()
    ann, chat = own_stage.private("Ann")

    await agreed(own_stage, ann, chat, "remind me of the bread at half past two each night")
    own_stage.clock.move_to("2027-03-28 01:59:58")
    await chat.until(tells("⏰ Bread."), SECONDS)
    await is_next(own_stage.program.home, "2027-03-29 02:30")
    own_stage.clock.move_to("2027-03-29 02:30:01")
    await chat.until(tells("⏰ Bread.", 2), SECONDS)


async def test_who_takes_nothing_any_more_is_left_alone(own_stage: Stage) -> None:
    cast, _, chat = await planned(own_stage, says(REPORT))

    await own_stage.net.block(chat)
    own_stage.clock.move_to(MONDAY)
    await is_paused(own_stage.program.home)

    tried = [call for call in own_stage.net.emulator.calls_of(own_stage.net.send) if REPORT in str(call.params)]
    assert len(tried) == 1
    assert cast.is_over
