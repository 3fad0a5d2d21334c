"""Parameters of the Web API methods, as query, form or JSON."""

import json
from typing import Annotated, Literal
from urllib.parse import parse_qsl

from aiohttp import web
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, JsonValue

from parley.testing.emulators.slack_wire import Json, SlackError

MOST_SESSION_TITLE = 200
Fields = dict[str, object]


async def read_fields(request: web.Request) -> Fields:
    """Return the arguments of a call; those in the body take precedence. Raises SlackError for an invalid body."""
    fields: Fields = dict(request.query)
    body = await request.text()
    if not body:
        return fields
    if request.content_type == "application/json":
        try:
            fields.update(json.loads(body))
        except (ValueError, TypeError):
            raise SlackError("invalid_json") from None
    elif request.content_type == "application/x-www-form-urlencoded":
        fields.update(parse_qsl(body, keep_blank_values=True))
    else:
        raise SlackError("invalid_post_type")
    return fields


def _unpack(value: object) -> object:
    """Parse lists and objects, which forms and sometimes JSON bodies carry as JSON text."""
    if not isinstance(value, str):
        return value
    return json.loads(value) if value else None


Unpacked = BeforeValidator(_unpack)
Objects = Annotated[list[Json] | None, Unpacked]
Object = Annotated[Json, Unpacked]


class Params(BaseModel):
    """Base model that rejects arguments the emulator does not know."""

    model_config = ConfigDict(extra="forbid")


class MethodParams(Params):
    """Arguments of a method, with the default `team_id` that Bolt adds to every call."""

    team_id: str | None = None


class Metadata(Params):
    """Message metadata; an empty object removes it."""

    event_type: str = ""
    event_payload: Json = Field(default_factory=dict)

    def to_json(self) -> Json | None:
        return {"event_type": self.event_type, "event_payload": self.event_payload} if self.event_type else None


class InChannel(MethodParams):
    channel: str


class Content(InChannel):
    """Fields common to all messages."""

    text: str | None = None
    blocks: Objects = None
    attachments: Objects = None
    markdown_text: str | None = None
    link_names: bool = False
    parse: Literal["none", "full"] | None = None


class Dressed(MethodParams):
    username: str | None = None
    icon_emoji: str | None = None
    icon_url: str | None = None


class PostMessage(Content, Dressed):
    thread_ts: str | None = None
    reply_broadcast: bool = False
    unfurl_links: bool = True
    unfurl_media: bool = True
    mrkdwn: bool = True
    client_msg_id: str | None = None
    metadata: Annotated[Metadata | None, Unpacked] = None


class PostEphemeral(Content, Dressed):
    thread_ts: str | None = None
    user: str


class Update(Content):
    ts: str
    reply_broadcast: bool = False
    metadata: Annotated[Metadata | None, Unpacked] = None


class OneMessage(InChannel):
    ts: str


class Paged(MethodParams):
    cursor: str = ""
    limit: int = Field(default=100, ge=1, le=1000)


class History(InChannel, Paged):
    oldest: str = "0"
    latest: str = ""
    inclusive: bool = False
    include_all_metadata: bool = False


class Replies(History):
    ts: str
    limit: int = Field(default=1000, ge=1, le=1000)


class ConversationInfo(InChannel):
    include_locale: bool = False
    include_num_members: bool = False


class ConversationList(Paged):
    exclude_archived: bool = False
    types: str = "public_channel"


class ConversationOpen(MethodParams):
    channel: str | None = None
    users: str | None = None
    return_im: bool = False


class Members(InChannel, Paged):
    pass


class UserInfo(MethodParams):
    user: str
    include_locale: bool = False


class BotInfo(MethodParams):
    bot: str = ""


class TeamInfo(MethodParams):
    team: str | None = None
    domain: str | None = None


class Reaction(InChannel):
    name: str = Field(pattern=r"^[a-z0-9_+'-]+(::skin-tone-[2-6])?$")
    timestamp: str


class AssistantThread(MethodParams):
    channel_id: str
    thread_ts: str


class AssistantStatus(AssistantThread, Dressed):
    status: str
    loading_messages: Annotated[list[str] | None, Unpacked] = None


class AssistantTitle(AssistantThread):
    title: str


class AssistantPrompts(MethodParams):
    channel_id: str
    thread_ts: str | None = None
    title: str | None = None
    prompts: Annotated[list[dict[str, str]], Unpacked]


class SessionStatus(MethodParams):
    channel_id: str
    status: Literal["active", "processing", "suspended", "closed"]
    thread_ts: str
    title: str | None = Field(default=None, max_length=MOST_SESSION_TITLE)
    initiator_user_id: str | None = None


class SessionTitle(MethodParams):
    channel_id: str
    title: str = Field(min_length=1, max_length=MOST_SESSION_TITLE)
    thread_ts: str


class Chunk(Params):
    """A part of a streamed message."""

    type: Literal["markdown_text", "task_update", "plan_update", "blocks"]
    text: str = ""
    id: str = ""
    title: str = ""
    status: Literal["pending", "in_progress", "complete", "error"] = "pending"
    details: JsonValue = None
    output: JsonValue = None
    sources: JsonValue = None
    blocks: list[Json] = Field(default_factory=list)


Chunks = Annotated[list[Chunk] | None, Unpacked]


class StreamPart(InChannel):
    markdown_text: str | None = None
    chunks: Chunks = None


class StartStream(StreamPart, Dressed):
    thread_ts: str | None = None
    recipient_team_id: str | None = None
    recipient_user_id: str | None = None
    task_display_mode: Literal["timeline", "plan", "dense"] | None = None


class AppendStream(StreamPart):
    ts: str


class StopStream(StreamPart):
    ts: str
    blocks: Objects = None
    metadata: Annotated[Metadata | None, Unpacked] = None
    session_status: Literal["active", "processing", "suspended", "closed"] = "active"


class OpenView(MethodParams):
    view: Object
    trigger_id: str


class UpdateView(MethodParams):
    view: Object
    view_id: str | None = None
    external_id: str | None = None
    hash: str | None = None


class PublishView(MethodParams):
    user_id: str
    view: Object
    hash: str | None = None


class UploadUrl(MethodParams):
    filename: str = Field(min_length=1)
    length: int = Field(gt=0)
    alt_txt: str | None = None
    snippet_type: str | None = None


class CompleteUpload(MethodParams):
    files: Annotated[list[dict[str, str]], Unpacked]
    channel_id: str | None = None
    channels: str | None = None
    thread_ts: str | None = None
    initial_comment: str | None = None
    blocks: Objects = None


class FileInfo(MethodParams):
    file: str
