"""What the parts of a run share: what they work with, how far the run has come, and what follows a turn."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Protocol

from agent_core.cancel import CancelToken
from agent_core.events import AgentEvent, CompactionReason
from agent_core.hooks import HookCalls
from agent_core.limits import LoopLimits, TaskBudget
from agent_core.llm import FailureKind, LlmRequest
from agent_core.loop.calls import CallBatch, CallRunner
from agent_core.loop.execution import CallScope
from agent_core.loop.model_call import ModelCaller
from agent_core.messages import AgentMessage, AssistantMessage, StopReason, ToolCall
from agent_core.reasons import TerminalReason, TransitionReason
from agent_core.state import QueryState


class RequestBuilder(Protocol):
    """What the loop needs of the context: a request for the state as it is now (D-02)."""

    def build_request(self, state: QueryState, *, with_tools: bool = True) -> LlmRequest: ...


class Compactor(Protocol):
    """What the loop needs to keep a conversation within the model's window."""

    def is_due(self, state: QueryState) -> bool:
        """Whether the next request would be too large (C-08)."""

    def events(
        self, state: QueryState, reason: CompactionReason, cancel: CancelToken, instructions: str = ""
    ) -> AsyncGenerator[AgentEvent, None]:
        """Make it shorter: a `CompactionStart`, the boundary as a message where there is one, a `CompactionEnd`. Never
        raises, and never cuts between a call and its result (U-13). `instructions`: what is to be kept above all."""


@dataclass(frozen=True)
class RunInputs:
    """What one run is given (S3-06); nothing is taken from globals."""

    scope: CallScope
    budget: TaskBudget = field(default_factory=TaskBudget)


@dataclass
class Run:
    """A run under way."""

    state: QueryState
    inputs: RunInputs
    started: float
    """On the monotonic clock."""
    new: list[AgentMessage] = field(default_factory=list)
    """What this run has added, in order."""
    pending: list[AgentMessage] = field(default_factory=list)
    """Enters the conversation at the start of the next turn."""
    events: int = 0
    compacts: bool = True
    """Until the compactor has shown that it cannot get the conversation any shorter."""

    def __post_init__(self) -> None:
        self.begun_with = self.state.messages
        """The list that a compaction replaces by another."""

    @property
    def cancel(self) -> CancelToken:
        return self.inputs.scope.cancel

    @property
    def call_ids(self) -> "CallIds":
        return CallIds(self)


@dataclass(frozen=True)
class CallIds:
    """Of the tool calls that the conversation has had, those too that this run has told away. Looked up when the model
    calls a tool, and not at every turn, for that takes as long as the conversation is."""

    run: Run

    def __contains__(self, call_id: object) -> bool:
        return any(
            call.id == call_id
            for message in chain(self.run.begun_with, self.run.new)
            if isinstance(message, AssistantMessage)
            for call in message.tool_calls
        )


@dataclass(frozen=True)
class Next:
    """Another turn follows."""

    reason: TransitionReason


@dataclass(frozen=True)
class End:
    """The run ends."""

    reason: TerminalReason
    error: str | None = None
    failure: FailureKind | None = None

    @classmethod
    def broken(cls, error: str) -> "End":
        """By a failure that is not the model's: ours, or the application's."""
        return cls(TerminalReason.ERROR, error, FailureKind.FATAL)


@dataclass(frozen=True)
class Engine:
    """What a turn works with."""

    caller: ModelCaller
    runner: CallRunner
    context: RequestBuilder
    hooks: HookCalls
    compactor: Compactor | None

    @property
    def limits(self) -> LoopLimits:
        return self.runner.limits

    def batch(
        self,
        run: Run,
        answer: AssistantMessage,
        calls: Sequence[ToolCall],
        *,
        closing: bool = False,
        resumed: bool = False,
    ) -> CallBatch:
        """`calls` are those of the answer that are still open; a closing answer was to make none, so none is run."""
        left = 0 if closing else self.limits.max_tool_calls - run.state.tool_call_count
        cut_off = answer.stop_reason is StopReason.LENGTH
        return self.runner.batch(
            calls, run.inputs.scope, left=left, messages=run.state.messages, cut_off=cut_off, resumed=resumed
        )
