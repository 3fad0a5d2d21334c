"""One turn: what the person said since, one answer of the model, its tool calls, and what follows (S3-09)."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from agent_core.calls import CallBatch, CallRunner
from agent_core.cancel import CancelToken
from agent_core.events import AgentEvent, CompactionReason, MessageEnd, MessageStart, TurnEnd, TurnStart
from agent_core.execution import CallScope
from agent_core.hooks import Hooks
from agent_core.limits import TaskBudget
from agent_core.llm import FailureKind, LlmRequest
from agent_core.messages import AgentMessage, AssistantMessage, StopReason, ToolCall
from agent_core.model_call import ModelCaller
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
        self, state: QueryState, reason: CompactionReason, cancel: CancelToken
    ) -> AsyncGenerator[AgentEvent, None]:
        """Make it shorter: a `CompactionStart`, the boundary as a message where there is one, a `CompactionEnd`. Never
        raises, and never cuts between a call and its result (U-13)."""


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


@dataclass(frozen=True)
class Engine:
    """What a turn works with."""

    caller: ModelCaller
    runner: CallRunner
    context: RequestBuilder
    hooks: Hooks
    compactor: Compactor | None

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
        left = 0 if closing else self.runner.limits.max_tool_calls - run.state.tool_call_count
        cut_off = answer.stop_reason is StopReason.LENGTH
        return self.runner.batch(
            calls, run.inputs.scope, left=left, messages=run.state.messages, cut_off=cut_off, resumed=resumed
        )


class Turn:
    """Runs once; afterwards `step` says what follows."""

    def __init__(self, engine: Engine, run: Run, reason: TransitionReason) -> None:
        self._engine = engine
        self._run = run
        self._reason = reason
        self.step: Next | End = End(TerminalReason.COMPLETED)

    async def events(self) -> AsyncGenerator[AgentEvent, None]:
        """What waits enters the conversation, the model answers, and its tools run."""
        run = self._run
        yield TurnStart(turn=run.state.turn_count + 1, reason=self._reason)
        if self._reason in (TransitionReason.START, TransitionReason.RESUME):
            run.pending.extend(run.inputs.scope.queues.drain_steering())
        while run.pending:
            message = run.pending.pop(0)
            yield MessageStart(message=message)
            yield MessageEnd(message=message)
        request = self._engine.context.build_request(run.state, with_tools=self._reason is not TransitionReason.LIMIT)
        used_ids = partial(_used_ids, run.state)
        answer = self._engine.caller.call(request, run.state.session_id, used_ids, run.inputs.scope.cancel)
        async with aclosing(answer.events()) as events:
            async for event in events:
                yield event
        message = answer.message
        if message.stop_reason is StopReason.ABORTED:
            self.step = End(TerminalReason.ABORTED)
        elif answer.failure is not None:
            self.step = End(TerminalReason.ERROR, answer.failure.message, answer.failure.kind)
        if isinstance(self.step, End) and self.step.reason is not TerminalReason.COMPLETED:
            yield TurnEnd(turn=run.state.turn_count, message=message)
            return
        closing = self._reason is TransitionReason.LIMIT
        batch = self._engine.batch(run, message, message.tool_calls, closing=closing)
        async with aclosing(batch.run()) as events:
            async for event in events:
                yield event
        yield TurnEnd(turn=run.state.turn_count, message=message, tool_results=tuple(batch.results))
        self.step = self._decide(message, batch)

    def _decide(self, message: AssistantMessage, batch: CallBatch) -> Next | End:
        if self._run.inputs.scope.cancel.cancelled:
            return End(TerminalReason.ABORTED)
        if self._reason is TransitionReason.LIMIT:
            return End(TerminalReason.COMPLETED)
        if message.tool_calls:
            if batch.ends_run is not None:
                return End(batch.ends_run)
            return self._limit() or self._take_steering() or Next(TransitionReason.TOOL_ROUND)
        if self._limit():
            # The answer came in time: it completes the run, and what waits stays in the queue (C-06).
            return End(TerminalReason.COMPLETED)
        return self._take_steering() or self._take_follow_up() or End(TerminalReason.COMPLETED)

    def _limit(self) -> End | None:
        state, limits, budget = self._run.state, self._engine.runner.limits, self._run.inputs.budget
        seconds = self._engine.runner.clock.monotonic() - self._run.started
        if state.turn_count >= limits.max_turns:
            return End(TerminalReason.MAX_TURNS)
        if state.tool_call_count >= limits.max_tool_calls:
            return End(TerminalReason.MAX_TOOL_CALLS)
        spent = (
            (budget.max_tokens, state.usage.total),
            (budget.max_cost_usd, state.usage.cost_usd),
            (budget.max_seconds, seconds),
        )
        if any(most is not None and used >= most for most, used in spent):
            return End(TerminalReason.BUDGET)
        return None

    def _take_steering(self) -> Next | None:
        self._run.pending.extend(self._run.inputs.scope.queues.drain_steering())
        return Next(TransitionReason.STEERING) if self._run.pending else None

    def _take_follow_up(self) -> Next | None:
        self._run.pending.extend(self._run.inputs.scope.queues.drain_follow_up())
        return Next(TransitionReason.FOLLOW_UP) if self._run.pending else None


def _used_ids(state: QueryState) -> set[str]:
    return {
        call.id for message in state.messages if isinstance(message, AssistantMessage) for call in message.tool_calls
    }
