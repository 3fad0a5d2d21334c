"""The agent loop: asks the model and runs its tools until the run is done.

The loop stores nothing, knows no chat platform and leaves no task behind. It awaits `emit` for each event, so its
consumer has handled an event before the next one happens.
"""

from collections.abc import Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from agent_core.clock import Runtime
from agent_core.events import AgentEnd, AgentStart, CompactionEnd, MessageEnd, MessageStart
from agent_core.loop.calls import CallBatch, ToolSetup
from agent_core.loop.decision import answer_open_calls, first_step, limit_notice
from agent_core.loop.engine import Compactor, End, Engine, Next, RequestBuilder, Run
from agent_core.loop.event_stream import Emit, unheard
from agent_core.loop.execution import CallScope
from agent_core.loop.hooks import HookCalls, Hooks
from agent_core.loop.limits import NO_BUDGET, NOTHING_YET, LoopLimits, SoFar, TaskBudget
from agent_core.loop.model_call import ModelCaller
from agent_core.loop.model_chain import Candidate, ModelChain
from agent_core.loop.retry import LlmRetryPolicy
from agent_core.loop.spending import Spending, Unlimited
from agent_core.loop.state import QueryState, last_said
from agent_core.loop.turn import run_turn
from agent_core.messages import AgentMessage, NotificationMessage, ToolCall
from agent_core.models.llm import LlmClient, LlmOptions, ModelInfo
from agent_core.origin import CLEAN
from agent_core.reasons import TerminalReason, TransitionReason
from agent_core.tool_result import ToolResult
from agent_core.tools.registry import ToolRegistry


class CannotContinue(RuntimeError):
    """There is nothing to continue with."""


class Models(Struct):
    """The model that is asked, and what happens when it fails. Changes take effect with the next run."""

    llm: LlmClient
    model: ModelInfo
    options: LlmOptions = field(default_factory=LlmOptions)
    retry: LlmRetryPolicy = field(default_factory=LlmRetryPolicy)
    chain: ModelChain = field(default_factory=ModelChain)
    """The fallbacks of `model`."""
    default: Candidate | None = None
    """The model to ask before the fallbacks if `model` is another one and fails."""
    wanted: str = ""
    """The name of the model that people chose, if it is not `model` because it is gone."""
    spending: Spending = field(default_factory=Unlimited)
    """Accounts for every call, and limits them."""


