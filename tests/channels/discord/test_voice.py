"""Voice messages on Discord, in and out: their length and waveform, and what happens where they are not taken."""

import base64
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from channels.attachments import Attachment
from channels.base import Button, OutboundMessage
from channels.discord.adapter import DiscordChannel
from channels.discord.voice import LONGEST, MOST_POINTS, RATE, recording
from channels.values import Known
from parley.testing.emulators.discord import DiscordEmulator
from tests.channels.discord.conftest import Inbox, key_of
from tests.examples import examples

PACKET = RATE // 50
"""Samples of a packet of 20 ms."""
SKIPPED = 312


def page(packets: Sequence[bytes], granule: int, serial: int = 1) -> bytes:
    """Return a page of Ogg with whole packets."""
    laces = [bytes([255]) * (len(each) // 255) + bytes([len(each) % 255]) for each in packets]
    segments = b"".join(laces)
    head = b"OggS\0\0" + granule.to_bytes(8, "little") + serial.to_bytes(4, "little") + bytes(8)
    return head + bytes([len(segments)]) + segments + b"".join(packets)


def opus(sizes: Sequence[int]) -> bytes:
    """Return a recording with packets of these sizes."""
    head = b"OpusHead\1\1" + SKIPPED.to_bytes(2, "little") + RATE.to_bytes(4, "little") + bytes(3)
    pages = [page([head], 0), page([b"OpusTags" + bytes(600)], 0)]
    for at in range(0, len(sizes), 40):
        packets = [bytes(size) for size in sizes[at : at + 40]]
        pages.append(page(packets, SKIPPED + PACKET * (at + len(packets))))
    return b"".join(pages)


SPEECH = opus([20] * 50 + [120] * 50)
"""A second of silence, and one of words."""


def stored(folder: Path, content: bytes, mime_type: str = "audio/ogg") -> Attachment:
    (folder / "answer.ogg").write_bytes(content)
    path = str(folder / "answer.ogg")
    return Attachment(name="answer.ogg", mime_type=mime_type, size=len(content), path=path, is_voice=True)


def test_the_waveform_follows_the_sizes_of_the_packets() -> None:
    made = recording(SPEECH)
    assert made is not None
    assert (made.seconds, list(made.waveform)) == (2.0, [0] * 10 + [255] * 10)
    even = recording(opus([80] * 10))
    assert even is not None
    assert set(even.waveform) == {127}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"ID3" + bytes(100),
        b"OggS",
        b"OggS" + b"It is noon.",
        page([b"\1vorbis" + bytes(30)], 0) + page([bytes(50)], RATE),
        SPEECH[:60],
        SPEECH + page([bytes(20)], RATE, serial=2),
        opus([]),
        opus([1] * int((LONGEST + 1) * 50)),
    ],
)
def test_what_is_no_recording_of_one_voice_is_none(content: bytes) -> None:
    assert recording(content) is None


@given(st.lists(st.integers(0, 700), max_size=1_000), st.integers(1, 20), st.data())
@settings(max_examples=examples(100), deadline=None)
def test_no_content_makes_it_fail_and_no_waveform_is_too_long(
    sizes: list[int], times: int, data: st.DataObject
) -> None:
    content = bytearray(opus(sizes * times))
    for at in data.draw(st.lists(st.integers(0, len(content) - 1), max_size=5)):
        content[at] = data.draw(st.integers(0, 255))
    made = recording(bytes(content[: data.draw(st.integers(0, len(content)))]))
    assert made is None or (1 <= len(made.waveform) <= MOST_POINTS and made.seconds > 0)


async def test_speech_is_a_voice_message(
    discord: DiscordEmulator, channel: DiscordChannel, inbox: Inbox, tmp_path: Path
) -> None:
    ann = discord.person("Ann")
    chat = discord.group("Team", [ann])
    asked = await chat.says(ann, "@parley_bot say it")
    message = OutboundMessage(markdown="", attachments=(stored(tmp_path, SPEECH),), silent=True, reply_to=asked.id)
    posted = await channel.send(key_of(chat), message, "k")

    (sent,) = chat.bot_messages
    assert (sent.is_voice, sent.silent, sent.reply_to) == (True, True, asked)
    (file,) = sent.files
    assert (file.content, file.seconds) == (SPEECH, 2.0)
    assert base64.b64decode(file.waveform or "") == bytes([0] * 10 + [255] * 10)
    assert await channel.find_sent(key_of(chat), message, "k", Known()) == posted


async def test_speech_is_a_file_where_it_can_be_no_voice_message(
    discord: DiscordEmulator, channel: DiscordChannel, inbox: Inbox, tmp_path: Path
) -> None:
    chat = discord.group("Team", [discord.person("Ann")])
    spoken = OutboundMessage(markdown="", attachments=(stored(tmp_path, SPEECH),))
    chat.denies("SEND_VOICE_MESSAGES")
    await channel.send(key_of(chat), spoken, "denied")
    there = discord.private(discord.person("Bob"))
    stop = ((Button(label="Stop", action="/stop"),),)
    await channel.send(key_of(there), spoken.model_copy(update={"markdown": "Listen"}), "words")
    await channel.send(key_of(there), spoken.model_copy(update={"buttons": stop}), "buttons")
    no_ogg = OutboundMessage(markdown="", attachments=(stored(tmp_path, b"ID3" + bytes(100)),))
    await channel.send(key_of(there), no_ogg, "no ogg")

    sent = [*chat.bot_messages, *there.bot_messages]
    assert [(each.is_voice, each.shown) for each in sent] == [
        (False, "[answer.ogg]"),
        (False, "[answer.ogg] Listen"),
        (False, "[answer.ogg]"),
        (False, "[answer.ogg]"),
    ]


async def test_a_persons_voice_message_comes_in_as_speech_with_its_length(
    discord: DiscordEmulator, channel: DiscordChannel, inbox: Inbox
) -> None:
    ann = discord.person("Ann")
    await discord.private(ann).speaks(ann, SPEECH, seconds=2.0)
    (file,) = (await inbox.message()).attachments
    assert (file.is_own_speech, file.seconds, file.mime_type) == (True, 2.0, "audio/ogg")
    assert await channel.download(file) == SPEECH
