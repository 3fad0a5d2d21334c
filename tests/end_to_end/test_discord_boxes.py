"""Answers with tables on Discord, which come in a box: while they stream, and when Parley is killed meanwhile."""

import asyncio
import random
from functools import partial
from typing import cast

import pytest

from parley.testing.emulators.control import Effect, Fault
from parley.testing.emulators.discord import DiscordEmulator
from parley.testing.emulators.discord_chat import Chat
from parley.testing.emulators.discord_state import Person
from tests.emulators.model_script import Answer, ModelRequest, says
from tests.end_to_end.platforms.catalogue import only
from tests.end_to_end.stage import Stage, ends_with

pytestmark = [only("discord"), pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(180)]

CHANCE = 7
TABLE = "| Item | Price |\n|---|---|\n| Tea | 3 |\n| Cake | 12 |"
SHOWN = "Item  Price\n────  ─────\nTea   3\nCake  12"


def private(stage: Stage, name: str) -> tuple[Person, Chat]:
    return cast("tuple[Person, Chat]", stage.private(name))


def has_table(chat: Chat, number: int) -> bool:
    return any(f"prices {number}:" in text and SHOWN in text for text in chat.screen)


async def test_a_table_whose_confirmation_was_cut_off_by_a_kill_is_there_once(
    stage: Stage, discord: DiscordEmulator
) -> None:
    ann, chat = private(stage, "Ann")
    stage.script.then(says(f"Prices:\n\n{TABLE}"))
    late = asyncio.Event()
    stage.net.faults.add(Fault("*", Effect(answer_late=late), 1, stage.net.finishes("Cake")))
    await chat.says(ann, "prices?")
    await chat.until(lambda c: any(SHOWN in text for text in c.screen))
    await stage.program.kill()
    late.set()
    discord.forget_nonces()
    await stage.start()
    stage.script.then(says("You are welcome."))
    await chat.says(ann, "thanks")
    await chat.until(ends_with("You are welcome."))

    assert [text.count(SHOWN) for text in chat.screen] == [1, 0]
    assert chat.bot_messages[0].has_layout


async def test_tables_of_many_chats_survive_kills(stage: Stage, discord: DiscordEmulator) -> None:
    stage.net.lift_limits()
    chance = random.Random(CHANCE)  # noqa: S311

    def table(asked: ModelRequest) -> Answer:
        return says(f"{asked.last_text.rpartition(chr(10))[2]}:\n\n{TABLE}")

    stage.script.respond = table
    people = [private(stage, f"Person {number}") for number in range(24)]
    for number, (person, chat) in enumerate(people):
        await chat.says(person, f"prices {number}")
        if number % 6 == 5:
            await people[chance.randrange(number - 4, number + 1)][1].until(lambda c: bool(c.screen))
            await stage.program.kill()
            await stage.start()

    for number, (_, chat) in enumerate(people):
        await chat.until(partial(has_table, number=number))
        assert [text.count(SHOWN) for text in chat.screen if SHOWN in text] == [1]
    assert discord.violations == []
