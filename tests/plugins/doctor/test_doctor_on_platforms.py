"""/doctor tries a chat of each platform, and names what the platform refuses and where to repair it."""

from typing import cast

import pytest

from parley.testing.emulators import discord_chat, telegram_chat
from parley.testing.emulators.slack import SlackEmulator
from tests.end_to_end.platforms.catalogue import only
from tests.end_to_end.platforms.platform import Chat, Person
from tests.end_to_end.stage import Stage

pytestmark = pytest.mark.timeout(120)


async def with_owner(stage: Stage) -> tuple[Person, Chat]:
    ann, chat = stage.private("Ann")
    stage.program.set("PARLEY_OWNERS", f"{stage.platform.facts.name}:{ann.id}")
    await stage.start()
    return ann, chat


@only("telegram", "slack", "discord")
async def test_a_chat_where_nothing_is_missing_shows_the_answer_alone(own_stage: Stage) -> None:
    stage = own_stage
    ann, chat = await with_owner(stage)

    await chat.says(ann, "/doctor")
    await chat.until(lambda c: len(c.screen) == 1 and "Nothing is missing here." in c.screen[0])

    assert "✗" not in chat.screen[0]


@only("slack")
async def test_a_missing_scope_is_named_with_the_place_to_add_it(own_stage: Stage) -> None:
    stage = own_stage
    ann, chat = await with_owner(stage)
    emulator = stage.net.emulator
    assert isinstance(emulator, SlackEmulator)
    emulator.scopes.discard("files:write")

    await chat.says(ann, "/doctor")
    await chat.until(lambda c: len(c.screen) == 1 and "Repair what is marked" in c.screen[0])

    assert "it lacks the scope files:write; add it at" in chat.screen[0]
    assert "OAuth & Permissions" in chat.screen[0]


def forbid_reactions(stage: Stage, team: Chat) -> str:
    """Forbid reactions as the platform's admins do. Return what tells them where to allow them again."""
    emulator = stage.net.emulator
    match stage.platform.facts.name:
        case "slack":
            assert isinstance(emulator, SlackEmulator)
            emulator.scopes.discard("reactions:write")
            return "it lacks the scope reactions:write; add it at"
        case "discord":
            cast("discord_chat.Chat", team).denies("ADD_REACTIONS")
            return "give its role Add Reactions, Read Message History there"
        case _:
            cast("telegram_chat.Chat", team).forbid_reactions()
            return "an admin of it can allow it: the group's settings, Reactions"


@only("telegram", "slack", "discord")
async def test_a_forbidden_reaction_is_named_with_the_place_to_allow_it(own_stage: Stage) -> None:
    stage = own_stage
    ann, _ = await with_owner(stage)
    team = await stage.net.room("Team", [ann])
    await team.says(ann, "/doctor")
    await team.until(lambda c: len(c.screen) == 1 and "Nothing is missing here." in c.screen[0])
    assert "✓ react to a message" in team.screen[0]

    advice = forbid_reactions(stage, team)
    await team.says(ann, "/doctor")
    await team.until(lambda c: len(c.screen) == 2 and "Repair what is marked" in c.screen[-1])

    assert "✗ react to a message" in team.screen[-1]
    assert advice in team.screen[-1]
