"""Parameters of the Bot API's methods, as query, form, multipart or JSON."""

import json
from dataclasses import dataclass, field
from typing import Annotated, Literal
from urllib.parse import parse_qsl

from aiohttp import BodyPartReader, web
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, JsonValue

from parley.testing.emulators.telegram_text import Entity

UPLOAD_LIMIT = 50 * 2**20


@dataclass(frozen=True)
class Upload:
    """A file in a multipart body."""

    name: str
    mime: str
    content: bytes = field(repr=False)


Fields = dict[str, object]


class TelegramError(Exception):
    """An error of the Bot API."""

    def __init__(self, code: int, description: str, parameters: dict[str, float] | None = None) -> None:
        super().__init__(description)
        self.code = code
        self.description = description
        self.parameters = parameters


def bad_request(reason: str) -> TelegramError:
    return TelegramError(400, f"Bad Request: {reason}")


async def read_fields(request: web.Request) -> Fields:
    """Return the parameters of a call, from query and body."""
    fields: Fields = dict(request.query)
    kind = request.content_type
    if kind == "application/json":
        body = await request.text()
        fields.update(json.loads(body) if body else {})
    elif kind == "application/x-www-form-urlencoded":
        fields.update(parse_qsl(await request.text(), keep_blank_values=True))
    elif kind == "multipart/form-data":
        await _read_parts(request, fields)
    return fields


async def _read_parts(request: web.Request, fields: Fields) -> None:
    uploads: dict[str, Upload] = {}
    async for part in await request.multipart():
        if not isinstance(part, BodyPartReader) or part.name is None:
            raise bad_request("a part of the body has no name")
        content = bytes(await part.read())
        if part.filename is None:
            fields[part.name] = content.decode()
            continue
        if len(content) > UPLOAD_LIMIT:
            raise TelegramError(413, "Request Entity Too Large")
        mime = part.headers.get("Content-Type", "application/octet-stream")
        uploads[part.name] = Upload(part.filename, mime, content)
    for name, value in fields.items():
        if isinstance(value, str) and value.startswith("attach://"):
            fields[name] = uploads.pop(value.removeprefix("attach://"), value)
    if isinstance(fields.get("media"), str):
        fields["media"] = [_with_upload(each, uploads) for each in json.loads(str(fields["media"]))]
    fields.update(uploads)


def _with_upload(item: Fields, uploads: dict[str, Upload]) -> Fields:
    """Return an item of an album with the file to which it refers."""
    name = str(item.get("media", "")).removeprefix("attach://")
    return {**item, "media": uploads.pop(name)} if name in uploads else item


def _unpack(value: object) -> object:
    """Parse lists and objects, which forms carry as JSON text."""
    return json.loads(value) if isinstance(value, str) else value


Unpacked = BeforeValidator(_unpack)
Entities = Annotated[list[Entity], Unpacked]


class Params(BaseModel):
    """Base model that rejects parameters the emulator does not know."""

    model_config = ConfigDict(extra="forbid")


class InlineButton(Params):
    text: str
    url: str | None = None
    callback_data: str | None = None
    style: str | None = None


class Keyboard(Params):
    inline_keyboard: list[list[InlineButton]]


class Reply(Params):
    message_id: int
    chat_id: int | None = None
    allow_sending_without_reply: bool = False
    quote: str | None = None
    quote_entities: list[Entity] = Field(default_factory=list)
    quote_position: int | None = None


class GetUpdates(Params):
    offset: int = 0
    limit: int = Field(default=100, ge=1, le=100)
    timeout: float = Field(default=0, ge=0, le=50)
    allowed_updates: Annotated[list[str] | None, Unpacked] = None


class InChat(Params):
    chat_id: int


class Outgoing(InChat):
    """Fields common to all messages."""

    message_thread_id: int | None = None
    reply_parameters: Annotated[Reply | None, Unpacked] = None
    reply_markup: Annotated[Keyboard | None, Unpacked] = None
    disable_notification: bool = False
    protect_content: bool = False


