"""The methods of the Bot API for files."""

import struct

from pydantic import JsonValue

from parley.testing.emulators import telegram_params as params
from parley.testing.emulators.telegram_params import TelegramError, Upload, bad_request
from parley.testing.emulators.telegram_posting import Content, Posting, checked
from parley.testing.emulators.telegram_state import DOWNLOAD_LIMIT, StoredFile

MAX_CAPTION = 1024
MAX_ALBUM = 10
MAX_PHOTO_SIDES = 10_000
"""Pixels of width and height together."""
MAX_PHOTO_RATIO = 20
_OGG = b"OggS"


class Files(Posting):
    """Implementation of the methods that send files and give them to the bot."""

    def send_photo(self, asked: params.SendPhoto) -> JsonValue:
        return self._post_file(asked, "photo", self._photo(asked.photo))

    def send_document(self, asked: params.SendDocument) -> JsonValue:
        return self._post_file(asked, "document", self._stored(asked.document))

    def send_voice(self, asked: params.SendVoice) -> JsonValue:
        """Send a voice message; a recording of a kind that none can have becomes a file."""
        room = self._room(asked.chat_id)
        if room.voice_forbidden:
            raise bad_request("VOICE_MESSAGES_FORBIDDEN")
        file = self._stored(asked.voice)
        return self._post_file(asked, "voice" if _is_playable(file) else "document", file)

    def send_audio(self, asked: params.SendAudio) -> JsonValue:
        file = self._stored(asked.audio)
        is_music = _is_playable(file) and not file.content.startswith(_OGG)
        return self._post_file(asked, "audio" if is_music else "document", file)

    def send_album(self, asked: params.SendAlbum) -> JsonValue:
        """Send all or nothing of an album."""
        if not 2 <= len(asked.media) <= MAX_ALBUM:
            raise bad_request("too many or too few messages to send as an album")
        for kind in ("audio", "document"):
            if {kind} < {each.type for each in asked.media}:
                raise bad_request(f"{kind.title()} can't be mixed with other media types")
        self._room(asked.chat_id)
        outgoing = asked.model_dump(include={*params.Outgoing.model_fields}, exclude_none=True)
        items = [
            (each, params.SendMedia(**outgoing, caption=each.caption, caption_entities=each.caption_entities))
            for each in asked.media
        ]
        for _, item in items:
            checked(item.caption, item.caption_entities, MAX_CAPTION, "message caption is too long")
        stored = [self._item(place, each) for place, each in enumerate(asked.media, 1)]
        album = f"{self._world.next_id()}00"
        return [self._post_file(item, each.type, file, album) for (each, item), file in zip(items, stored, strict=True)]

    def get_file(self, asked: params.GetFile) -> JsonValue:
        file = self._world.file(asked.file_id)
        if file is None:
            raise bad_request("invalid file_id")
        if len(file.content) > DOWNLOAD_LIMIT:
            raise bad_request("file is too big")
        return {**file.to_json(), "file_path": file.path}

    def _item(self, place: int, item: params.AlbumItem) -> StoredFile:
        try:
            return self._photo(item.media) if item.type == "photo" else self._stored(item.media)
        except TelegramError as error:
            reason = error.description.removeprefix("Bad Request: ")
            raise bad_request(f'failed to send message #{place} with the error message "{reason}"') from error

    def _photo(self, given: str | Upload) -> StoredFile:
        """Return a photo. Of uploaded ones, PNGs are measured."""
        file = self._stored(given)
        if file.content[12:16] == b"IHDR":
            width, height = struct.unpack(">II", file.content[16:24])
            if width + height > MAX_PHOTO_SIDES or max(width, height) > MAX_PHOTO_RATIO * min(width, height):
                raise bad_request("PHOTO_INVALID_DIMENSIONS")
        return file

    def _stored(self, given: str | Upload) -> StoredFile:
        if isinstance(given, Upload):
            if not given.content:
                raise bad_request("file must be non-empty")
            return self._world.store(given.name, given.mime, given.content)
        known = self._world.file(given)
        if known is None:
            raise bad_request("wrong remote file identifier specified: Wrong string length")
        return known

    def _post_file(self, asked: params.SendMedia, kind: str, file: StoredFile, album: str | None = None) -> JsonValue:
        room = self._room(asked.chat_id)
        text, entities = checked(asked.caption, asked.caption_entities, MAX_CAPTION, "message caption is too long")
        return self._post(room, asked, Content(text, entities, {kind: file}, album))


def _is_playable(file: StoredFile) -> bool:
    """Return True for Opus in OGG, MP3 and M4A, which are told by their first bytes."""
    return file.content.startswith((_OGG, b"ID3", b"\xff\xfb", b"\xff\xf3")) or file.content[4:8] == b"ftyp"
