"""The border to models: what is asked, what streams back, how a request fails.

A client never raises for a request that failed: the failure is the last event of the stream (S2-03, S4-50).
"""

from collections.abc import AsyncGenerator
from enum import StrEnum
from typing import Annotated, Literal, Protocol, runtime_checkable

from pydantic import Field, SecretStr

from agent_core.messages import AssistantMessage, Frozen, JsonObject, LlmMessage, Text

ThinkingLevel = Literal["off", "minimal", "low", "medium", "high", "xhigh", "max"]


class ModelInfo(Frozen):
    """One model as the loop needs to know it; prices are US dollars per million tokens, None where unknown."""

    id: str
    provider: str = ""
    context_window: int = 32_000
    max_output: int = 4096
    vision: bool = False
    tools: bool = True
    reasoning: bool = False
    thinking_levels: tuple[ThinkingLevel, ...] = ("low", "medium", "high")
    """Those that a model which thinks can tell apart."""
    adaptive: bool = False
    """Whether it finds out itself how long to think, and takes no budget."""
    input_price: float | None = None
    output_price: float | None = None
    cache_read_price: float | None = None
    """None: as `input_price`."""
    cache_write_price: float | None = None

    def answer_tokens(self, wanted: int) -> int:
        """How long an answer may be: no more than the model can say, and of a small window no more than a quarter."""
        return max(1, min(wanted, self.max_output, self.context_window // 4))


class LlmOptions(Frozen):
    """How to ask; `timeout_s` is the longest silence of a stream, `max_retry_delay_s` the longest wait a server may
    ask for before the run fails instead (S4-43; 0 = no cap)."""

    temperature: float | None = 0.7
    max_tokens: int = 4096
    thinking: ThinkingLevel = "off"
    thinking_budgets: dict[str, int] = Field(default_factory=dict)
    session_id: str | None = None
    api_key: SecretStr | None = None
    """Instead of the key that the client has (S4-06)."""
    max_retry_delay_s: float = 60.0
    timeout_s: float = 120.0


class ToolSpec(Frozen):
    """A tool as the model sees it; `parameters` is a JSON schema of an object."""

    name: str
    description: str
    parameters: JsonObject
    label: str = ""


class LlmRequest(Frozen):
    system: Text
    messages: tuple[LlmMessage, ...]
    tools: tuple[ToolSpec, ...] = ()
    tool_choice: Literal["auto", "none"] = "auto"


class FailureKind(StrEnum):
    """Why a request failed, as far as it decides what to do next (C-25)."""

    OVERFLOW = "overflow"
    """The request is larger than the model's window."""
    TRANSIENT = "transient"
    """Worth another try: network, overload, rate limit, a stream that was cut."""
    QUOTA = "quota"
    """The account has no money or no quota left."""
    AUTH = "auth"
    """The key is missing, wrong or revoked."""
    INVALID = "invalid"
    """The server refused the request as such; asking again would be refused again."""
    FATAL = "fatal"


class LlmFailure(Frozen):
    kind: FailureKind
    message: Text
    """For the log and the owner; may name hosts, never holds a secret."""
    retry_after_s: float | None = None


class StreamStart(Frozen):
    type: Literal["start"] = "start"


class TextDelta(Frozen):
    type: Literal["text_delta"] = "text_delta"
    index: int
    """Which content block of the message grows."""
    delta: Text


class ThinkingDelta(Frozen):
    type: Literal["thinking_delta"] = "thinking_delta"
    index: int
    delta: Text


class ToolCallDelta(Frozen):
    type: Literal["tool_call_delta"] = "tool_call_delta"
    index: int
    id: str | None = None
    name: Text | None = None
    delta: Text = ""
    """The next piece of the arguments' JSON."""


class StreamDone(Frozen):
    """Always the last event. `message` holds what arrived; with a failure its stop reason is ERROR."""

    type: Literal["done"] = "done"
    message: AssistantMessage
    failure: LlmFailure | None = None


StreamDelta = Annotated[TextDelta | ThinkingDelta | ToolCallDelta, Field(discriminator="type")]
StreamEvent = Annotated[
    StreamStart | TextDelta | ThinkingDelta | ToolCallDelta | StreamDone, Field(discriminator="type")
]


class LlmClient(Protocol):
    """Speaks one wire protocol."""

    def stream(self, model: ModelInfo, request: LlmRequest, options: LlmOptions) -> AsyncGenerator[StreamEvent, None]:
        """Ask once, without retries. Ends with exactly one `StreamDone`, and never raises for a failed request.

        Closing the generator closes the connection; that is how a run is stopped.
        """

    async def close(self) -> None:
        """Give back connections."""


@runtime_checkable
class WarmsUp(Protocol):
    """A client whose first call would be slow."""

    async def warm_up(self) -> None:
        """Do now, off the event loop, what the first call would wait for."""
