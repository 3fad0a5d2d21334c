"""Everything that can happen in a run, as a closed union of sixteen event classes.

Consumers match on the class and end with `assert_never`. Events carry deltas, never a whole partial message.
"""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, TypeAdapter

from agent_core.messages import (
    AgentMessage,
    AssistantMessage,
    Frozen,
    JsonObject,
    SummaryMessage,
    Text,
    ToolResultMessage,
    Usage,
)
from agent_core.models.llm import FailureCause, FailureKind, StreamDelta
from agent_core.reasons import TerminalReason, TransitionReason
from agent_core.tasks import TaskRecord
from agent_core.tool_result import ToolResult


class Event(Frozen):
    seq: int = 0
    """Position in the run, from 1; stamped by the loop, as are `run_id` and `ts`."""
    run_id: str = ""
    ts: float = 0.0


class AgentStart(Event):
    type: Literal["agent_start"] = "agent_start"
    model_calls: int = 0
    """Model calls already made, when a run is resumed after a restart."""
    tool_calls: int = 0
    """Tool calls already made, likewise."""


class TurnStart(Event):
    type: Literal["turn_start"] = "turn_start"
    turn: int
    """Number of the model call in the run, from 1."""
    reason: TransitionReason


class MessageStart(Event):
    type: Literal["message_start"] = "message_start"
    message: AgentMessage


class MessageUpdate(Event):
    type: Literal["message_update"] = "message_update"
    message_id: str
    delta: StreamDelta


class MessageEnd(Event):
    type: Literal["message_end"] = "message_end"
    message: AgentMessage


class ToolExecutionStart(Event):
    type: Literal["tool_execution_start"] = "tool_execution_start"
    tool_call_id: str
    tool_name: Text
    label: Text
    """The tool and its target, as shown to users."""
    labels: Mapping[str, Text] = Field(default_factory=dict)
    """The same in other languages, by their tags."""
    args: JsonObject

    def label_in(self, language: str) -> str:
        """Return the label in a language, or in English if the tool has none in it."""
        return self.labels.get(language, self.label)


class ToolExecutionUpdate(Event):
    type: Literal["tool_execution_update"] = "tool_execution_update"
    tool_call_id: str
    tool_name: Text
    partial: ToolResult


class ToolExecutionEnd(Event):
    type: Literal["tool_execution_end"] = "tool_execution_end"
    tool_call_id: str
    tool_name: Text
    result: ToolResult
    is_error: bool
    attempts: int = 1
    """0 if the call was never run."""
    duration_ms: int | None = None
    denied: str | None = None
    """Fingerprint of the call, if it was refused."""


class TurnEnd(Event):
    type: Literal["turn_end"] = "turn_end"
    turn: int
    message: AssistantMessage
    tool_results: tuple[ToolResultMessage, ...] = ()


CompactionReason = Literal["manual", "threshold", "overflow", "resume"]


class CompactionStart(Event):
    type: Literal["compaction_start"] = "compaction_start"
    reason: CompactionReason


class CompactionEnd(Event):
    type: Literal["compaction_end"] = "compaction_end"
    boundary: SummaryMessage | None
    tokens_before: int
    tokens_after: int
    usage: Usage = Usage()
    """Cost of the summary itself."""
    error: Text | None = None


class RetryScheduled(Event):
    type: Literal["retry_scheduled"] = "retry_scheduled"
    scope: Literal["llm", "tool"]
    attempt: int
    """Number of the attempt that failed, from 1."""
    max_attempts: int
    delay_s: float
    error: Text
    model: str | None = None
    """The model that failed."""
    next_model: str | None = None
    """The model to be asked next, if the failed one is given up for now."""


class PermissionRequest(Event):
    type: Literal["permission_request"] = "permission_request"
    request_id: str
    tool_call_id: str
    tool_name: Text
    args: JsonObject
    reason: Text


class BudgetReached(Event):
    """A model call waits, because a budget has no room for it."""

    type: Literal["budget_reached"] = "budget_reached"
    reason: Text


class TaskEvent(Event):
    type: Literal["task"] = "task"
    task: TaskRecord


class AgentEnd(Event):
    """The last event of every run; there is exactly one."""

    type: Literal["agent_end"] = "agent_end"
    reason: TerminalReason
    messages: tuple[AgentMessage, ...]
    """The messages that this run added, in order."""
    error: Text | None = None
    """For the log and the bot's owner."""
    failure: FailureKind | None = None
    """Set if a model failure ended the run."""
    cause: FailureCause | None = None
    retry_after_s: float | None = None
    """Seconds that the provider asked to wait."""
    address: Text | None = None
    """Host and port of the model's server, if nothing answers there."""


AgentEvent = Annotated[
    AgentStart
    | TurnStart
    | MessageStart
    | MessageUpdate
    | MessageEnd
    | ToolExecutionStart
    | ToolExecutionUpdate
    | ToolExecutionEnd
    | TurnEnd
    | CompactionStart
    | CompactionEnd
    | RetryScheduled
    | PermissionRequest
    | BudgetReached
    | TaskEvent
    | AgentEnd,
    Field(discriminator="type"),
]
event_adapter: TypeAdapter[AgentEvent] = TypeAdapter(AgentEvent, config=ConfigDict(defer_build=True))
