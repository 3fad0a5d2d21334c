"""Shared parts of a run: its collaborators, its progress, and the outcomes of a turn."""

from collections.abc import Sequence
from functools import cached_property
from itertools import chain
from typing import Protocol, TypeVar

from msgspec import Struct, field

from agent_core.cancel import CancelToken
from agent_core.clock import Clock, Runtime
from agent_core.events import AgentEvent, BudgetReached, CompactionEnd, CompactionReason, MessageEnd, PermissionRequest
from agent_core.loop.calls import BatchOutcome, CallBatch, CallRunner, ToolSetup
from agent_core.loop.event_stream import Emit
from agent_core.loop.execution import CallScope
from agent_core.loop.hooks import HookCalls
from agent_core.loop.limits import LoopLimits, SoFar, TaskBudget
from agent_core.loop.model_call import ModelCall, ModelCaller
from agent_core.loop.state import QueryState, reduce_event
from agent_core.messages import AgentMessage, AssistantMessage, StopReason, ToolCall
from agent_core.models.llm import FailureCause, FailureKind, LlmFailure, LlmRequest
from agent_core.reasons import TerminalReason, TransitionReason

E = TypeVar("E", bound=AgentEvent)


class RequestBuilder(Protocol):
    """Builds the request for the current state."""

    def build_request(self, state: QueryState, *, with_tools: bool = True) -> LlmRequest: ...


class Compactor(Protocol):
    """Keeps a conversation within the model's window."""

    def is_due(self, state: QueryState, caller: ModelCaller) -> bool:
        """Return True if the next request would be too large for the model that is asked next."""

    async def compact(
        self,
        state: QueryState,
        reason: CompactionReason,
        caller: ModelCaller,
        emit: Emit,
        cancel: CancelToken,
        instructions: str = "",
    ) -> CompactionEnd:
        """Compact the conversation, and return the last event.

        Emits a `CompactionStart`, the boundary as a message if there is one, and a `CompactionEnd`. Never fails by
        itself, and never separates a call from its result.

        Args:
            caller: Asks the model for summaries, the same as for answers.
            instructions: Parts that must be kept, in the words of a user.
        """


class Run(Struct):
    """A run under way."""

    state: QueryState
    scope: CallScope
    budget: TaskBudget
    so_far: SoFar
    """Limits already used, for a run resumed after a restart."""
    clock: Clock
    consumer: Emit
    started: float
    """Start time on the monotonic clock."""
    begun_with: Sequence[AgentMessage]
    """The messages at the start; a compaction replaces `state.messages` by another list."""
    waited: float = 0.0
    """Seconds spent waiting for approvals and budgets."""
    asked_at: float | None = None
    """Set while an approval or room in a budget is awaited."""
    new: list[AgentMessage] = field(default_factory=list)
    """Messages added by this run, in order."""
    pending: list[AgentMessage] = field(default_factory=list)
    """Messages that are added at the start of the next turn."""
    unreported: int = 0
    """Estimated tokens of model calls for which the server reported no usage."""
    call: ModelCall | None = None
    """Set while the model is asked."""
    events: int = 0
    compacts: bool = True
    """False once the compactor could not shorten the conversation further."""

    @property
    def cancel(self) -> CancelToken:
        return self.scope.cancel

    async def emit(self, event: E) -> E:
        """Number the event, update the state with it, and return it when the consumer has handled it."""
        self.events += 1
        # In place, as nobody has seen the event yet: a copy costs more than all else here.
        vars(event).update(seq=self.events, run_id=self.state.run_id, ts=self.clock.time())
        if self.asked_at is not None:
            self.waited += self.clock.monotonic() - self.asked_at
        self.asked_at = self.clock.monotonic() if isinstance(event, PermissionRequest | BudgetReached) else None
        reduce_event(self.state, event)
        if isinstance(event, MessageEnd):
            self.new.append(event.message)
        await self.consumer(event)
        return event


class CallIds(Struct, frozen=True):
    """Ids of all tool calls of the conversation, including those that this run has compacted.

    Searched only when the model calls a tool, because that takes time proportional to the conversation.
    """

    run: Run

    def __contains__(self, call_id: object) -> bool:
        return any(
            call.id == call_id
            for message in chain(self.run.begun_with, self.run.new)
            if isinstance(message, AssistantMessage)
            for call in message.tool_calls
        )


class Next(Struct, frozen=True):
    """Another turn follows."""

    reason: TransitionReason


class End(Struct, frozen=True):
    """The run ends."""

    reason: TerminalReason
    error: str | None = None
    failure: FailureKind | None = None
    cause: FailureCause | None = None
    retry_after_s: float | None = None
    address: str | None = None

    @classmethod
    def failed(cls, failure: LlmFailure) -> "End":
        """Return the end after a failure of the model."""
        return cls(
            TerminalReason.ERROR,
            failure.message,
            failure.kind,
            failure.cause,
            failure.retry_after_s,
            failure.address,
        )

    @classmethod
    def broken(cls, error: str) -> "End":
        """Return the end after a failure of Parley or the application."""
        return cls(TerminalReason.ERROR, error, FailureKind.FATAL)


class Engine(Struct, frozen=True, dict=True):
    """The collaborators of a turn."""

    caller: ModelCaller
    setup: ToolSetup
    limits: LoopLimits
    runtime: Runtime
    context: RequestBuilder
    hooks: HookCalls
    compactor: Compactor | None

    @cached_property
    def runner(self) -> CallRunner:
        """Runs the tool calls, with results as long as the model's window has room for."""
        limits = self.limits.within(self.caller.first.model.context_window)
        return CallRunner(self.setup, limits, self.runtime, self.hooks)

    async def run_calls(
        self,
        run: Run,
        answer: AssistantMessage,
        calls: Sequence[ToolCall],
        *,
        closing: bool = False,
        resumed: bool = False,
    ) -> BatchOutcome:
        """Run the answer's open calls. A closing answer must not make calls, so none of its calls is run."""
        batch = CallBatch(
            calls,
            left=0 if closing else self.limits.max_tool_calls - run.state.tool_call_count,
            messages=run.state.messages,
            cut_off=answer.stop_reason is StopReason.LENGTH,
            resumed=resumed,
        )
        return await self.runner.run(batch, run.scope, run.emit)
