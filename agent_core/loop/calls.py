"""One batch of tool calls: validates, permits, executes, skips and limits them; every call gets exactly one result."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import suppress

from msgspec import Struct, field

from agent_core.clock import Runtime
from agent_core.events import (
    AgentEvent,
    MessageEnd,
    MessageStart,
    ToolExecutionEnd,
    ToolExecutionStart,
    ToolExecutionUpdate,
)
from agent_core.loop.event_stream import Emit
from agent_core.loop.execution import ABORTED, CallScope, Executor, Job, Redact, end_of
from agent_core.loop.gate import SKIPPED, UNKNOWN_OUTCOME, Gate, Verdict
from agent_core.loop.hooks import HookCalls, HookFailed, Hooks
from agent_core.loop.limits import LoopLimits
from agent_core.loop.permissions import EverythingAllowed, Permissions, Proposal
from agent_core.loop.repeats import named
from agent_core.loop.results import ResultRoom, from_tool
from agent_core.loop.retry import ToolRetryPolicy
from agent_core.messages import AgentMessage, ToolCall, ToolResultMessage
from agent_core.reasons import CallFailure, TerminalReason
from agent_core.tool_result import ToolResult
from agent_core.tools.registry import ToolRegistry, UnknownTool
from agent_core.tools.tool import ToolContext, ToolFailed

CUT_OFF = "Error: the answer reached its output token limit before this call was complete. Next: re-issue the call."
NO_CHECK = ToolResult.failure(
    "the call was not made, for what checks calls has failed", "tell the person", CallFailure.HOOK
)


class ToolSetup(Struct, frozen=True):
    """The tools of an agent, and the rules for their calls."""

    registry: ToolRegistry = field(default_factory=ToolRegistry)
    permissions: Permissions = field(default_factory=EverythingAllowed)
    retry: ToolRetryPolicy = field(default_factory=ToolRetryPolicy)
    redact: Redact = str
    """Removes secrets from results."""


class CallRunner:
    """Runs the tool calls of a run by its rules."""

    def __init__(
        self, setup: ToolSetup, limits: LoopLimits, runtime: Runtime | None = None, hooks: HookCalls | None = None
    ) -> None:
        runtime = runtime or Runtime()
        self.tools = setup.registry
        self.limits = limits
        self.clock = runtime.clock
        self.new_id = runtime.new_id
        self.permissions = setup.permissions
        self.hooks = hooks or HookCalls(Hooks())
        self.executor = Executor(limits, setup.retry, self.clock, setup.redact, self.hooks)

    async def run(self, batch: "CallBatch", scope: CallScope, emit: Emit) -> "BatchOutcome":
        """Run the calls of one answer; each gets exactly one result.

        Args:
            emit: Gets starts in order, ends as they happen, and the results as messages in order.
        """
        return await _BatchRun(self, batch, scope, emit).run()


class CallBatch(Struct, frozen=True):
    """The tool calls of one answer."""

    calls: Sequence[ToolCall]
    left: int = 1
    """Calls that the run may still make."""
    messages: Sequence[AgentMessage] = ()
    """The conversation, as it grows."""
    cut_off: bool = False
    """The answer hit its length limit, so no call is run."""
    resumed: bool = False
    """The calls may have run before a crash, so only idempotent calls and those known not to have started run."""


class BatchOutcome(Struct, frozen=True):
    """The results of a batch."""

    ends: tuple[ToolExecutionEnd, ...]
    """In the order in which the calls ended."""
    results: tuple[ToolResultMessage, ...]
    """In the order of the calls."""
    ends_run: TerminalReason | None = None
    """Why the run must end after this batch: every result asks for it, or too many calls were refused or repeated."""
    error: str = ""
    """Set if the application's hook failed, which ends the run."""


