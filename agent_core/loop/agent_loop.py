"""The agent loop: ask the model, run its tools, again until it is done.

The loop is pure: it stores nothing, knows no channel, and leaves no task behind. It suspends at each `yield`, so its
consumer is the barrier (C-33). Consume it through `contextlib.aclosing`.
"""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from agent_core.clock import Clock, NewId, SystemClock, new_id
from agent_core.events import (
    AgentEnd,
    AgentEvent,
    AgentStart,
    MessageEnd,
    MessageStart,
    ToolExecutionEnd,
)
from agent_core.hooks import HookCalls, Hooks
from agent_core.limits import LlmRetryPolicy, LoopLimits, ToolRetryPolicy
from agent_core.llm import LlmClient, LlmOptions, ModelInfo
from agent_core.loop.calls import CallRunner
from agent_core.loop.engine import Compactor, End, Engine, Next, RequestBuilder, Run, RunInputs
from agent_core.loop.execution import CallScope, Redact
from agent_core.loop.model_call import ModelCaller
from agent_core.loop.model_chain import Candidate, ModelChain
from agent_core.loop.resumption import OpenCalls, first_step
from agent_core.loop.turn import Turn
from agent_core.messages import AgentMessage, JsonObject, NotificationMessage, ToolCall
from agent_core.permissions import Permissions
from agent_core.reasons import TerminalReason, TransitionReason
from agent_core.state import QueryState, last_said, reduce_event
from agent_core.tool_result import ToolResult
from agent_core.tools import ToolRegistry

LIMITS = frozenset({TerminalReason.MAX_TURNS, TerminalReason.MAX_TOOL_CALLS, TerminalReason.BUDGET})


class CannotContinue(RuntimeError):
    """There is nothing to go on with (S4-13, S4-35)."""


