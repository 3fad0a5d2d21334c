"""An answer that its group refuses for good, as a bot without the right to write there, reaches who asked."""

import asyncio

import pytest

from parley.testing.emulators.control import Effect, Fault
from tests.emulators.model_script import says
from tests.end_to_end.platforms.catalogue import where
from tests.end_to_end.stage import Stage, has, shows

pytestmark = [pytest.mark.quick_clock, pytest.mark.asyncio(loop_scope="module")]
LOST = "I'm not sure my last answer reached you."


@where(lambda facts: facts.emulated and facts.groups and facts.name in ("telegram", "discord"))
async def test_who_asked_reads_it_in_private_and_the_group_is_offered_it_later(stage: Stage) -> None:
    bob, alone = stage.private("Bob")
    stage.script.then(says("Hello Bob."))
    await alone.says(bob, "hello")
    await alone.until(shows("Hello Bob."))
    team = await stage.net.room("Team", [bob])
    begun = asyncio.Event()
    stage.script.then(says("At noon.", hold=begun), says("Yes."))

    await team.says(bob, "@parley_bot when is lunch?")
    stage.net.faults.add(Fault(stage.net.send, Effect(status=403), None, stage.net.is_in(team)))
    begun.set()
    await alone.until(has("At noon."))
    assert any("My answer could not be posted where you asked" in text for text in alone.screen)
    assert team.screen == []

    stage.net.faults.clear()
    await team.says(bob, "@parley_bot are you back?")
    await team.until(has("Yes."))
    await team.until(lambda c: any(LOST in text for text in c.screen))
