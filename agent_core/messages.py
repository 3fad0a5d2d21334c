"""The messages of a conversation: frozen, JSON-safe, one closed union."""

import math
import time
from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    TypeAdapter,
    ValidationInfo,
    model_validator,
)

from agent_core.clock import new_id
from agent_core.origin import CLEAN, DATA, NOT_KNOWN, Origin, named


def clean(text: object) -> object:
    """Join surrogate pairs and replace lone surrogates, which neither SQLite nor JSON over a wire can carry."""
    if isinstance(text, str) and not text.isascii():
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def clean_json(value: object) -> object:
    """Convert a foreign value to JSON: NaN and infinities become null, bytes and lone surrogates become text."""
    match value:
        case str():
            return clean(value)
        case float() if not math.isfinite(value):
            return None
        case bytes():
            return value.decode("utf-8", "replace")
        case dict():
            return {str(clean(str(key))): clean_json(item) for key, item in value.items()}
        case list() | tuple():
            return [clean_json(item) for item in value]
        case _:
            return value


Text = Annotated[str, BeforeValidator(clean)]
JsonObject = Annotated[dict[str, JsonValue], BeforeValidator(clean_json)]
Json = Annotated[JsonValue, BeforeValidator(clean_json)]


class Frozen(BaseModel):
    """An immutable value; undeclared fields are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class Opaque(Frozen):
    """Data that a provider attaches to an answer for its own model: it goes back to that model as it came, to no other,
    and is shown to nobody."""

    provider: str
    """The provider's name, or the host of a server."""
    model: str
    reasoning_in: tuple[str, ...] = ()
    """The fields of the answer in which the text of its `ThinkingContent` came."""
    fields: JsonObject = Field(default_factory=dict)
    """Other fields of the answer; those of a tool call are in the call."""


class TextContent(Frozen):
    type: Literal["text"] = "text"
    text: Text


class ThinkingContent(Frozen):
    """A model's reasoning; never shown as an answer."""

    type: Literal["thinking"] = "thinking"
    thinking: Text
    signature: str | None = None
    """Anthropic's proof that the text is unchanged; of a redacted block, all there is."""
    redacted: bool = False


class ImageContent(Frozen):
    type: Literal["image"] = "image"
    data: str
    """Base64."""
    mime_type: str


class ToolCall(Frozen):
    type: Literal["tool_call"] = "tool_call"
    id: Text
    name: Text
    arguments: JsonObject
    arguments_error: Text | None = None
    """Why the arguments could not be parsed, with the start of the raw text; such a call is never run."""
    opaque: JsonObject | None = None
    """Fields of the call that go back to the model of its answer; see `Opaque`."""


UserContent = Annotated[TextContent | ImageContent, Field(discriminator="type")]
AssistantContent = Annotated[TextContent | ThinkingContent | ToolCall, Field(discriminator="type")]


class StopReason(StrEnum):
    STOP = "stop"
    LENGTH = "length"
    PAUSE = "pause"
    """The model goes on with the answer when it gets it back."""
    TOOL_USE = "tool_use"
    ERROR = "error"
    ABORTED = "aborted"


