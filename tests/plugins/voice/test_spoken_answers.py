"""/voice: answers that are spoken as well."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent_core.models.scripted import SCRIPTED_MODEL
from channels.base import ChannelError
from channels.memory import NO_PACE, MemoryChannel
from gateway.plugins.voice.speaker import spoken
from gateway.texts.amounts import USD
from tests.gateway.bot import Bot, BotOptions
from tests.gateway.conftest import StartBot
from tests.gateway.spending_sequences import copy_home
from tests.gateway.tasking import rows
from tests.plugins.voice.audio_emulator import AudioEmulator
from tests.plugins.voice.speaking import speaking
from tests.process import until


@pytest.fixture
async def audio() -> AsyncIterator[AudioEmulator]:
    async with AudioEmulator() as audio:
        yield audio


def sent(bot: Bot) -> list[str]:
    """Return the names of all files that were sent."""
    return [file.name for _, message in bot.channel.posts for file in message.attachments]


async def test_answers_are_spoken_where_a_chat_asks_for_it(start_bot: StartBot, audio: AudioEmulator) -> None:
    bot = await start_bot("One.", "It is **noon**.", "Three.", plugins=(speaking(audio),))
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
    bot = await start_bot("One.", plugins=(speaking(audio),))
    audio.faults.fail("speak", times=None)
    await bot.hears("/voice on")

    await bot.hears("hello")

    assert bot.screen[-1] == "One."
    assert sent(bot) == []


async def test_it_says_what_is_missing_and_who_may_switch_it(start_bot: StartBot, audio: AudioEmulator) -> None:
    bot = await start_bot()
    await bot.hears("/voice on")
    assert "set `PARLEY_PLUGIN_VOICE_SPEECH`" in bot.screen[-1]
    await bot.hears("/voice on", sender="bob")
    assert bot.screen[-1] == "Answers cannot be spoken here."


async def test_in_groups_owners_and_admins_decide(start_bot: StartBot, audio: AudioEmulator) -> None:
    bot = await start_bot(plugins=(speaking(audio),))

    await bot.hears("/voice on", sender="bob", group="team")
    assert bot.screen[-1] == "In groups only owners and admins can switch this."
    await bot.hears("/voice loud")
    assert bot.screen[-1] == "Use `/voice on` or `/voice off`."
    await bot.hears("/voice")
    assert bot.screen[-1] == "Answers here are not spoken. `/voice on` changes that."


async def spoken_once(bot: Bot) -> None:
    await bot.app.settled()
    assert (bot.screen.count("It is noon."), sent(bot)) == (1, ["answer.mp3"])
    assert rows(bot.home, "SELECT count(*) FROM owed WHERE kind = 'speech'") == [(0,)]


async def test_an_answer_is_charged_to_its_chat_and_person(start_bot: StartBot, audio: AudioEmulator) -> None:
    bot = await start_bot("It is noon.", plugins=(speaking(audio, price=15.0),))
    await bot.hears("/voice on")
    await bot.hears("what time is it?")

    charged = "SELECT chat, person, cost, state FROM spending WHERE model = 'tts-1'"
    dollars = 15 * len("It is noon.") / 1e6
    assert rows(bot.home, charged) == [("memory:here:ann", "memory:ann", round(dollars * USD), "settled")]


@pytest.mark.parametrize(("price", "billionths"), [(None, 40_000 * 11), (0.0, 0)], ids=["unknown", "own machine"])
async def test_an_unknown_price_counts_as_the_ceiling_and_an_own_server_as_nothing(
    start_bot: StartBot, audio: AudioEmulator, price: float | None, billionths: int
) -> None:
    bot = await start_bot("It is noon.", plugins=(speaking(audio, "m", price),))
    await bot.hears("/voice on")
    await bot.hears("what time is it?")

    assert rows(bot.home, "SELECT cost FROM spending WHERE model = 'm'") == [(billionths,)]


async def test_without_room_in_a_budget_only_the_text_is_sent(start_bot: StartBot, audio: AudioEmulator) -> None:
    free = SCRIPTED_MODEL.model_copy(update={"input_price": 0.0, "output_price": 0.0})
    bot = await start_bot("It is noon.", model=free, plugins=(speaking(audio, price=15.0),))
    await bot.hears("/voice on")
    await bot.hears("/budget here 0.0001 USD a day")
    before = len(bot.screen)

    await bot.hears("what time is it?")

    assert bot.screen[before:] == ["It is noon."]
    assert (sent(bot), audio.calls) == ([], [])
    await bot.restart()
    await bot.app.settled()
    assert sent(bot) == []


async def test_a_kill_while_the_answer_is_spoken_speaks_it_after_the_start(
    start_bot: StartBot, audio: AudioEmulator, tmp_path: Path
) -> None:
    plugin = speaking(audio, price=15.0)
    bot = await start_bot("It is noon.", plugins=(plugin,))
    await bot.hears("/voice on")
    audio.faults.hold("speak")
    await bot.channel.hears("what time is it?")
    await audio.wait_for(lambda: len(audio.calls) == 1)

    image = tmp_path / "image"
    await asyncio.to_thread(copy_home, bot.home, image)  # what a kill leaves
    await bot.stop()
    next_life = Bot(image, (), BotOptions(plugins=(plugin,), channel=bot.channel))
    await next_life.start()

    try:
        await spoken_once(next_life)
        states = "SELECT state, count(*) FROM spending WHERE model = 'tts-1' GROUP BY state ORDER BY state"
        assert rows(image, states) == [("estimate", 1), ("settled", 1)]
    finally:
        await next_life.stop()


async def test_a_kill_before_the_text_was_sent_speaks_it_after_the_text(
    start_bot: StartBot, audio: AudioEmulator
) -> None:
    channel = MemoryChannel(limits=NO_PACE)
    bot = await start_bot("It is noon.", plugins=(speaking(audio),), channel=channel)
    await bot.hears("/voice on")
    channel.fails("send", ChannelError("down", retry_after=60.0))
    await channel.hears("what time is it?")
    await until(lambda: rows(bot.home, "SELECT count(*) FROM owed WHERE kind = 'speech'") == [(1,)])
    assert audio.calls == []

    await bot.restart()

    await spoken_once(bot)
    assert [bool(message.attachments) for _, message in channel.posts][-2:] == [False, True]


async def test_a_failure_that_passes_is_tried_again_and_charged_once(start_bot: StartBot, audio: AudioEmulator) -> None:
    bot = await start_bot("It is noon.", plugins=(speaking(audio, price=15.0),))
    await bot.hears("/voice on")
    audio.faults.fail("speak", status=503, times=1)

    await bot.hears("what time is it?")

    await spoken_once(bot)
    charged = rows(bot.home, "SELECT cost > 0, state FROM spending WHERE model = 'tts-1' ORDER BY cost")
    assert charged == [(0, "settled"), (1, "settled")]


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
