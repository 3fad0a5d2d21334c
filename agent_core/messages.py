"""What is said in a chat, as the agent keeps it: frozen, JSON-safe, one closed union (behaviour row S3-24)."""

import math
import time
from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, JsonValue, TypeAdapter

from agent_core.clock import new_id


def clean(text: object) -> object:
    """Join surrogate pairs and replace lone surrogates, which neither SQLite nor JSON over a wire can carry."""
    if isinstance(text, str) and not text.isascii():
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def clean_json(value: object) -> object:
    """Make a foreign value JSON: NaN and infinities become null, bytes and lone surrogates become text."""
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
    """A value: never changed, with no field that is not declared."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class TextContent(Frozen):
    type: Literal["text"] = "text"
    text: Text


class ThinkingContent(Frozen):
    """A model's reasoning; never shown as an answer."""

    type: Literal["thinking"] = "thinking"
    thinking: Text
    signature: str | None = None
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
    """Why the arguments could not be read, with the start of what the model sent; such a call is never run."""


UserContent = Annotated[TextContent | ImageContent, Field(discriminator="type")]
AssistantContent = Annotated[TextContent | ThinkingContent | ToolCall, Field(discriminator="type")]


class StopReason(StrEnum):
    STOP = "stop"
    LENGTH = "length"
    TOOL_USE = "tool_use"
    ERROR = "error"
    ABORTED = "aborted"


class Usage(Frozen):
    """Tokens and money of one model call; `input` counts what was not read from a cache."""

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


class _Message(Frozen):
    id: str = Field(default_factory=new_id)
    created_at: float = Field(default_factory=time.time)
    """Seconds since the epoch."""
    parent_id: str | None = None
    session_id: str | None = None


class UserMessage(_Message):
    role: Literal["user"] = "user"
    content: tuple[UserContent, ...]
    source: Text | None = None
    """The speaker's name where several people speak; the model sees it before the words (S2-44)."""
    context: Text | None = None
    """What was true when this was said (time, place, quoted message); rendered into the user turn (D-04)."""
    untrusted: bool = False
    """Whether it brings words of others than the speaker: a quoted message, earlier talk, a file's name."""
    by_agent: bool = False
    """Whether another agent wrote it, so that nobody has given what stands in it."""


class AssistantMessage(_Message):
    role: Literal["assistant"] = "assistant"
    content: tuple[AssistantContent, ...]
    stop_reason: StopReason
    usage: Usage = Usage()
    model: str | None = None
    error_message: Text | None = None

    @property
    def text(self) -> str:
        """The words for people: without thinking, without tool calls."""
        return text_of(self.content)

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        return tuple(part for part in self.content if isinstance(part, ToolCall))


class ToolResultMessage(_Message):
    role: Literal["tool_result"] = "tool_result"
    tool_call_id: Text
    tool_name: Text
    content: tuple[UserContent, ...]
    details: Json = None
    is_error: bool = False
    duration_ms: int | None = None
    untrusted: bool = False
    """Whether strangers may have written it."""


class SummaryMessage(_Message):
    """A compact boundary: stands for everything before `first_kept_id` (C-10)."""

    role: Literal["summary"] = "summary"
    summary: Text
    """Empty where nothing was summarised, and only results were shortened."""
    first_kept_id: str
    tokens_before: int
    short_until: str = ""
    """The id of the last message whose tool results are shown shortened (S0-27)."""
    untrusted: bool = True
    """Whether strangers had a word in what it stands for."""


class NotificationMessage(_Message):
    """Something the program says, for people; the model sees it only where `to_model` is set."""

    role: Literal["notification"] = "notification"
    kind: str
    text: Text
    data: JsonObject = Field(default_factory=dict)
    to_model: bool = False
    quoted: Text = ""
    """What it passes on to the model in others' words."""
    untrusted: bool = False
    """Whether strangers may have written what it passes on."""


class CustomMessage(_Message):
    """An application's own entry: kept in the history, dropped at the model's border (S4-02, S4-48)."""

    role: Literal["custom"] = "custom"
    kind: str
    data: JsonObject


LlmMessage = Annotated[UserMessage | AssistantMessage | ToolResultMessage, Field(discriminator="role")]
AgentMessage = Annotated[
    UserMessage | AssistantMessage | ToolResultMessage | SummaryMessage | NotificationMessage | CustomMessage,
    Field(discriminator="role"),
]
message_adapter: TypeAdapter[AgentMessage] = TypeAdapter(AgentMessage)


def text_of(content: Iterable[TextContent | ThinkingContent | ImageContent | ToolCall]) -> str:
    """The text parts, joined as they stand."""
    return "".join(part.text for part in content if isinstance(part, TextContent))


def user(text: str, *images: ImageContent, source: str | None = None, context: str | None = None) -> UserMessage:
    """A person's message; images stand before the text (S2-15)."""
    return UserMessage(content=(*images, TextContent(text=text)), source=source, context=context)
