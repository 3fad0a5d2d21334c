"""The command /why on every platform, and its entry in the menus of messages."""

from typing import cast

import pytest

from parley.testing.emulators import discord_chat, discord_state, slack_chat, slack_state
from tests.emulators.model_script import ToolUse, Turn, says
from tests.end_to_end.platforms.catalogue import only, where
from tests.end_to_end.platforms.platform import Chat, Message, Person
from tests.end_to_end.stage import Stage, ends_with, is_answered, shows
from tests.end_to_end.test_early_presses import answered_late

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(120)]


async def test_why_tells_how_the_last_answer_came_about(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    stage.script.then(Turn(tools=(ToolUse("calculator", {"expression": "17*23"}),)), says("It is 391."))

    await chat.says(ann, "what is 17 * 23?")
    await chat.until(lambda c: any(text.endswith("It is 391.") for text in c.screen) and is_answered(c))
    await chat.says(ann, "/why")

    await chat.until(lambda c: "what is 17 * 23?" in c.screen[-1] and "calculator" in c.screen[-1])
    assert "setting" in chat.screen[-1]
    assert ".read" in chat.screen[-1]
    assert "test-model" in chat.screen[-1]


async def asks_why(chat: Chat, person: Person, message: Message) -> None:
    """Choose "Why?" in the menu of a message."""
    if isinstance(chat, slack_chat.Chat):
        await chat.shortcut(cast("slack_state.Person", person), cast("slack_state.Message", message), "command_why")
    else:
        there = cast("discord_chat.Chat", chat)
        await there.chooses(cast("discord_state.Person", person), cast("discord_state.Message", message), "Why?")


@only("slack", "discord")
async def test_why_is_in_the_menu_of_a_message_and_tells_the_person_who_asks(stage: Stage) -> None:
    ann, bob = stage.net.person("Ann"), stage.net.person("Bob")
    room = await stage.net.room("Team", [ann, bob])
    stage.script.then(says("Oslo."), says("Rome."))
    await room.says(ann, "@parley_bot plan a trip")
    await room.until(ends_with("Oslo."))
    oslo = room.bot_messages[-1]
    asked = await room.says(bob, "@parley_bot and another")
    await room.until(ends_with("Rome."))

    await asks_why(room, ann, oslo)
    await room.until(lambda c: "Because Ann wrote" in c.screen[-1] and "plan a trip" in c.screen[-1])
    told = cast("slack_state.Message | discord_state.Message", room.bot_messages[-1])
    assert told.ephemeral_to if isinstance(told, slack_state.Message) else told.ephemeral

    await asks_why(room, bob, asked)
    await room.until(lambda c: "That is not a message of mine." in c.screen[-1])


@where(lambda facts: facts.emulated)
async def test_it_tells_of_the_answer_that_was_seen_last(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    stage.script.then(says("At noon."), says("It is sunny."))
    await chat.says(ann, "when is lunch?")
    await chat.until(shows("At noon."))
    answered = answered_late(stage, "It is sunny.")

    await chat.says(ann, "how is the weather?")
    await chat.until(ends_with("It is sunny."))
    await chat.says(ann, "/why")
    await stage.heard()
    answered.set()

    await chat.until(lambda c: "Because Ann wrote: how is the weather?" in c.screen[-1])


@only("web", "terminal")
async def test_it_names_the_skills_that_were_loaded(stage: Stage) -> None:
    you, chat = stage.private()
    stage.script.then(says("I look for flights."))
    await chat.says(you, "/skill load book-flight")
    await chat.until(lambda c: "book-flight is loaded" in c.screen[-1])
    await chat.says(you, "Where can I fly to from Pirna?")
    await chat.until(lambda c: any(text.endswith("I look for flights.") for text in c.screen) and is_answered(c))

    await chat.says(you, "/why more")

    await chat.until(lambda c: "book-flight" in c.screen[-1] and "Where can I fly to" in c.screen[-1])
    await chat.says(you, "/skill unload book-flight")
    await chat.until(lambda c: "unloaded" in c.screen[-1])


@where(lambda facts: facts.emulated)
@pytest.mark.quick_clock
@pytest.mark.asyncio(loop_scope="function")
async def test_the_calls_of_an_older_answer_are_shown_by_a_button(own_stage: Stage) -> None:
    ann, chat = own_stage.private("Ann")
    await own_stage.start()
    waits = Turn(tools=(ToolUse("wait", {"seconds": 8}),))
    own_stage.script.then(waits, waits, says("Waited."))

    await chat.says(ann, "wait twice")
    await chat.until(lambda c: c.screen[-1] == "Waited." and c.bot_messages[0].button("Details") is not None)
    await chat.presses(ann, "Details")

    await chat.until(lambda c: c.screen[-1].count("seconds: 8") == 2)
    assert "Waited 8 s." in chat.screen[-1]