class _BatchRun:
    """A batch under way."""

    def __init__(self, runner: CallRunner, batch: CallBatch, scope: CallScope, emit: Emit) -> None:
        self._runner = runner
        self._batch = batch
        self._scope = scope
        self._emit = emit
        self._left = batch.left
        self._resumed = batch.resumed
        self._too_many = {call.id for call in batch.calls[runner.limits.max_calls_per_answer :]}
        self._room = ResultRoom(runner.limits, len(batch.calls) - len(self._too_many))
        self._ends: dict[str, ToolExecutionEnd] = {}
        self._error = ""

    async def run(self) -> BatchOutcome:
        results: list[ToolResultMessage] = []
        for group in self._groups():
            await self._run_group(group)
            for call in group:
                message = self._message(self._ends[call.id])
                results.append(message)
                await self._emit(MessageStart(message=message))
                await self._emit(MessageEnd(message=message))
        return BatchOutcome(tuple(self._ends.values()), tuple(results), self._ends_run(), self._error)

    async def _run_group(self, group: Sequence[ToolCall]) -> None:
        """Check the calls one after another, then run those that are allowed, all at the same time."""
        jobs: list[Job] = []
        for call in group:
            job = self._prepare(call)
            await self._emit(self._start(call))
            if isinstance(job, Job):
                await self._admit(job, jobs)
            else:
                await self._end(end_of(call, self._counted(call, job), attempts=0))
        await self._run_together(jobs)

    def _ends_run(self) -> TerminalReason | None:
        if self._scope.denials.are_too_many:
            return TerminalReason.PERMISSION
        if self._scope.repeats.are_too_many:
            return TerminalReason.REPEATED_CALLS
        ends = list(self._ends.values())
        if ends and all(end.result.terminate for end in ends):
            return ends[-1].result.ends_as
        return None

    def _groups(self) -> Iterator[Sequence[ToolCall]]:
        """Yield groups of calls that run at the same time: up to `max_parallel` if all calls only read, else single
        calls."""
        size = self._runner.limits.max_parallel if all(self._is_parallel(call) for call in self._batch.calls) else 1
        for start in range(0, len(self._batch.calls), size):
            yield self._batch.calls[start : start + size]

    def _is_parallel(self, call: ToolCall) -> bool:
        try:
            return self._runner.tools.get(call.name).execution == "parallel"
        except UnknownTool:
            return True

    def _start(self, call: ToolCall) -> ToolExecutionStart:
        label, labels = call.name, dict[str, str]()
        with suppress(UnknownTool):
            tool = self._runner.tools.get(call.name)
            label, labels = tool.describe(call.arguments), tool.describe_in(call.arguments)
        return ToolExecutionStart(
            tool_call_id=call.id, tool_name=call.name, label=label, labels=labels, args=call.arguments
        )

    def _prepare(self, call: ToolCall) -> Job | ToolResult:
        """Return the job to run, or the result of a call that is not run."""
        if refusal := self._refusal(call):
            return refusal
        try:
            tool = self._runner.tools.get(call.name)
            arguments = tool.validate(call.arguments)
            environment, cancel = self._scope.environment, self._scope.cancel
            tool.check(arguments, ToolContext(call.id, environment, cancel=cancel, messages=self._batch.messages))
            return Job(call, tool, arguments)
        except ToolFailed as error:
            if isinstance(error, UnknownTool) and self._resumed:
                return ToolResult.not_run(UNKNOWN_OUTCOME, CallFailure.UNKNOWN)
            return ToolResult.failure(error.fact, error.advice, CallFailure.INPUT)

    async def _admit(self, job: Job, jobs: list[Job]) -> None:
        """Check permission, then add the job to `jobs` or end its call.

        Before users are asked, the jobs already admitted are run: their approvals are valid now, not after the next
        answer.
        """
        scope, runner, environment = self._scope, self._runner, self._scope.environment
        proposal = Proposal(
            call=job.call,
            tool=job.tool,
            workspace=environment.workspace,
            session_id=environment.session_id,
            chat_id=environment.chat_id,
            user_id=environment.user_id,
            messages=self._batch.messages,
        )

        async def run_admitted() -> None:
            await self._run_together(jobs)
            jobs.clear()

        gate = Gate(runner.permissions, runner.hooks, scope, proposal, doubtful=self._may_have_begun(job.call))
        try:
            verdict = await gate.check(self._emit, run_admitted)
        except HookFailed as error:
            self._error = str(error)
            verdict = Verdict(NO_CHECK)
        if verdict.never_began:
            self._resumed = False  # such calls run one by one, so none after this one has started either
        if verdict.refusal is None:
            self._left -= 1
            jobs.append(job)
            return
        denied = proposal.fingerprint if verdict.denied else None
        await self._end(end_of(job.call, verdict.refusal, attempts=0, denied=denied))

    def _refusal(self, call: ToolCall) -> ToolResult | None:
        if self._scope.cancel.cancelled:
            return ToolResult.not_run(ABORTED, CallFailure.KILLED)
        if self._scope.queues.has_steering and not self._may_be_answered(call):
            if self._may_have_begun(call):
                return ToolResult.not_run(UNKNOWN_OUTCOME, CallFailure.UNKNOWN)
            return ToolResult.not_run(SKIPPED, CallFailure.SKIPPED)
        return self._ruled_out(call) or self._over_cap(call)

    def _ruled_out(self, call: ToolCall) -> ToolResult | None:
        if self._error:
            return NO_CHECK
        if self._batch.cut_off:
            return ToolResult.not_run(CUT_OFF, CallFailure.INPUT)
        if self._scope.denials.are_too_many:
            fact = "too many calls were refused one after another"
            return ToolResult.failure(fact, "answer with what you have", CallFailure.PERMISSION)
        if self._scope.repeats.are_too_many:
            fact = "the same call had the same result too often"
            return ToolResult.failure(fact, "answer with what you have", CallFailure.LIMIT)
        if call.arguments_error:
            # Not shortened to one line like other failures: the model must see what it sent.
            return ToolResult.not_run(f"Error: {call.arguments_error}", CallFailure.INPUT)
        return None

    def _counted(self, call: ToolCall, refusal: ToolResult) -> ToolResult:
        """Count a call that failed because of the model's mistake as a repeat, too."""
        is_mistake = isinstance(refusal.details, dict) and refusal.details.get("failure") == CallFailure.INPUT
        return named(refusal, self._scope.repeats.add(call, refusal)) if is_mistake else refusal

    def _may_have_begun(self, call: ToolCall) -> bool:
        """Return True if the call may have run before the program stopped, and must not run twice."""
        return self._resumed and not self._runner.tools.may_repeat(call.name)

    def _may_be_answered(self, call: ToolCall) -> bool:
        """Return True for a question to people that they may have answered before the program stopped."""
        try:
            return self._resumed and self._runner.tools.get(call.name).asks
        except UnknownTool:
            return False

    def _over_cap(self, call: ToolCall) -> ToolResult | None:
        limits = self._runner.limits
        if call.id in self._too_many:
            return ToolResult.failure(
                f"an answer may make {limits.max_calls_per_answer} calls",
                "make the rest in your next answer",
                CallFailure.LIMIT,
            )
        if self._left <= 0:
            return ToolResult.failure(
                f"this run has made its {limits.max_tool_calls} tool calls",
                "answer with what you have",
                CallFailure.LIMIT,
            )
        return None

    async def _run_together(self, jobs: Sequence[Job]) -> None:
        """Run the jobs as tasks that feed one queue, so that nothing is emitted inside a task group."""
        queue = _EventQueue()
        run, messages = self._runner.executor.run, self._batch.messages
        tasks = [asyncio.create_task(run(job, self._scope, messages, self._room, queue.put)) for job in jobs]
        open_calls = len(jobs)
        try:
            while open_calls:
                event = await queue.get()
                if isinstance(event, ToolExecutionEnd):
                    open_calls -= 1
                    await self._end(event)
                else:
                    await self._emit(event)
        finally:
            for task in tasks:
                task.cancel()
            if tasks:
                await asyncio.wait(tasks)

    async def _end(self, end: ToolExecutionEnd) -> None:
        self._ends[end.tool_call_id] = end
        if end.attempts and not end.is_error:
            self._scope.denials.succeeded()
        await self._emit(end)

    def _message(self, end: ToolExecutionEnd) -> ToolResultMessage:
        result = end.result
        if end.attempts:
            result = from_tool(result, self._runner.tools.get(end.tool_name), end.attempts)
        return ToolResultMessage(
            id=self._runner.new_id(),
            created_at=self._runner.clock.time(),
            session_id=self._scope.environment.session_id,
            tool_call_id=end.tool_call_id,
            tool_name=end.tool_name,
            content=end.result.content,
            details=end.result.details,
            is_error=end.is_error,
            duration_ms=end.duration_ms,
            origin=result.origin,
        )


class _EventQueue:
    """The events of calls that run at the same time, in order.

    Only the newest unread update of each call is kept, so that a tool that reports without pause cannot fill the
    memory.
    """

    def __init__(self) -> None:
        self._queue: asyncio.Queue[AgentEvent | str] = asyncio.Queue()
        """An update is represented by the id of its call."""
        self._newest: dict[str, ToolExecutionUpdate] = {}

    def put(self, event: AgentEvent) -> None:
        if not isinstance(event, ToolExecutionUpdate):
            self._queue.put_nowait(event)
            return
        if event.tool_call_id not in self._newest:
            self._queue.put_nowait(event.tool_call_id)
        self._newest[event.tool_call_id] = event

    async def get(self) -> AgentEvent:
        event = await self._queue.get()
        return self._newest.pop(event) if isinstance(event, str) else event
