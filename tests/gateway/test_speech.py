"""/voice: answers that are spoken as well."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent_core.models.audio import AudioServer
from gateway.chat.speech import spoken
from tests.emulators.audio import AudioEmulator
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot


@pytest.fixture
async def audio() -> AsyncIterator[AudioEmulator]:
    async with AudioEmulator() as audio:
        yield audio


def sent(bot: Bot) -> list[str]:
    """Return the names of all files that were sent."""
    return [file.name for _, message in bot.channel.posts for file in message.attachments]


async def test_answers_are_spoken_where_a_chat_asks_for_it(start_bot: StartBot, audio: AudioEmulator) -> None:
    bot = await start_bot("One.", "It is **noon**.", "Three.", speech=AudioServer(audio.base_url, "tts-1"))
    await bot.hears("hello")
    assert sent(bot) == []

    await bot.hears("/voice on")
    assert bot.screen[-1].startswith("Answers here are spoken as well")
    await bot.restart()
    await bot.hears("what time is it?")
    assert sent(bot) == ["answer.mp3"]
    [call] = audio.calls
    assert call.params["input"] == "It is noon."
    [file] = bot.channel.posts[-1][1].attachments
    assert (await asyncio.to_thread(Path(file.path).read_bytes)).startswith(b"ID3")

    await bot.hears("/voice off")
    await bot.hears("and now?")
    assert sent(bot) == ["answer.mp3"]


async def test_a_server_that_fails_leaves_the_text(start_bot: StartBot, audio: AudioEmulator) -> None:
    bot = await start_bot("One.", speech=AudioServer(audio.base_url, "tts-1"))
    audio.faults.fail("speak", times=None)
    await bot.hears("/voice on")

    await bot.hears("hello")

    assert bot.screen[-1] == "One."
    assert sent(bot) == []


async def test_it_says_what_is_missing_and_who_may_switch_it(start_bot: StartBot, audio: AudioEmulator) -> None:
    bot = await start_bot()
    await bot.hears("/voice on")
    assert "set `PARLEY_SPEECH`" in bot.screen[-1]
    await bot.hears("/voice on", sender="bob")
    assert bot.screen[-1] == "Answers cannot be spoken here."


async def test_in_groups_owners_and_admins_decide(start_bot: StartBot, audio: AudioEmulator) -> None:
    bot = await start_bot(speech=AudioServer(audio.base_url, "tts-1"))

    await bot.hears("/voice on", sender="bob", group="team")
    assert bot.screen[-1] == "In groups only owners and admins can switch this."
    await bot.hears("/voice loud")
    assert bot.screen[-1] == "Use `/voice on` or `/voice off`."
    await bot.hears("/voice")
    assert bot.screen[-1] == "Answers here are not spoken. `/voice on` changes that."


@pytest.mark.parametrize(
    ("markdown", "words"),
    [
        ("# Title\n\n> *quoted* [link](https://x.example)", "Title quoted link"),
        ("Run:\n```sh\nrm -rf\n```\nDone.", "Run: Done."),
        ("```\nonly code", ""),
    ],
)
def test_marks_and_code_are_not_spoken(markdown: str, words: str) -> None:
    assert spoken(markdown) == words
