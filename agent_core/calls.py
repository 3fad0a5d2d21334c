"""One batch of tool calls: validate, execute, retry, skip, cap; every call gets exactly one result (S0-14, S3-13)."""

import asyncio
import errno
import socket
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path

import structlog
from pydantic import BaseModel

from agent_core.cancel import CancelToken
from agent_core.clock import Clock, NewId
from agent_core.events import (
    AgentEvent,
    MessageEnd,
    MessageStart,
    RetryScheduled,
    ToolExecutionEnd,
    ToolExecutionStart,
    ToolExecutionUpdate,
)
from agent_core.limits import LoopLimits, ToolRetryPolicy
from agent_core.messages import TextContent, ToolCall, ToolResultMessage, text_of
from agent_core.queues import MessageQueues
from agent_core.tool_result import ToolResult
from agent_core.tools import RetryableToolError, Tool, ToolContext, ToolFailed, ToolRegistry, UnknownTool

SKIPPED = "Skipped due to queued user message."
"""The exact words of behaviour row S4-24."""
ABORTED = "Operation aborted"
UNKNOWN_OUTCOME = (
    "Error: the program stopped while this ran, so its outcome is unknown. "
    "Next: check what happened before you call it again."
)
CUT_OFF = "Error: the answer reached its output token limit before this call was complete. Next: re-issue the call."
DONE = "Done: the tool completed successfully and had nothing to say."
FAILED = "Error: the tool failed and gave no reason. Next: try another way, or tell the person."

NETWORK_ERRNOS = frozenset({errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ETIMEDOUT, errno.ENETDOWN})

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class CallScope:
    """On whose behalf tools run, and what may stop them."""

    session_id: str
    workspace: Path
    queues: MessageQueues
    cancel: CancelToken
    chat_id: str | None = None
    user_id: str | None = None


@dataclass(frozen=True)
class _Job:
    call: ToolCall
    tool: Tool
    arguments: BaseModel


class CallRunner:
    """Knows the tools and the rules; `batch` makes the work of one answer."""

    def __init__(
        self, tools: ToolRegistry, limits: LoopLimits, retry: ToolRetryPolicy, clock: Clock, new_id: NewId
    ) -> None:
        self.tools = tools
        self.limits = limits
        self.retry = retry
        self.clock = clock
        self.new_id = new_id

    def batch(
        self, calls: Sequence[ToolCall], scope: CallScope, *, left: int, cut_off: bool = False, resumed: bool = False
    ) -> "CallBatch":
        """The calls of one answer. `left`: how many more the run may make; `cut_off`: the answer ended in the middle,
        so nothing is run (U-06); `resumed`: the calls may have run before a crash, so only idempotent ones run."""
        return CallBatch(self, calls, scope, left=left, cut_off=cut_off, resumed=resumed)


