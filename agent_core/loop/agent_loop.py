"""The agent loop: asks the model and runs its tools until the run is done.

The loop stores nothing, knows no chat platform and leaves no task behind. It suspends at each `yield`, so its consumer
has handled an event before the next one happens. Consume it through `contextlib.aclosing`.
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
from agent_core.loop.calls import CallRunner
from agent_core.loop.engine import Compactor, End, Engine, Next, RequestBuilder, Run, RunInputs
from agent_core.loop.execution import CallScope, Redact
from agent_core.loop.hooks import HookCalls, Hooks
from agent_core.loop.limit_notice import limit_notice
from agent_core.loop.limits import LoopLimits
from agent_core.loop.model_call import ModelCaller
from agent_core.loop.model_chain import Candidate, ModelChain
from agent_core.loop.permissions import Permissions
from agent_core.loop.resumption import OpenCalls, first_step
from agent_core.loop.retry import LlmRetryPolicy, ToolRetryPolicy
from agent_core.loop.state import QueryState, last_said, reduce_event
from agent_core.loop.turn import Turn
from agent_core.messages import AgentMessage, NotificationMessage, ToolCall
from agent_core.models.llm import LlmClient, LlmOptions, ModelInfo
from agent_core.reasons import TerminalReason, TransitionReason
from agent_core.tool_result import ToolResult
from agent_core.tools import ToolRegistry


class CannotContinue(RuntimeError):
    """There is nothing to continue with."""


class AgentLoop:
    """One configuration of model, tools and limits, for any number of sequential or concurrent runs.

    Changes of `model`, `options` and `llm` take effect with the next run. Without `permissions` every call is allowed;
    without a `compactor` the conversation only grows; `chain` holds the fallbacks of `model`; `redact` removes secrets
    from tool results.
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
        """Return a caller for the current model and options."""
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
        """Add the prompts and run to the end; the last event is always one `AgentEnd`.

        Only a run that starts for the reason START takes queued steering messages along with its prompts.
        """
        run = Run(state, inputs, started=self.clock.monotonic())
        run.pending.extend(prompts)
        async with aclosing(self._drive(run, reason)) as events:
            async for event in events:
                yield self._stamp(run, event)

    async def resume(self, state: QueryState, inputs: RunInputs) -> AsyncGenerator[AgentEvent, None]:
        """Continue an interrupted conversation: answer its open tool calls, then ask the model.

        Adds no prompt. A conversation that ends with an answer, whole or stopped, ends at once. Raises CannotContinue
        if there is no conversation.
        """
        if last_said(state) is None:
            raise CannotContinue("Cannot continue: no messages in context")
        inputs.scope.repeats.recall(inputs.so_far.said, self.tools)
        run = Run(state, inputs, started=self.clock.monotonic() - inputs.so_far.seconds)
        async with aclosing(self._drive(run, TransitionReason.RESUME)) as events:
            async for event in events:
                yield self._stamp(run, event)

    async def compact(
        self, state: QueryState, inputs: RunInputs, instructions: str = ""
    ) -> AsyncGenerator[AgentEvent, None]:
        """Compact the conversation on request; does nothing without a compactor."""
        if self._compactor is None:
            return
        run = Run(state, inputs, started=self.clock.monotonic())
        async with aclosing(self._compactor.events(state, "manual", inputs.scope.cancel, instructions)) as events:
            async for event in events:
                yield self._stamp(run, event)

    async def execute(self, call: ToolCall, scope: CallScope, messages: Sequence[AgentMessage] = ()) -> ToolResult:
        """Run one tool call outside a run; `messages` are the conversation that it belongs to."""
        runner = self._engine().runner
        async with aclosing(runner.batch([call], scope, left=1, messages=messages).run()) as events:
            async for event in events:
                if isinstance(event, ToolExecutionEnd):
                    return event.result
        raise RuntimeError(f"the call of {call.name} ended without a result")

    def _stamp(self, run: Run, event: AgentEvent) -> AgentEvent:
        """Update the run's state with the event, and return it with its number, run id and time."""
        run.passed(event, self.clock.monotonic())
        event = event.model_copy(update={"seq": run.events, "run_id": run.state.run_id, "ts": self.clock.time()})
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
        yield AgentStart(model_calls=run.inputs.so_far.model_calls, tool_calls=run.inputs.so_far.tool_calls)
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
        if step.reason.is_limit:
            async with aclosing(self._at_limit(engine, run, step)) as events:
                async for event in events:
                    yield event
            if run.inputs.scope.cancel.cancelled:
                step = End(TerminalReason.ABORTED)
        yield AgentEnd(
            reason=step.reason,
            messages=tuple(run.new),
            error=step.error,
            failure=step.failure,
            cause=step.cause,
            retry_after_s=step.retry_after_s,
        )

    async def _at_limit(self, engine: Engine, run: Run, end: End) -> AsyncGenerator[AgentEvent, None]:
        """Make the closing answer without tools if configured, then add a notice that names the limit."""
        if self.limits.finalize_on_limit and end.reason is not TerminalReason.BUDGET:
            turn = Turn(engine, run, TransitionReason.LIMIT)
            async with aclosing(turn.events()) as events:
                async for event in events:
                    yield event
        if run.inputs.scope.cancel.cancelled:
            return
        text, data = limit_notice(end.reason, self.limits)
        notice = NotificationMessage(
            id=self.new_id(),
            created_at=self.clock.time(),
            session_id=run.state.session_id,
            kind=end.reason.value,
            text=text,
            data=data,
        )
        yield MessageStart(message=notice)
        yield MessageEnd(message=notice)
