"""A platform passes on the length that the sender's client tells: with a false one nobody has more to spend."""

import math
from collections.abc import AsyncIterator

import pytest

from channels.attachments import Attachment
from channels.base import MessageReceived
from channels.memory import MemoryChannel
from gateway.chat.sounds import Sound
from gateway.plugins.voice.audio import AudioServer
from gateway.plugins.voice.lengths import told_length
from gateway.texts.amounts import USD
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot
from tests.gateway.tasking import rows
from tests.plugins.voice.audio_emulator import AudioEmulator, recording
from tests.plugins.voice.speaking import served

PRICE = 0.006
CHARGED = "SELECT cost FROM spending WHERE model = 'gpt-4o-transcribe' ORDER BY cost"
LONGEST = round(PRICE * 15 * USD)


@pytest.fixture
async def audio() -> AsyncIterator[AudioEmulator]:
    """A server that does not tell how long a recording was, as that of gpt-4o-transcribe."""
    async with AudioEmulator(seconds=None) as audio:
        yield audio


async def hears_recording(start: StartBot, audio: AudioEmulator, words: str, seconds: float | None) -> Bot:
    channel = MemoryChannel()
    server = AudioServer(audio.base_url, "gpt-4o-transcribe", price=PRICE)
    bot = await start("I see.", channel=channel, plugins=(served(transcription=server),))
    await bot.hears("", sender="bob", files={"voice.ogg": recording(words)})
    heard = channel.heard[-1]
    assert isinstance(heard, MessageReceived)
    claimed = heard.attachments[0].model_copy(update={"seconds": seconds})
    await channel.deliver(heard.model_copy(update={"event_id": "e", "message_id": "m", "attachments": (claimed,)}))
    await bot.app.settled()
    return bot


@pytest.mark.parametrize("seconds", [-3_600.0, -math.inf, math.nan, 0.0])
async def test_one_that_no_recording_can_have_counts_as_not_told(
    start_bot: StartBot, audio: AudioEmulator, seconds: float
) -> None:
    bot = await hears_recording(start_bot, audio, "hello", seconds)

    assert rows(bot.home, CHARGED) == [(LONGEST,), (LONGEST,)]


async def test_one_that_is_too_short_for_so_many_bytes_counts_as_what_they_last_at_least(
    start_bot: StartBot, audio: AudioEmulator
) -> None:
    bot = await hears_recording(start_bot, audio, "la " * 300_000, 1.0)

    [(cost,), _] = rows(bot.home, CHARGED)
    assert int(str(cost)) == pytest.approx(PRICE * 4.5 / 60 * USD, rel=0.01)


@pytest.mark.parametrize(
    ("content", "seconds", "length"),
    [
        (b"OggS" + bytes(240_000), 60.0, 60.0),
        (b"OggS" + bytes(16_000_000), 1.0, 1_000.0),
        (b"RIFF" + bytes(10_584_000), 60.0, 60.0),
        (b"ID3" + bytes(2_400_000), None, None),
    ],
)
def test_an_honest_length_stays_as_it_is(content: bytes, seconds: float | None, length: float | None) -> None:
    file = Attachment(name="a", seconds=seconds)
    found = told_length(Sound(0, file, content))
    assert found == (length if length is None else pytest.approx(length, rel=0.001))
