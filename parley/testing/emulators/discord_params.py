"""Bodies of Discord's REST calls: their fields, as JSON or as multipart with files."""

import json
import re
from dataclasses import dataclass, field
from typing import Annotated, Literal

from aiohttp import BodyPartReader, web
from pydantic import BaseModel, ConfigDict, Field, JsonValue, field_validator, model_validator

from parley.testing.emulators.discord_state import Json

_FILE_PART = re.compile(r"files\[(\d+)\]")


class DiscordError(Exception):
    """An error in Discord's words; `code` 0 stands for plain HTTP errors."""

    def __init__(
        self, status: int, code: int, message: str, errors: Json | None = None, retry_after: float | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.errors = errors
        self.retry_after = retry_after


def invalid(name: str, code: str, message: str) -> DiscordError:
    """Return the error 50035 for a body with one invalid field."""
    return DiscordError(400, 50035, "Invalid Form Body", {name: {"_errors": [{"code": code, "message": message}]}})


@dataclass(frozen=True)
class Upload:
    """A file in a multipart body."""

    name: str
    mime: str
    content: bytes = field(repr=False)


@dataclass(frozen=True)
class Body:
    """The JSON of a call, and its files by number."""

    fields: JsonValue
    uploads: dict[int, Upload]


async def read_body(request: web.Request) -> Body:
    """Read a body. Raises ValueError if it is neither JSON nor Discord's multipart."""
    if request.content_type == "multipart/form-data":
        return await _read_parts(request)
    text = await request.text()
    if text and request.content_type != "application/json":
        raise ValueError(f"a body of type {request.content_type}")
    return Body(json.loads(text) if text else {}, {})


async def _read_parts(request: web.Request) -> Body:
    fields: JsonValue = {}
    uploads: dict[int, Upload] = {}
    async for part in await request.multipart():
        if not isinstance(part, BodyPartReader) or part.name is None:
            raise ValueError("a part of the body has no name")
        content = bytes(await part.read())
        numbered = _FILE_PART.fullmatch(part.name)
        if part.name == "payload_json":
            fields = json.loads(content)
        elif numbered and part.filename:
            mime = part.headers.get("Content-Type", "application/octet-stream")
            uploads[int(numbered[1])] = Upload(part.filename, mime, content)
        else:
            raise ValueError(f"a part of the body is called {part.name}")
    return Body(fields, uploads)


Id = str | int


class Params(BaseModel):
    """Base model that rejects fields the emulator does not know."""

    model_config = ConfigDict(extra="forbid")


class AllowedMentions(Params):
    parse: list[Literal["everyone", "roles", "users"]] = []
    users: list[Id] = []
    roles: list[Id] = []
    replied_user: bool = False

    @property
    def pings_crowds(self) -> bool:
        return bool({"everyone", "roles"} & set(self.parse) or self.roles)


class Emoji(Params):
    id: Id | None = None
    name: str | None = None
    animated: bool = False


class EmbedParams(Params):
    type: str = "rich"
    title: Annotated[str, Field(max_length=256)] | None = None
    description: Annotated[str, Field(max_length=4096)] | None = None
    url: str | None = None
    timestamp: str | None = None
    color: int | None = None
    footer: Json | None = None
    image: Json | None = None
    thumbnail: Json | None = None
    author: Json | None = None
    fields: Annotated[list[Json], Field(max_length=25)] | None = None
    flags: int | None = None


class Reference(Params):
    type: Literal[0] = 0
    message_id: Id
    channel_id: Id | None = None
    guild_id: Id | None = None
    fail_if_not_exists: bool = True


class AttachmentParams(Params):
    id: Id
    filename: str | None = None
    description: str | None = None
    duration_secs: float | None = None
    waveform: str | None = None
    """In base64, as is told of voice messages."""


class MessageParams(Params):
    """Fields common to all kinds of messages."""

    content: str | None = None
    embeds: Annotated[list[EmbedParams], Field(max_length=10)] | None = None
    components: list[JsonValue] | None = None
    """Checked by `check_message`."""
    attachments: Annotated[list[AttachmentParams], Field(max_length=10)] | None = None
    allowed_mentions: AllowedMentions | None = None
    flags: int | None = None


class PostMessage(MessageParams):
    tts: Literal[False] = False
    nonce: Annotated[str, Field(max_length=25)] | None = None
    enforce_nonce: bool = False
    message_reference: Reference | None = None


class PatchMessage(MessageParams):
    tts: Literal[False] = False


Words = dict[str, str]


class Choice(Params):
    name: Annotated[str, Field(min_length=1, max_length=100)]
    value: Annotated[str, Field(max_length=100)] | int | float
    name_localizations: Words | None = None


class CallbackMessage(MessageParams):
    tts: Literal[False] = False
    choices: Annotated[list[Choice], Field(max_length=25)] | None = None
    """Of the response to a request for completion."""
    title: str | None = None
    custom_id: str | None = None
    """Of a modal, checked by `check_modal`."""


class Callback(Params):
    type: Literal[4, 5, 6, 7, 8, 9]
    data: CallbackMessage | None = None


class PostThread(Params):
    name: Annotated[str, Field(min_length=1, max_length=100)]
    auto_archive_duration: Literal[60, 1440, 4320, 10080] | None = None
    rate_limit_per_user: int | None = None
    type: Literal[11] = 11


class PatchThread(Params):
    name: Annotated[str, Field(min_length=1, max_length=100)] | None = None
    archived: bool | None = None
    locked: bool | None = None
    auto_archive_duration: Literal[60, 1440, 4320, 10080] | None = None


class OpenDirect(Params):
    recipient_id: Id


class Option(Params):
    type: Literal[3, 4, 5, 6, 7, 8, 9, 10, 11]
    name: Annotated[str, Field(pattern=r"^[-_'\w]{1,32}$")]
    description: Annotated[str, Field(min_length=1, max_length=100)]
    required: bool = False
    choices: Annotated[list[Choice], Field(max_length=25)] | None = None
    autocomplete: bool = False
    min_length: int | None = None
    max_length: int | None = None
    min_value: float | None = None
    max_value: float | None = None
    channel_types: list[int] | None = None
    name_localizations: Words | None = None
    description_localizations: Words | None = None

    @model_validator(mode="after")
    def _one_kind_of_list(self) -> "Option":
        if self.autocomplete and (self.choices or self.type not in (3, 4, 10)):
            raise ValueError("autocompletion is for texts and numbers without choices")
        return self


SLASH_NAME = re.compile(r"[-_'\w]{1,32}")


class Command(Params):
    """A slash command (1), or an entry in the menu on messages (3), whose name may have spaces and any sign."""

    name: Annotated[str, Field(min_length=1, max_length=32)]
    description: Annotated[str, Field(max_length=100)] = ""
    type: Literal[1, 3] = 1
    options: Annotated[list[Option], Field(max_length=25)] = []
    name_localizations: dict[str, Annotated[str, Field(min_length=1, max_length=32)]] | None = None
    description_localizations: dict[str, Annotated[str, Field(min_length=1, max_length=100)]] | None = None
    default_member_permissions: str | int | None = None
    dm_permission: bool | None = None
    nsfw: bool = False
    contexts: list[Literal[0, 1, 2]] | None = None
    integration_types: list[Literal[0, 1]] | None = None

    @model_validator(mode="after")
    def _as_its_type_demands(self) -> "Command":
        if self.type == 3 and (self.description or self.options or self.description_localizations):
            raise ValueError("an entry in the menu on messages has no description and no options")
        names = (self.name, *(self.name_localizations or {}).values())
        if self.type == 1 and not (self.description and all(map(SLASH_NAME.fullmatch, names))):
            raise ValueError("a slash command needs a description, and a name without spaces and signs")
        return self

    @field_validator("options")
    @classmethod
    def _required_ones_first(cls, options: list[Option]) -> list[Option]:
        if [each.required for each in options] != sorted((each.required for each in options), reverse=True):
            raise ValueError("required options must be before optional ones")
        if len({each.name for each in options}) < len(options):
            raise ValueError("the names of options must be unique")
        return options


class Commands(Params):
    commands: Annotated[list[Command], Field(max_length=100)]
