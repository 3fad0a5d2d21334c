"""Whoever has left a group posts there no more by what they have planned, on every platform."""

from typing import Protocol, cast

import pytest

from tests.emulators.model_script import says
from tests.end_to_end.jobs import REPORT, SECONDS, Cast, confirmed, is_next, tells, waits_for_a_yes
from tests.end_to_end.platforms.catalogue import where
from tests.end_to_end.platforms.platform import Person
from tests.end_to_end.stage import Stage


class IsLeft(Protocol):
    async def leaves(self, person: Person) -> None: ...


@where(lambda facts: facts.emulated and facts.groups)
@pytest.mark.timeout(120)
async def test_the_report_of_somebody_who_has_left_the_group_is_paused_when_it_is_due(own_stage: Stage) -> None:
    stage = own_stage
    stage.script.respond = Cast(runs=(says(REPORT), says(REPORT)))
    stage.set_clock("2026-11-22 18:00")
    await stage.start()
    ann, bob = stage.net.person("Ann"), stage.net.person("Bob")
    team = stage.net.emulator.group("Team", [ann, bob])
    await team.says(bob, "/cron add every weekday 9:00 report the sales")
    await team.until(lambda c: waits_for_a_yes(c) is not None, SECONDS)
    await confirmed(bob, team)
    stage.clock.move_to("2026-11-23 09:00:01")
    await team.until(tells(REPORT), SECONDS)
    await is_next(stage.program.home, "2026-11-24 09:00")
    posts = len(team.bot_messages)

    await cast("IsLeft", team).leaves(bob)
    stage.clock.move_to("2026-11-24 09:00:01")

    await team.until(tells("its person may not have jobs here any more"), SECONDS)
    assert not any(REPORT in each.shown for each in team.bot_messages[posts:])
