"""Menus on Discord, through the whole program."""

import pytest

from parley.testing.emulators.discord import DiscordEmulator
from tests.emulators.model_script import says
from tests.end_to_end.platforms.catalogue import only
from tests.end_to_end.stage import Stage

pytestmark = [only("discord"), pytest.mark.asyncio(loop_scope="module")]


async def test_a_conversation_is_chosen_from_the_menu_of_those_in_a_server(
    stage: Stage, discord: DiscordEmulator
) -> None:
    ann = discord.person("Ann")
    team = discord.group("Team", [ann])
    stage.script.then(says("Noted."), says("Fine."))
    await team.says(ann, "@parley_bot plan the trip")
    await team.until(lambda c: c.screen[-1] == "Noted.")
    await team.says(ann, "/new")
    await team.until(lambda c: len(c.screen) == 2)
    await team.says(ann, "@parley_bot plan the party")
    await team.until(lambda c: c.screen[-1] == "Fine.")

    await team.says(ann, "/sessions")
    await team.until(lambda c: bool(c.bot_messages[-1].menus))
    assert team.bot_messages[-1].buttons == []
    press = await team.picks(ann, "plan the trip")
    await team.until(lambda c: c.screen[-1].startswith("Back in plan the trip."))
    assert press.answered
    assert discord.violations == []