class AgentLoop:
    """One configuration of models, tools and limits, for any number of sequential or concurrent runs."""

    def __init__(
        self,
        models: Models,
        context: RequestBuilder,
        tools: ToolSetup | None = None,
        *,
        limits: LoopLimits | None = None,
        hooks: Hooks | None = None,
        compactor: Compactor | None = None,
        runtime: Runtime | None = None,
    ) -> None:
        """Create a loop.

        Args:
            context: Builds the requests.
            tools: None: the model has no tools.
            hooks: Extension points of the application.
            compactor: Keeps the conversation within the model's window; None: the conversation only grows.
        """
        self.models = models
        self.context = context
        self.limits = limits or LoopLimits()
        self.runtime = runtime or Runtime()
        self._setup = tools or ToolSetup()
        self._hooks = HookCalls(hooks or Hooks())
        self._compactor = compactor

    @property
    def model(self) -> ModelInfo:
        return self.models.model

    @property
    def tools(self) -> ToolRegistry:
        return self._setup.registry

    @tools.setter
    def tools(self, tools: ToolRegistry) -> None:
        self._setup = replace(self._setup, registry=tools)

    @property
    def caller(self) -> ModelCaller:
        """Return a caller for the current model and options."""
        models = self.models
        return ModelCaller(
            first=Candidate(models.model, models.llm),
            default=models.default,
            chain=models.chain,
            options=models.options,
            retry=models.retry,
            spending=models.spending,
            hooks=self._hooks,
            clock=self.runtime.clock,
            new_id=self.runtime.new_id,
        )

    def begin(
        self,
        state: QueryState,
        scope: CallScope,
        emit: Emit,
        budget: TaskBudget = NO_BUDGET,
        so_far: SoFar = NOTHING_YET,
    ) -> Run:
        """Return a run, which then either `run` or `compact` carries out.

        Args:
            state: The conversation; updated before each event.
            emit: Gets each event; the run goes on when it returns. The last event is always one `AgentEnd`.
        """
        clock = self.runtime.clock
        started = clock.monotonic() - so_far.seconds
        return Run(state, scope, budget, so_far, clock, emit, started, begun_with=state.messages)

    async def run(
        self,
        run: Run,
        prompts: Sequence[AgentMessage] = (),
        reason: TransitionReason = TransitionReason.START,
    ) -> AgentEnd:
        """Add the prompts and run to the end.

        Args:
            reason: Only a run that starts for the reason START takes queued steering messages along with its prompts.
                One for the reason RESUME continues an interrupted conversation: its open tool calls are answered before
                the model is asked, and one that ends with an answer, whole or stopped, ends at once.

        Returns:
            The last event.

        Raises:
            CannotContinue: There is no conversation to resume.
        """
        if reason is TransitionReason.RESUME:
            if last_said(run.state) is None:
                raise CannotContinue("Cannot continue: no messages in context")
            run.scope.repeats.recall(run.so_far.said, self.tools)
        run.pending.extend(prompts)
        engine, so_far = self._engine(), run.so_far
        await run.emit(AgentStart(model_calls=so_far.model_calls, tool_calls=so_far.tool_calls))
        ended = await answer_open_calls(engine, run) if reason is TransitionReason.RESUME else None
        step = ended or first_step(engine, run, reason)
        while isinstance(step, Next):
            step = await run_turn(engine, run, step.reason)
        if step.reason.is_limit:
            await self._close_at_limit(engine, run, step)
            if run.cancel.cancelled:
                step = End(TerminalReason.ABORTED)
        return await run.emit(
            AgentEnd(
                reason=step.reason,
                messages=tuple(run.new),
                error=step.error,
                failure=step.failure,
                cause=step.cause,
                retry_after_s=step.retry_after_s,
                address=step.address,
            )
        )

    async def compact(self, run: Run, instructions: str = "") -> CompactionEnd | None:
        """Compact the conversation on request.

        Args:
            instructions: Parts that the summary must keep, in the words of a user.

        Returns:
            The outcome; None without a compactor.
        """
        if self._compactor is None:
            return None
        return await self._compactor.compact(run.state, "manual", self.caller, run.emit, run.cancel, instructions)

    async def execute(self, call: ToolCall, scope: CallScope, messages: Sequence[AgentMessage] = ()) -> ToolResult:
        """Run one tool call outside a run.

        Args:
            messages: The conversation that the call belongs to.
        """
        outcome = await self._engine().runner.run(CallBatch([call], messages=messages), scope, unheard)
        return outcome.ends[0].result

    def _engine(self) -> Engine:
        return Engine(self.caller, self._setup, self.limits, self.runtime, self.context, self._hooks, self._compactor)

    async def _close_at_limit(self, engine: Engine, run: Run, end: End) -> None:
        """Make the closing answer without tools if configured, then add a notice that names the limit."""
        if self.limits.finalize_on_limit and end.reason is not TerminalReason.BUDGET:
            await run_turn(engine, run, TransitionReason.LIMIT)
        if run.cancel.cancelled:
            return
        text, data = limit_notice(end.reason, self.limits)
        notice = NotificationMessage(
            id=self.runtime.new_id(),
            created_at=self.runtime.clock.time(),
            session_id=run.state.session_id,
            kind=end.reason.value,
            text=text,
            data=data,
            origin=CLEAN,
        )
        await run.emit(MessageStart(message=notice))
        await run.emit(MessageEnd(message=notice))
