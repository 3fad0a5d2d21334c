"""The interface to models: requests, streamed responses and failures.

A client never raises for a failed request: the failure is the last event of the stream.
"""

from collections.abc import AsyncGenerator
from enum import StrEnum
from typing import Annotated, Literal, Protocol, runtime_checkable

from pydantic import Field, SecretStr

from agent_core.messages import AssistantMessage, Frozen, JsonObject, LlmMessage, Text

ThinkingLevel = Literal["off", "minimal", "low", "medium", "high", "xhigh", "max"]


class ModelInfo(Frozen):
    """A model's properties, as far as the loop needs them; prices are US dollars per million tokens, None if
    unknown."""

    id: str
    """Its name as people read and write it."""
    sent_as: str = ""
    """Its name as the server knows it, if not `id`: the path of a file on the server's disk."""
    provider: str = ""
    context_window: int = 32_000
    max_output: int = 4096
    is_ai: bool = True
    """False for one that only plays a model, which people are told."""
    vision: bool = False
    tools: bool = True
    reasoning: bool = False
    thinking_levels: tuple[ThinkingLevel, ...] = ("low", "medium", "high")
    """The levels that a reasoning model distinguishes."""
    adaptive: bool = False
    """True if the model decides itself how long to think, and takes no budget."""
    input_price: float | None = None
    output_price: float | None = None
    cache_read_price: float | None = None
    """None: same as `input_price`."""
    cache_write_price: float | None = None

    @property
    def wire_name(self) -> str:
        """Return the name with which requests ask for the model."""
        return self.sent_as or self.id

    def answer_tokens(self, wanted: int) -> int:
        """Return the longest answer to request: at most the model's maximum and a quarter of its window."""
        return max(1, min(wanted, self.max_output, self.context_window // 4))


class LlmOptions(Frozen):
    """Options of a request.

    `timeout_s` is the longest silence of a stream; `max_retry_delay_s` the longest wait that a server may ask for
    before the run fails instead (0: no limit).
    """

    temperature: float | None = 0.7
    max_tokens: int = 4096
    thinking: ThinkingLevel = "off"
    thinking_budgets: dict[str, int] = Field(default_factory=dict)
    session_id: str | None = None
    api_key: SecretStr | None = None
    """Overrides the client's own key."""
    max_retry_delay_s: float = 60.0
    timeout_s: float = 120.0


class ToolSpec(Frozen):
    """A tool as the model sees it; `parameters` is a JSON schema of an object."""

    name: str
    description: str
    parameters: JsonObject


class LlmRequest(Frozen):
    """A request: the conversation so far, and the tools that may be called."""

    system: Text
    messages: tuple[LlmMessage, ...]
    tools: tuple[ToolSpec, ...] = ()
    tool_choice: Literal["auto", "none"] = "auto"


class FailureKind(StrEnum):
    """Kind of a request failure; decides what to do next."""

    OVERFLOW = "overflow"
    """The request is larger than the model's window."""
    TRANSIENT = "transient"
    """Worth a retry: network, overload, rate limit, a stream that was cut."""
    QUOTA = "quota"
    """The account has no money or no quota left."""
    AUTH = "auth"
    """The key is missing, wrong or revoked."""
    INVALID = "invalid"
    """The server rejected the request itself; a retry would be rejected too."""
    SPENT = "spent"
    """A budget of the application has no room for the call."""
    FATAL = "fatal"


class FailureCause(StrEnum):
    """Finer cause of a failure, for what users are told."""

    NETWORK = "network"
    """The server could not be reached, or stopped sending."""
    HANDLES = "handles"
    """No connection could be opened, as the process or the machine had no file handle left."""
    SERVER = "server"
    """The server answered with an error of its own (5xx)."""
    MEMORY = "memory"
    """The server's machine has too little memory for the model, so asking it again is useless."""
    RATE_LIMIT = "rate_limit"
    NO_MODEL = "no_model"
    """No model is set."""
    NOT_FOUND = "not_found"
    """The model or the address does not exist."""
    REGION = "region"
    """The provider does not serve the place from which it is asked."""
    CONTENT = "content"
    """The provider refuses to answer this content."""
    PARAMETER = "parameter"
    """The server does not take a parameter of the request."""
    PROTOCOL = "protocol"
    """The server at the address speaks another protocol."""
    UNFINISHED = "unfinished"
    """The answer ended for a reason that is not known, so it may lack its end."""


class LlmFailure(Frozen):
    kind: FailureKind
    cause: FailureCause | None = None
    message: Text
    """For the log and the bot's owner; may name hosts, never contains a secret."""
    address: Text | None = None
    """Host and port, if nothing answers there."""
    retry_after_s: float | None = None
    may_be_billed: bool = False
    """True if the server may have worked on the request although it has not begun to answer."""


class StreamStart(Frozen):
    """The first event: the model begins to answer."""

    type: Literal["start"] = "start"


class TextDelta(Frozen):
    type: Literal["text_delta"] = "text_delta"
    index: int
    """Position of the content block that grows."""
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
    """The next piece of the JSON arguments."""


class StreamDone(Frozen):
    """Always the last event. `message` holds what arrived; after a failure its stop reason is ERROR."""

    type: Literal["done"] = "done"
    message: AssistantMessage
    failure: LlmFailure | None = None
    lost_tools: bool = False
    """True if it turned out that the model's server takes no tools."""


StreamDelta = Annotated[TextDelta | ThinkingDelta | ToolCallDelta, Field(discriminator="type")]
StreamEvent = Annotated[
    StreamStart | TextDelta | ThinkingDelta | ToolCallDelta | StreamDone, Field(discriminator="type")
]
"""What a client tells while a model answers: it begins, grows, and is done."""


class LlmClient(Protocol):
    """A client of one wire protocol."""

    def stream(self, model: ModelInfo, request: LlmRequest, options: LlmOptions) -> AsyncGenerator[StreamEvent, None]:
        """Send the request once, without retries, except in another manner if the server refuses a parameter of it.

        The stream ends with exactly one `StreamDone` and never raises for a failed request. Closing the generator
        closes the connection; that is how a run is stopped. It holds no timeout and no task group while it yields, as
        these would end the run, whose task reads the stream.
        """

    async def close(self) -> None:
        """Close all connections."""


@runtime_checkable
class WarmsUp(Protocol):
    """A client whose first call would be slow without `warm_up`."""

    async def warm_up(self) -> None:
        """Do now, off the event loop, what the first call would wait for."""
