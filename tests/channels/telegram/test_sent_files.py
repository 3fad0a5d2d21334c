"""Files of answers as Telegram shows them: photos, albums, voice messages, music and files."""

import struct
from pathlib import Path

import pytest

from channels.attachments import Attachment
from channels.base import Button, ChatKey, OutboundMessage, Posted
from channels.telegram.adapter import TelegramChannel
from parley.testing.emulators.telegram import TelegramEmulator
from tests.channels.telegram.conftest import key_of

PNG = bytes.fromhex("89504e470d0a1a0a") + b"picture"
WIDE = bytes.fromhex("89504e470d0a1a0a") + b"\0\0\0\rIHDR" + struct.pack(">II", 9_000, 200)
"""The beginning of a picture that is too wide for a photo."""


def files_of(folder: Path, *named: tuple[str, str, bytes]) -> tuple[Attachment, ...]:
    """Write files with these names, types and contents."""
    for name, _, content in named:
        (folder / name).write_bytes(content)
    return tuple(
        Attachment(name=name, mime_type=kind, size=len(content), path=str(folder / name))
        for name, kind, content in named
    )


async def send_all(channel: TelegramChannel, chat: ChatKey, message: OutboundMessage) -> list[Posted]:
    return [await channel.send(chat, part, f"k{place}") for place, part in enumerate(channel.split(message))]


async def test_pictures_of_one_answer_are_an_album_and_files_another(
    telegram: TelegramEmulator, channel: TelegramChannel, tmp_path: Path
) -> None:
    chat = telegram.private(telegram.person("Ann"))
    pictures = [(f"{number}.png", "image/png", PNG + bytes([number])) for number in range(3)]
    tables = [(f"{number}.csv", "text/csv", b"a,b") for number in range(2)]
    message = OutboundMessage(markdown="The **charts**", attachments=files_of(tmp_path, *pictures, *tables))

    posted = await send_all(channel, key_of(telegram, chat), message)

    shown = chat.bot_messages
    assert [message.shown for message in shown] == ["[photo] The charts", "[photo]", "[photo]", "[0.csv]", "[1.csv]"]
    assert [entity.type for entity in shown[0].entities] == ["bold"]
    assert [message.photo.content for message in shown[:3] if message.photo] == [content for _, _, content in pictures]
    assert len({message.album for message in shown[:3]}) == len({message.album for message in shown[3:]}) == 1
    assert [int(each.message_id) for each in posted] == [shown[0].message_id, shown[3].message_id]
    assert [[int(name) for name in each.further] for each in posted] == [
        [shown[1].message_id, shown[2].message_id],
        [shown[4].message_id],
    ]
    await channel.edit(posted[0], OutboundMessage(markdown="The charts of May"))
    assert chat.bot_messages[0].text == "The charts of May"


async def test_more_than_ten_files_are_two_albums_and_buttons_stay_with_the_text(
    telegram: TelegramEmulator, channel: TelegramChannel, tmp_path: Path
) -> None:
    telegram.flood.on = False
    team = telegram.group("Team", [telegram.person("Ann")])
    asked = await team.says(telegram.person("Ann"), "@parley_bot all of them")
    files = files_of(tmp_path, *((f"{number:02}.csv", "text/csv", b"a,b") for number in range(12)))
    message = OutboundMessage(
        markdown="Twelve tables",
        attachments=files,
        buttons=((Button(label="Again", action="again"),),),
        reply_to=str(asked.message_id),
    )

    await send_all(channel, key_of(telegram, team), message)

    text, *sent = team.bot_messages
    assert (text.text, text.reply_to, text.buttons[0][0].text) == ("Twelve tables", asked, "Again")
    albums = [message.album for message in sent]
    assert [albums.count(album) for album in dict.fromkeys(albums)] == [10, 2]
    assert len(telegram.calls_of("sendMediaGroup")) == 2


async def test_pictures_that_telegram_does_not_take_as_photos_go_as_files_together(
    telegram: TelegramEmulator, channel: TelegramChannel, tmp_path: Path
) -> None:
    chat = telegram.private(telegram.person("Ann"))
    files = files_of(tmp_path, *((f"{number}.png", "image/png", WIDE) for number in range(2)))

    await send_all(channel, key_of(telegram, chat), OutboundMessage(markdown="", attachments=files))
    await send_all(channel, key_of(telegram, chat), OutboundMessage(markdown="", attachments=files[:1]))

    assert chat.screen == ["[0.png]", "[1.png]", "[0.png]"]


@pytest.mark.parametrize(("name", "kind"), [("answer.ogg", "audio/ogg"), ("answer.mp3", "audio/mpeg")])
async def test_a_recording_is_a_voice_message_and_a_file_where_the_person_takes_none(
    telegram: TelegramEmulator, channel: TelegramChannel, tmp_path: Path, name: str, kind: str
) -> None:
    ann, ben = telegram.person("Ann"), telegram.person("Ben")
    open_chat, strict = telegram.private(ann), telegram.private(ben)
    strict.forbid_voice_messages()
    (file,) = files_of(tmp_path, (name, kind, {"audio/ogg": b"OggS", "audio/mpeg": b"ID3"}[kind] + b"sound"))
    spoken = OutboundMessage(markdown="", attachments=(file.model_copy(update={"is_voice": True}),), silent=True)

    for chat in (open_chat, strict):
        await send_all(channel, key_of(telegram, chat), spoken)

    assert open_chat.screen == ["[voice]"]
    assert strict.screen == [f"[{name}]"]


async def test_music_is_played_and_what_telegram_cannot_play_is_a_file(
    telegram: TelegramEmulator, channel: TelegramChannel, tmp_path: Path
) -> None:
    chat = telegram.private(telegram.person("Ann"))
    song, wave = files_of(tmp_path, ("song.mp3", "audio/mpeg", b"ID3la"), ("song.wav", "audio/wav", b"RIFF"))

    await send_all(channel, key_of(telegram, chat), OutboundMessage(markdown="Listen", attachments=(song, wave)))

    first, second = chat.bot_messages
    assert ([*first.files], first.text, [*second.files]) == (["audio"], "Listen", ["document"])
