"""Sends files as people send them: photos, voice messages, music, other files, and several of a kind as an album.

Telegram has a method for each kind, and refuses some that it cannot show; those go as plain files.
"""

import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Literal, NamedTuple

from pydantic import JsonValue

from channels.attachments import Attachment
from channels.backoff import replacement_call
from channels.base import ChannelError, ChatKey
from channels.files import MIB, read_upload
from channels.telegram.client import BadEntities, Parameters
from channels.telegram.render import Rendered, is_picture
from channels.telegram.sdk import InputFile, InputMediaAudio, InputMediaDocument, InputMediaPhoto

log = logging.getLogger(__name__)

MAX_UPLOAD = 50 * MIB
MAX_PICTURE = 10 * MIB
MAX_ALBUM = 10

Kind = Literal["photo", "voice", "audio", "document"]
Call = Callable[[ChatKey, str, Parameters], Awaitable[JsonValue]]
"""Makes a call of a method in a chat. Raises ChannelError."""
_MUSIC = frozenset({"audio/mpeg", "audio/mp3", "audio/mp4", "audio/x-m4a", "audio/m4a"})
_SPEECH = _MUSIC | {"audio/ogg", "audio/opus"}
_ITEMS = {"photo": InputMediaPhoto, "audio": InputMediaAudio, "document": InputMediaDocument}
_REFUSED: dict[Kind, tuple[str, ...]] = {"photo": ("photo", "image"), "voice": ("voice",), "audio": ("audio", "music")}
"""Words of Telegram's refusals of a kind, as in PHOTO_INVALID_DIMENSIONS, IMAGE_PROCESS_FAILED and
VOICE_MESSAGES_FORBIDDEN."""


class Loaded(NamedTuple):
    """A file with its content."""

    file: Attachment
    content: bytes


class RefusedAs(ChannelError):
    """Telegram refused files of this kind, or the chat takes none. They may go as others."""

    def __init__(self, reason: str, instead: Kind) -> None:
        super().__init__(reason, permanent=True)
        self.instead: Kind = instead


def kind_of(file: Attachment) -> Kind:
    """Return the kind as which a file is sent first."""
    if is_picture(file) and (file.size or 0) <= MAX_PICTURE:
        return "photo"
    if file.is_voice and file.mime_type in _SPEECH:
        return "voice"
    return "audio" if file.mime_type in _MUSIC else "document"


def is_album(files: Sequence[Attachment]) -> bool:
    """Return True for files of one kind that Telegram takes as an album."""
    kinds = {kind_of(file) for file in files}
    fits = len(files) <= MAX_ALBUM and sum(file.size or 0 for file in files) <= MAX_UPLOAD
    return fits and len(kinds) == 1 and kinds != {"voice"}


class Files:
    """Sends the files of messages."""

    def __init__(self, call: Call) -> None:
        self._call = call

    async def send(
        self, chat: ChatKey, files: Sequence[Attachment], caption: Rendered | None, parameters: Parameters
    ) -> JsonValue:
        """Send a file or an album, and return Telegram's message, of an album all. Raises ChannelError."""
        loaded = [Loaded(file, await read_upload(file, "Telegram takes from bots", MAX_UPLOAD)) for file in files]
        try:
            return await self._send_as(chat, _kind_of_all(loaded), loaded, caption, parameters)
        except RefusedAs as refused:
            other = refused.instead
        try:
            return await replacement_call(lambda: self._send_as(chat, other, loaded, caption, parameters))
        except RefusedAs:
            return await replacement_call(lambda: self._send_as(chat, "document", loaded, caption, parameters))

    async def _send_as(
        self, chat: ChatKey, kind: Kind, files: Sequence[Loaded], caption: Rendered | None, parameters: Parameters
    ) -> JsonValue:
        """Send files as those of a kind. Raises RefusedAs, and other ChannelErrors."""
        try:
            if len(files) == 1:
                return await self._send_one(chat, kind, files[0], caption, parameters)
            return await self._send_album(chat, kind, files, caption, parameters)
        except ChannelError as error:
            is_kind = any(word in error.reason.lower() for word in _REFUSED.get(kind, ()))
            if not error.permanent or not is_kind:
                raise
            log.info("%s sent as another kind of file: %s", kind, error.reason)
            is_song = kind == "voice" and files[0].file.mime_type in _MUSIC
            raise RefusedAs(error.reason, "audio" if is_song else "document") from error

    async def _send_one(
        self, chat: ChatKey, kind: Kind, loaded: Loaded, caption: Rendered | None, parameters: Parameters
    ) -> JsonValue:
        given: Parameters = {**parameters, kind: InputFile(loaded.content, filename=loaded.file.safe_name)}
        if kind == "document" and loaded.file.is_voice:
            given = {**given, "disable_content_type_detection": True}  # else it would be taken for a voice message
        return await self._captioned(chat, f"send{kind.title()}", caption, lambda words: {**given, **words})

    async def _send_album(
        self, chat: ChatKey, kind: Kind, files: Sequence[Loaded], caption: Rendered | None, parameters: Parameters
    ) -> JsonValue:
        item = _ITEMS[kind]
        attached = [InputFile(each.content, filename=each.file.safe_name, attach=True) for each in files]

        def given(words: Parameters) -> Parameters:
            first = item(attached[0], api_kwargs=dict(words))
            return {**parameters, "media": [first, *(item(each) for each in attached[1:])]}

        return await self._captioned(chat, "sendMediaGroup", caption, given)

    async def _captioned(
        self, chat: ChatKey, method: str, caption: Rendered | None, given: Callable[[Parameters], Parameters]
    ) -> JsonValue:
        """Make a call with a caption, without its entities if Telegram rejects them."""
        bare: Parameters = {"caption": caption.text} if caption else {}
        entities: list[JsonValue] = [*caption.entities] if caption else []
        formatting: Parameters = {"caption_entities": entities} if entities else {}
        try:
            return await self._call(chat, method, given({**bare, **formatting}))
        except BadEntities as error:
            log.warning("sent without formatting chat=%s: %s", chat, error.reason)
            return await replacement_call(lambda: self._call(chat, method, given(bare)))


def _kind_of_all(loaded: Sequence[Loaded]) -> Kind:
    """Return the kind of files that have one in common; what is too large to be a photo was not always told before."""
    kind = kind_of(loaded[0].file)
    is_large = kind == "photo" and any(len(each.content) > MAX_PICTURE for each in loaded)
    return "document" if is_large else kind
