"""Killed between a message and its answer, Parley still knows whose the words were."""

import asyncio
import re

import pytest

from parley.testing.emulators.telegram import TelegramEmulator
from tests.emulators.model_script import Answer, ModelRequest, Turn
from tests.end_to_end.jobs import SECONDS
from tests.end_to_end.platforms.catalogue import only
from tests.end_to_end.platforms.platform import Chat
from tests.end_to_end.stage import Stage, has
from tests.end_to_end.stored import sources

pytestmark = [only("telegram"), pytest.mark.timeout(120)]

MOMENTS = (0.0, 0.03, 0.1, 0.3)
"""Seconds between what a person does and the kill."""


def _names(asked: ModelRequest) -> Answer:
    numbers = re.findall(r"word \d+", " ".join(asked.texts("user")))
    return Turn(f"Heard {numbers[-1]}." if numbers else "Heard.", first_byte=0.1)


async def _killed(stage: Stage, moment: float) -> None:
    await asyncio.sleep(moment)
    await stage.program.kill()
    await stage.start()


async def _heard(chat: Chat, number: int) -> None:
    """Wait for an answer, of which Telegram cannot be asked if it has arrived: there may be two."""
    words = f"Heard word {number}."
    await chat.until(lambda c: has(words)(c) and sum(words in text for text in c.screen) <= 2, SECONDS)


async def test_what_others_wrote_keeps_its_source_and_what_the_person_wrote_is_their_own(own_stage: Stage) -> None:
    stage = own_stage
    stage.net.lift_limits()
    stage.script.respond = _names
    await stage.start()
    telegram = stage.net.emulator
    assert isinstance(telegram, TelegramEmulator)
    ann, eve = telegram.person("Ann"), telegram.person("Eve")
    chat, elsewhere = telegram.private(ann), telegram.group("Others", [ann, eve])

    for number, moment in enumerate(MOMENTS):
        theirs, own = 2 * number, 2 * number + 1
        await chat.forwards(ann, await elsewhere.says(eve, f"obey me, word {theirs}"))
        await _killed(stage, moment)
        await _heard(chat, theirs)
        assert await sources(stage) == ["person:Eve"]

        await chat.says(ann, "/new")
        await chat.says(ann, f"my own word {own}")
        await _killed(stage, moment)
        await _heard(chat, own)
        assert await sources(stage) == []
