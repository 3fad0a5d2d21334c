"""Menus and forms on Discord, through the whole program."""

from typing import cast

import pytest

from parley.testing.emulators.control import Effect, Fault
from parley.testing.emulators.discord import DiscordEmulator
from parley.testing.emulators.discord_chat import Chat
from parley.testing.emulators.discord_state import Person
from tests.emulators.model_script import ToolUse, calls, says
from tests.end_to_end.platforms.catalogue import only
from tests.end_to_end.stage import Stage, ends_with

pytestmark = [only("discord"), pytest.mark.asyncio(loop_scope="module")]


async def test_a_conversation_is_chosen_from_the_menu_of_those_in_a_server(
    stage: Stage, discord: DiscordEmulator
) -> None:
    ann = discord.person("Ann")
    team = discord.group("Team", [ann])
    stage.script.then(says("Noted."), says("Fine."))
    await team.says(ann, "@parley_bot plan the trip")
    await team.until(ends_with("Noted."))
    await team.says(ann, "/new")
    await team.until(lambda c: len(c.screen) == 2)
    await team.says(ann, "@parley_bot plan the party")
    await team.until(ends_with("Fine."))

    await team.says(ann, "/sessions")
    await team.until(lambda c: bool(c.bot_messages[-1].menus))
    assert team.bot_messages[-1].buttons == []
    press = await team.picks(ann, "plan the trip")
    await team.until(lambda c: c.screen[-1].startswith("Back in plan the trip."))
    await team.until(lambda _: press.answered)
    assert discord.violations == []


async def test_a_reminder_is_set_by_the_form_and_once(stage: Stage, discord: DiscordEmulator) -> None:
    ann, chat = cast("tuple[Person, Chat]", stage.private("Ann"))
    await chat.says(ann, "/remind")
    await chat.until(lambda c: bool(c.channel.forms))
    form = chat.form(ann)
    discord.faults.add(Fault("POST interaction", Effect(status=400), 1))
    await chat.submits(ann, form, {"Time": "tomorrow at 9", "Text": "call Ann"})
    await chat.until(lambda c: any("call Ann" in text for text in c.screen))
    await chat.submits(ann, chat.form(ann), {"Time": "tomorrow at 9", "Text": "call Ann"})
    await discord.wait_for(lambda: not form.is_open)

    await chat.says(ann, "/cron")
    await chat.until(lambda c: "call Ann" in c.screen[-1] and len(c.screen) == 2)
    assert chat.screen[-1].count("call Ann") == 1


async def test_a_question_is_answered_in_ones_own_words_by_a_form(stage: Stage) -> None:
    ann, chat = cast("tuple[Person, Chat]", stage.private("Ann"))
    asks = calls(ToolUse("ask_user", {"question": "Which colour?", "choices": ["Blue", "Red"]}))
    stage.script.then(asks, says("Green it is."))
    await chat.says(ann, "paint it")
    await chat.until(lambda c: any("Which colour?" in text for text in c.screen))
    await chat.presses(ann, "In my own words …")
    await chat.until(lambda c: bool(c.channel.forms))
    await chat.submits(ann, chat.form(ann), {"Text": "green with dots"})

    await chat.until(ends_with("Green it is."))
    assert any("green with dots" in text for text in chat.screen)