class AgentLoop:
    """One configuration of model, tools and limits; any number of runs, one after another or at once.

    What is set on it (`model`, `options`, `llm`) holds from the next run on (S4-41). Without `permissions` every call
    is allowed; without a `compactor` the conversation only grows; `chain` names the models that stand in for `model`;
    `redact` takes out of tool results what nobody may see.
    """

    def __init__(
        self,
        *,
        llm: LlmClient,
        model: ModelInfo,
        context: RequestBuilder,
        tools: ToolRegistry | None = None,
        options: LlmOptions | None = None,
        limits: LoopLimits | None = None,
        llm_retry: LlmRetryPolicy | None = None,
        tool_retry: ToolRetryPolicy | None = None,
        permissions: Permissions | None = None,
        hooks: Hooks | None = None,
        compactor: Compactor | None = None,
        chain: ModelChain | None = None,
        redact: Redact = str,
        clock: Clock | None = None,
        new_id: NewId = new_id,
    ) -> None:
        self.llm = llm
        self.model = model
        self.context = context
        self.tools = tools or ToolRegistry()
        self.options = options or LlmOptions()
        self.limits = limits or LoopLimits()
        self.clock = clock or SystemClock()
        self.new_id = new_id
        self._llm_retry = llm_retry or LlmRetryPolicy()
        self._tool_retry = tool_retry or ToolRetryPolicy()
        self._permissions = permissions
        self._hooks = HookCalls(hooks or Hooks())
        self._compactor = compactor
        self._chain = chain or ModelChain()
        self._redact = redact

    @property
    def caller(self) -> ModelCaller:
        """Asks the model as things stand now."""
        return ModelCaller(
            first=Candidate(self.model, self.llm),
            chain=self._chain,
            options=self.options,
            retry=self._llm_retry,
            hooks=self._hooks,
            clock=self.clock,
            new_id=self.new_id,
        )

    async def run(
        self,
        state: QueryState,
        prompts: Sequence[AgentMessage],
        inputs: RunInputs,
        reason: TransitionReason = TransitionReason.START,
    ) -> AsyncGenerator[AgentEvent, None]:
        """Add the prompts and go on until the run ends; the last event is always one `AgentEnd` (S4-12, S3-11).

        A run that starts for another reason than START takes no steering message beside its prompts (S4-35).
        """
        run = Run(state, inputs, started=self.clock.monotonic())
        run.pending.extend(prompts)
        async with aclosing(self._drive(run, reason)) as events:
            async for event in events:
                yield self._stamp(run, event)

    async def resume(self, state: QueryState, inputs: RunInputs) -> AsyncGenerator[AgentEvent, None]:
        """Go on with a conversation that stopped in the middle: answer its open tool calls, then ask the model.

        Adds no prompt (S4-13). A conversation that ends with an answer, whole or stopped, ends at once.
        Raises CannotContinue where there is no conversation.
        """
        if last_said(state) is None:
            raise CannotContinue("Cannot continue: no messages in context")
        run = Run(state, inputs, started=self.clock.monotonic())
        async with aclosing(self._drive(run, TransitionReason.RESUME)) as events:
            async for event in events:
                yield self._stamp(run, event)

    async def compact(
        self, state: QueryState, inputs: RunInputs, instructions: str = ""
    ) -> AsyncGenerator[AgentEvent, None]:
        """Make the conversation shorter because a person wants it so (D-09); nothing where there is no compactor."""
        if self._compactor is None:
            return
        run = Run(state, inputs, started=self.clock.monotonic())
        async with aclosing(self._compactor.events(state, "manual", inputs.scope.cancel, instructions)) as events:
            async for event in events:
                yield self._stamp(run, event)

    async def execute(self, call: ToolCall, scope: CallScope, messages: Sequence[AgentMessage] = ()) -> ToolResult:
        """Run one tool call by itself (S2-08); `messages` are the conversation that it belongs to."""
        runner = self._engine().runner
        async with aclosing(runner.batch([call], scope, left=1, messages=messages).run()) as events:
            async for event in events:
                if isinstance(event, ToolExecutionEnd):
                    return event.result
        raise RuntimeError(f"the call of {call.name} ended without a result")

    def _stamp(self, run: Run, event: AgentEvent) -> AgentEvent:
        """In place, frozen or not: nobody else has the event yet, and there is one for each delta of an answer."""
        run.events += 1
        event.__dict__.update(seq=run.events, run_id=run.state.run_id, ts=self.clock.time())
        reduce_event(run.state, event)
        if isinstance(event, MessageEnd):
            run.new.append(event.message)
        return event

    def _engine(self) -> Engine:
        runner = CallRunner(
            self.tools,
            self.limits.within(self.model.context_window),
            self._tool_retry,
            self.clock,
            self.new_id,
            permissions=self._permissions,
            hooks=self._hooks,
            redact=self._redact,
        )
        return Engine(self.caller, runner, self.context, self._hooks, self._compactor)

    async def _drive(self, run: Run, reason: TransitionReason) -> AsyncGenerator[AgentEvent, None]:
        engine = self._engine()
        yield AgentStart()
        left = OpenCalls(engine, run)
        if reason is TransitionReason.RESUME:
            async with aclosing(left.events()) as events:
                async for event in events:
                    yield event
        step = left.end or first_step(engine, run, reason)
        while isinstance(step, Next):
            turn = Turn(engine, run, step.reason)
            async with aclosing(turn.events()) as events:
                async for event in events:
                    yield event
            step = turn.step
        if step.reason in LIMITS:
            async with aclosing(self._at_limit(engine, run, step)) as events:
                async for event in events:
                    yield event
            if run.inputs.scope.cancel.cancelled:
                step = End(TerminalReason.ABORTED)
        yield AgentEnd(reason=step.reason, messages=tuple(run.new), error=step.error, failure=step.failure)

    async def _at_limit(self, engine: Engine, run: Run, end: End) -> AsyncGenerator[AgentEvent, None]:
        """One closing answer without tools where that is wanted (C-07), then a notice which limit it was (S0-19)."""
        if self.limits.finalize_on_limit and end.reason is not TerminalReason.BUDGET:
            turn = Turn(engine, run, TransitionReason.LIMIT)
            async with aclosing(turn.events()) as events:
                async for event in events:
                    yield event
        if run.inputs.scope.cancel.cancelled:
            return
        notice = NotificationMessage(
            id=self.new_id(),
            created_at=self.clock.time(),
            session_id=run.state.session_id,
            kind=end.reason.value,
            text=_limit_text(end.reason, self.limits),
            data=_limit_data(end.reason, self.limits),
        )
        yield MessageStart(message=notice)
        yield MessageEnd(message=notice)


def _limit_text(reason: TerminalReason, limits: LoopLimits) -> str:
    """In English; a gateway says it in the person's language, by the notice's kind and its `limit` (D-06)."""
    match reason:
        case TerminalReason.MAX_TURNS:
            return f"[Reached the limit of {limits.max_turns} model calls]"
        case TerminalReason.MAX_TOOL_CALLS:
            return f"[Reached the limit of {limits.max_tool_calls} tool calls]"
        case _:
            return "[Reached the budget of this run]"


def _limit_data(reason: TerminalReason, limits: LoopLimits) -> JsonObject:
    match reason:
        case TerminalReason.MAX_TURNS:
            return {"limit": limits.max_turns}
        case TerminalReason.MAX_TOOL_CALLS:
            return {"limit": limits.max_tool_calls}
        case _:
            return {}
