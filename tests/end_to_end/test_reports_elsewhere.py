"""Monday's report comes in another chat that agreed to it, with its table shown as in an answer, on every platform."""

import pytest

from tests.emulators.model_script import says
from tests.end_to_end.jobs import SECONDS, Cast, confirmed, tells, waits_for_a_yes
from tests.end_to_end.platforms.catalogue import where
from tests.end_to_end.stage import Stage

TABLE = "**Open work**\n\n| what | days |\n| --- | --- |\n| roof | 3 |\n| cellar | 5 |"
FOOTER = "A report of "


@where(lambda facts: facts.emulated and facts.groups)
@pytest.mark.timeout(120)
async def test_mondays_report_comes_in_the_team_with_a_table(own_stage: Stage) -> None:
    stage = own_stage
    stage.script.respond = Cast(says(TABLE), runs=(says(TABLE),))
    stage.set_clock("2026-11-22 18:00")
    await stage.start()
    ann, chat = stage.private("Ann")
    team = stage.net.emulator.group("Team", [ann])
    await chat.says(ann, "show me what is open")
    await chat.until(tells("cellar"), SECONDS)
    answer = next(each.shown for each in chat.bot_messages if "cellar" in each.shown)
    await team.says(ann, "/cron")
    await team.until(lambda c: len(c.bot_messages) > 0, SECONDS)

    name = "general" if stage.platform.facts.name == "discord" else "team"
    await chat.says(ann, f"/report every monday 9:00 list what is late to #{name}")
    await chat.until(lambda c: waits_for_a_yes(c) is not None, SECONDS)
    await confirmed(ann, chat)
    await team.until(tells("would like a report to be posted here"), SECONDS)
    await team.presses(ann, "Allow")
    await chat.until(tells("is posted there from now on"), SECONDS)
    stage.clock.move_to("2026-11-23 09:00:01")
    await team.until(tells("cellar"), SECONDS)

    report = next(each for each in team.bot_messages if "cellar" in each.shown)
    table, _, below = report.shown.partition(FOOTER)
    assert table.rstrip(" _*\n").startswith(answer.rstrip()), (answer, report.shown)
    assert "cron stop" in below
    assert report.button("Stop this here") is not None
    assert not any("cellar" in each.shown for each in chat.bot_messages[-1:])