class SendMessage(Outgoing):
    text: str
    entities: Entities = Field(default_factory=list)
    link_preview_options: Annotated[dict[str, JsonValue] | None, Unpacked] = None


class RichContent(Params):
    html: str


class SendRich(Outgoing):
    rich_message: Annotated[RichContent, Unpacked]


class SendMedia(Outgoing):
    caption: str = ""
    caption_entities: Entities = Field(default_factory=list)


class SendPhoto(SendMedia):
    photo: str | Upload


class SendDocument(SendMedia):
    document: str | Upload
    disable_content_type_detection: bool = False


class SendVoice(SendMedia):
    voice: str | Upload
    duration: int = 0


class SendAudio(SendMedia):
    audio: str | Upload
    duration: int = 0
    performer: str = ""
    title: str = ""


class AlbumItem(Params):
    type: Literal["photo", "video", "document", "audio"]
    media: str | Upload
    caption: str = ""
    caption_entities: Entities = Field(default_factory=list)
    disable_content_type_detection: bool = False


class SendAlbum(Outgoing):
    """An album, which has no buttons."""

    media: Annotated[list[AlbumItem], Unpacked]
    reply_markup: None = None


class SendDraft(InChat):
    draft_id: int
    text: str = ""
    entities: Entities = Field(default_factory=list)
    message_thread_id: int | None = None


class EditText(InChat):
    message_id: int
    text: str = ""
    rich_message: Annotated[RichContent | None, Unpacked] = None
    entities: Entities = Field(default_factory=list)
    link_preview_options: Annotated[dict[str, JsonValue] | None, Unpacked] = None
    reply_markup: Annotated[Keyboard | None, Unpacked] = None


class EditCaption(InChat):
    message_id: int
    caption: str = ""
    caption_entities: Entities = Field(default_factory=list)
    reply_markup: Annotated[Keyboard | None, Unpacked] = None


class EditMarkup(InChat):
    message_id: int
    reply_markup: Annotated[Keyboard | None, Unpacked] = None


class OneMessage(InChat):
    message_id: int


class ChatAction(InChat):
    action: str
    message_thread_id: int | None = None


class Reaction(Params):
    type: Literal["emoji", "custom_emoji"]
    emoji: str = ""
    custom_emoji_id: str = ""


class SetReaction(InChat):
    message_id: int
    reaction: Annotated[list[Reaction], Unpacked] = Field(default_factory=list)
    is_big: bool = False


class AnswerCallback(Params):
    callback_query_id: str
    text: str = ""
    show_alert: bool = False
    cache_time: int = 0


class BotCommand(Params):
    command: str
    description: str


class Scope(Params):
    type: Literal[
        "default",
        "all_private_chats",
        "all_group_chats",
        "all_chat_administrators",
        "chat",
        "chat_administrators",
        "chat_member",
    ]
    chat_id: int | None = None
    user_id: int | None = None

    def key(self) -> str:
        """Key of the scope, such as "default", "chat:42" or "chat_member:-100:42"."""
        return ":".join(str(each) for each in (self.type, self.chat_id, self.user_id) if each is not None)


class Menu(Params):
    scope: Annotated[Scope, Unpacked] = Scope(type="default")
    language_code: str = ""


class SetCommands(Menu):
    commands: Annotated[list[BotCommand], Unpacked]


class GetFile(Params):
    file_id: str


class Member(InChat):
    user_id: int


class SetWebhook(Params):
    url: str
    secret_token: str | None = None
    max_connections: int = 40
    allowed_updates: Annotated[list[str] | None, Unpacked] = None
    drop_pending_updates: bool = False


class DeleteWebhook(Params):
    drop_pending_updates: bool = False


class Describe(Params):
    name: str = ""
    description: str = ""
    short_description: str = ""
    language_code: str = ""