class Usage(Frozen):
    """Tokens and cost of one model call; `input` does not include tokens read from a cache."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    total: int = 0
    cost_usd: float = 0.0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            input=self.input + other.input,
            output=self.output + other.output,
            cache_read=self.cache_read + other.cache_read,
            cache_write=self.cache_write + other.cache_write,
            total=self.total + other.total,
            cost_usd=self.cost_usd + other.cost_usd,
        )


class Derived(Frozen):
    """Content of a known origin."""

    origin: Origin

    @model_validator(mode="before")
    @classmethod
    def _of_earlier_version(cls, value: object, info: ValidationInfo) -> object:
        """Read the origin of a row of an earlier version; it is unknown where none was recorded."""
        if info.mode != "json" or not isinstance(value, dict) or "origin" in value:
            return value
        earlier = {key: each for key, each in value.items() if key not in ("untrusted", "sources")}
        return {**earlier, "origin": earlier_origin(value.get("untrusted"), value.get("sources"))}


def earlier_origin(untrusted: object, sources: object) -> Origin:
    """Return the origin that a row of an earlier version tells by these two fields."""
    if isinstance(sources, list) and sources:
        return named(*map(str, sources))
    if untrusted is False:
        return CLEAN
    return DATA if untrusted and sources == [] else NOT_KNOWN


class _Message(Frozen):
    id: str = Field(default_factory=new_id)
    created_at: float = Field(default_factory=time.time)
    """Seconds since the epoch."""
    parent_id: str | None = None
    session_id: str | None = None


class UserMessage(Derived, _Message):
    role: Literal["user"] = "user"
    content: tuple[UserContent, ...]
    source: Text | None = None
    """The sender's name in group chats, which the model sees before the text."""
    context: Text | None = None
    """Circumstances of the message (time, place, quoted message), rendered into the user turn."""
    private: bool = False
    """True if it quotes memory, files or earlier messages, which must not leave in an address without approval."""
    heard: Text = ""
    """What the sender is shown of a voice message in it, and of what could not be read, in Markdown; models do not
    read it."""
    files: tuple[Text, ...] = ()
    """The names of the files that came with it, by which people search for it."""
    by_agent: bool = False
    """True if another agent wrote it, so no user has provided its contents."""
    by_guest: bool = False
    """True if a guest wrote it, or strangers' names stand in it, so its contents are untrusted input."""

    @property
    def is_trusted(self) -> bool:
        """True if its contents are the words of a user who is no guest."""
        return not (self.by_agent or self.by_guest)


class AssistantMessage(Derived, _Message):
    """A model's answer. Its origin is that of what stands in no other message: the tools' descriptions."""

    role: Literal["assistant"] = "assistant"
    content: tuple[AssistantContent, ...]
    stop_reason: StopReason
    usage: Usage = Usage()
    model: str | None = None
    error_message: Text | None = None
    opaque: Opaque | None = None
    """None if the provider handed nothing out but words; in rows of earlier versions, too."""

    @property
    def text(self) -> str:
        """Return the text for users: no reasoning, no tool calls."""
        return text_of(self.content)

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        return tuple(part for part in self.content if isinstance(part, ToolCall))


class ToolResultMessage(Derived, _Message):
    role: Literal["tool_result"] = "tool_result"
    tool_call_id: Text
    tool_name: Text
    content: tuple[UserContent, ...]
    details: Json = None
    is_error: bool = False
    duration_ms: int | None = None


class SummaryMessage(Derived, _Message):
    """A compaction boundary: replaces everything before `first_kept_id`."""

    role: Literal["summary"] = "summary"
    summary: Text
    """Empty if no summary was made, and only tool results were shortened."""
    first_kept_id: str
    tokens_before: int
    short_until: str = ""
    """Id of the last message whose tool results are shown shortened."""
    tools: tuple[str, ...] = ()
    """Tools found or called in what it replaces, in that order."""


class NotificationMessage(Derived, _Message):
    """A message of the program to users; the model sees it only if `to_model` is set."""

    role: Literal["notification"] = "notification"
    kind: str
    text: Text
    data: JsonObject = Field(default_factory=dict)
    to_model: bool = False
    quoted: Text = ""
    """Text of others that it passes on to the model."""


class CustomMessage(_Message):
    """An application's own entry: kept in the history, left out of requests."""

    role: Literal["custom"] = "custom"
    kind: str
    data: JsonObject


LlmMessage = Annotated[UserMessage | AssistantMessage | ToolResultMessage, Field(discriminator="role")]
AgentMessage = Annotated[
    UserMessage | AssistantMessage | ToolResultMessage | SummaryMessage | NotificationMessage | CustomMessage,
    Field(discriminator="role"),
]
message_adapter: TypeAdapter[AgentMessage] = TypeAdapter(AgentMessage, config=ConfigDict(defer_build=True))


def text_of(content: Iterable[TextContent | ThinkingContent | ImageContent | ToolCall]) -> str:
    """Return the text parts, joined without separators."""
    return "".join([part.text for part in content if isinstance(part, TextContent)])


def user(
    text: str, *images: ImageContent, origin: Origin, source: str | None = None, context: str | None = None
) -> UserMessage:
    """Return a user's message; images stand before the text."""
    return UserMessage(content=(*images, TextContent(text=text)), origin=origin, source=source, context=context)
