"""A group that becomes a supergroup stays the group that it was, whatever Telegram tells, and also if Parley dies."""

import asyncio
from collections.abc import Sequence
from typing import Literal

import pytest

from parley.testing.emulators.telegram import TelegramEmulator
from parley.testing.emulators.telegram_chat import Chat
from parley.testing.emulators.telegram_state import Person
from tests.emulators.model_script import says
from tests.end_to_end.platforms.catalogue import only
from tests.end_to_end.stage import Stage, ends_with, has

pytestmark = [only("telegram"), pytest.mark.timeout(120)]

Told = Sequence[Literal["old", "new"]]


async def asks(chat: Chat, person: Person, command: str) -> str:
    """Give a command, and return the answer."""
    seen = len(chat.bot_messages)
    await chat.says(person, f"{command.partition(' ')[0]}@parley_bot {command.partition(' ')[2]}".strip())
    await chat.until(lambda c: len(c.bot_messages) > seen)
    return chat.screen[-1]


async def begun(stage: Stage, telegram: TelegramEmulator) -> tuple[Person, Chat]:
    """Start Parley, and set a limit in a group."""
    ann = telegram.person("Ann", language="en")
    stage.program.set("PARLEY_OWNERS", f"telegram:{ann.id}")
    await stage.start()
    team = telegram.group("Team", [ann], supergroup=False)
    await asks(team, ann, "/budget here 5 USD a day")
    return ann, team


async def is_as_before(stage: Stage, ann: Person, moved: Chat) -> None:
    """Check that the limit and the conversation are those of the group before."""
    assert "5 USD a day" in await asks(moved, ann, "/budget here")
    stage.script.then(says("It is Oslo."))
    await moved.says(ann, "@parley_bot which town was it?")
    await moved.until(ends_with("It is Oslo."))
    assert any("remember the town of Oslo" in words for words in stage.said)


@pytest.mark.parametrize("tells", [("old", "new"), ("new", "old"), ("old",), ("new",), ()], ids=str)
async def test_a_limit_and_the_conversation_go_with_a_group(
    own_stage: Stage, own_telegram: TelegramEmulator, tells: Told
) -> None:
    writing = asyncio.Event()
    ann, team = await begun(own_stage, own_telegram)
    own_stage.script.then(says("Noted.", hold=writing))
    await team.says(ann, "@parley_bot remember the town of Oslo")
    await own_stage.asked(1)

    moved = await team.migrate(tells=tells)
    writing.set()

    await moved.until(has("Noted."))
    await is_as_before(own_stage, ann, moved)
    assert moved.screen.count("Noted.") == 1
    assert "Noted." not in team.screen


@pytest.mark.parametrize("tells", [("old", "new"), ("new", "old"), ("old",), ("new",), ()], ids=str)
async def test_a_group_that_moved_while_parley_was_dead_is_the_same_at_the_next_start(
    own_stage: Stage, own_telegram: TelegramEmulator, tells: Told
) -> None:
    ann, team = await begun(own_stage, own_telegram)
    own_stage.script.then(says("Noted.", hold=asyncio.Event()), says("Noted."))
    await team.says(ann, "@parley_bot remember the town of Oslo")
    await own_stage.asked(1)

    await own_stage.program.kill()
    moved = await team.migrate(tells=tells)
    await own_stage.start()

    await moved.until(has("Noted."))
    await is_as_before(own_stage, ann, moved)
    assert moved.screen.count("Noted.") == 1