class CallBatch:
    """Runs once; afterwards `results` are the messages in the order of the calls."""

    def __init__(
        self,
        runner: CallRunner,
        calls: Sequence[ToolCall],
        scope: CallScope,
        *,
        left: int,
        cut_off: bool,
        resumed: bool,
    ) -> None:
        self._runner = runner
        self._calls = calls
        self._scope = scope
        self._left = left
        self._cut_off = cut_off
        self._resumed = resumed
        self._too_many = {call.id for call in calls[runner.limits.max_calls_per_answer :]}
        self._ends: dict[str, ToolExecutionEnd] = {}
        self.results: list[ToolResultMessage] = []

    @property
    def terminates(self) -> bool:
        """Every result asks for the end of the run (U-05)."""
        return bool(self._ends) and all(end.result.terminate for end in self._ends.values())

    async def run(self) -> AsyncGenerator[AgentEvent, None]:
        """The events of the batch (S4-20, S4-46): starts in order, ends as they come, results in order (U-02)."""
        for group in self._groups():
            jobs: list[_Job] = []
            for call in group:
                job = self._prepare(call)
                label = self._label(call)
                yield ToolExecutionStart(tool_call_id=call.id, tool_name=call.name, label=label, args=call.arguments)
                if isinstance(job, ToolResult):
                    yield self._ended(_end(call, job, attempts=0))
                else:
                    jobs.append(job)
            async with aclosing(self._together(jobs)) as events:
                async for event in events:
                    yield event
            for call in group:
                message = self._message(self._ends[call.id])
                self.results.append(message)
                yield MessageStart(message=message)
                yield MessageEnd(message=message)

    def _groups(self) -> Iterator[Sequence[ToolCall]]:
        """At most four at once, and only where every call of the answer reads only; else one by one (C-03, D-18)."""
        size = self._runner.limits.max_parallel if all(self._is_parallel(call) for call in self._calls) else 1
        for start in range(0, len(self._calls), size):
            yield self._calls[start : start + size]

    def _is_parallel(self, call: ToolCall) -> bool:
        try:
            return self._runner.tools.get(call.name).execution == "parallel"
        except UnknownTool:
            return True

    def _label(self, call: ToolCall) -> str:
        try:
            return self._runner.tools.get(call.name).describe(call.arguments)
        except UnknownTool:
            return call.name

    def _prepare(self, call: ToolCall) -> _Job | ToolResult:
        """What to run, or the result of a call that is not run."""
        if refusal := self._refusal(call):
            return refusal
        try:
            tool = self._runner.tools.get(call.name)
            if self._resumed and not tool.idempotent:
                return ToolResult.of(UNKNOWN_OUTCOME, is_error=True)
            job = _Job(call, tool, tool.validate(call.arguments))
        except ToolFailed as error:
            return ToolResult.failure(error.fact, error.advice)
        self._left -= 1
        return job

    def _refusal(self, call: ToolCall) -> ToolResult | None:
        if self._scope.cancel.cancelled:
            return ToolResult.of(ABORTED, is_error=True)
        if self._scope.queues.has_steering:
            return ToolResult.of(SKIPPED, is_error=True)
        if self._cut_off:
            return ToolResult.of(CUT_OFF, is_error=True)
        if call.arguments_error:
            return ToolResult.failure(call.arguments_error, "send the whole call again as valid JSON")
        return self._over_cap(call)

    def _over_cap(self, call: ToolCall) -> ToolResult | None:
        limits = self._runner.limits
        if call.id in self._too_many:
            return ToolResult.failure(
                f"an answer may make {limits.max_calls_per_answer} calls", "make the rest in your next answer"
            )
        if self._left <= 0:
            return ToolResult.failure(
                f"this run has made its {limits.max_tool_calls} tool calls", "answer with what you have"
            )
        return None

    async def _together(self, jobs: Sequence[_Job]) -> AsyncGenerator[AgentEvent, None]:
        """Run the jobs as tasks that feed one queue, so that nothing is yielded inside a task group."""
        queue: asyncio.Queue[AgentEvent] = asyncio.Queue()
        tasks = [asyncio.create_task(self._one(job, queue.put_nowait)) for job in jobs]
        open_calls = len(jobs)
        try:
            while open_calls:
                event = await queue.get()
                if isinstance(event, ToolExecutionEnd):
                    open_calls -= 1
                    self._ended(event)
                yield event
        finally:
            for task in tasks:
                task.cancel()
            if tasks:
                await asyncio.wait(tasks)

    async def _one(self, job: _Job, emit: Callable[[AgentEvent], None]) -> None:
        """One call from start to end; always emits exactly one end, and nothing after it (S4-22)."""
        task = asyncio.current_task()

        forget = self._scope.cancel.on_cancel(lambda: task and task.cancel())
        started = self._runner.clock.monotonic()
        settled = False

        def update(partial: ToolResult) -> None:
            if not settled:
                emit(ToolExecutionUpdate(tool_call_id=job.call.id, tool_name=job.call.name, partial=partial))

        context = ToolContext(
            call_id=job.call.id,
            session_id=self._scope.session_id,
            chat_id=self._scope.chat_id,
            user_id=self._scope.user_id,
            workspace=self._scope.workspace,
            cancel=self._scope.cancel,
            on_update=update,
        )
        try:
            result, attempts = await self._attempts(job, context, emit)
        except asyncio.CancelledError:
            attempts = 1
            if self._scope.cancel.cancelled:
                result = ToolResult.of(ABORTED, is_error=True)
            elif _is_stopping():
                raise
            else:
                result = ToolResult.failure(f"{job.tool.name} was interrupted", "try again, or tell the person")
        finally:
            forget()
            settled = True
        milliseconds = round((self._runner.clock.monotonic() - started) * 1000)
        emit(_end(job.call, self._presentable(result), attempts=attempts, duration_ms=milliseconds))

    async def _attempts(
        self, job: _Job, context: ToolContext, emit: Callable[[AgentEvent], None]
    ) -> tuple[ToolResult, int]:
        most = self._runner.retry.max_attempts
        attempt = 1
        if self._scope.cancel.cancelled:
            return ToolResult.of(ABORTED, is_error=True), 0
        while True:
            try:
                async with asyncio.timeout(job.tool.timeout_s) as limit:
                    return await job.tool.execute(job.arguments, context), attempt
            except Exception as error:  # noqa: BLE001 - a tool is a guest: whatever it raises is an answer to the model (S4-23)
                is_last = attempt == most or limit.expired() or _is_stopping()
                if is_last or not _may_pass(job.tool, error):
                    return self._failure(job, error, timed_out=limit.expired()), attempt
                delay = self._runner.retry.delay_s
                emit(
                    RetryScheduled(
                        scope="tool", attempt=attempt, max_attempts=most, delay_s=delay, error=str(error)[:200]
                    )
                )
                await self._runner.clock.sleep(delay)
                attempt += 1

    def _failure(self, job: _Job, error: Exception, *, timed_out: bool) -> ToolResult:
        log.info("tool failed", tool=job.tool.name, error=type(error).__name__, session=self._scope.session_id)
        if timed_out:
            return ToolResult.failure(
                f"{job.tool.name} gave no result within {job.tool.timeout_s:g} s; it may still have had an effect",
                "check before you try again, or tell the person",
            )
        if isinstance(error, ToolFailed):
            return ToolResult.failure(error.fact, error.advice)
        return ToolResult.failure(str(error) or type(error).__name__, "try other arguments or another way")

    def _presentable(self, result: ToolResult) -> ToolResult:
        """Never empty (S0-17), and no longer than the budget: head and tail, with what was cut said between (C-24)."""
        most = self._runner.limits.result_chars
        text = text_of(result.content)
        if not text.strip() and all(isinstance(part, TextContent) for part in result.content):
            silent = FAILED if result.is_error else DONE
            return result.model_copy(update={"content": (TextContent(text=silent),)})
        if len(text) <= most:
            return result
        cut = len(text) - most
        half = most // 2
        short = f"{text[:half]}\n[... {cut} characters cut ...]\n{text[-half:]}"
        others = tuple(part for part in result.content if not isinstance(part, TextContent))
        return result.model_copy(update={"content": (TextContent(text=short), *others)})

    def _ended(self, end: ToolExecutionEnd) -> ToolExecutionEnd:
        self._ends[end.tool_call_id] = end
        return end

    def _message(self, end: ToolExecutionEnd) -> ToolResultMessage:
        return ToolResultMessage(
            id=self._runner.new_id(),
            created_at=self._runner.clock.time(),
            session_id=self._scope.session_id,
            tool_call_id=end.tool_call_id,
            tool_name=end.tool_name,
            content=end.result.content,
            details=end.result.details,
            is_error=end.is_error,
            duration_ms=end.duration_ms,
        )


def _end(call: ToolCall, result: ToolResult, *, attempts: int, duration_ms: int | None = None) -> ToolExecutionEnd:
    return ToolExecutionEnd(
        tool_call_id=call.id,
        tool_name=call.name,
        result=result,
        is_error=result.is_error,
        attempts=attempts,
        duration_ms=duration_ms,
    )


def _is_stopping() -> bool:
    """The task that runs this was asked to end; a tool may have swallowed that."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _may_pass(tool: Tool, error: Exception) -> bool:
    """Whether the same call may succeed a moment later without having had an effect (C-04)."""
    if tool.retry == "never":
        return False
    if isinstance(error, RetryableToolError | ConnectionError | socket.gaierror):
        return True
    if isinstance(error, OSError) and error.errno in NETWORK_ERRNOS:
        return True
    return tool.retry == "always" and not isinstance(error, ToolFailed)
