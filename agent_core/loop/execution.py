"""Execution of one permitted tool call: its time limit, retries, and a result that fits into a request."""

import asyncio
import errno
import socket
from collections.abc import Callable, Sequence

import structlog
from msgspec import Struct, field
from pydantic import BaseModel

from agent_core.background import staying
from agent_core.cancel import CancelToken
from agent_core.clock import Clock
from agent_core.events import AgentEvent, RetryScheduled, TaskEvent, ToolExecutionEnd, ToolExecutionUpdate
from agent_core.loop.hooks import HookCalls, HookFailed
from agent_core.loop.limits import LoopLimits
from agent_core.loop.permissions import Denials
from agent_core.loop.queues import MessageQueues
from agent_core.loop.repeats import Repeats, note_on
from agent_core.loop.results import ResultRoom, fitted, from_tool
from agent_core.loop.retry import ToolRetryPolicy
from agent_core.messages import AgentMessage, Json, TextContent, ToolCall, text_of
from agent_core.reasons import CallFailure
from agent_core.tasks import TaskRecord
from agent_core.tool_result import ToolResult
from agent_core.tools.tool import RetryableToolError, Tool, ToolContext, ToolEnvironment, ToolFailed
from agent_core.workspace.provenance import FileSources

ABORTED = "Operation aborted"
DONE = "Done: the tool completed successfully and had nothing to say."
FAILED = "Error: the tool failed and gave no reason. Next: try another way, or tell the person."

NETWORK_ERRNOS = frozenset({errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ETIMEDOUT, errno.ENETDOWN})

log = structlog.get_logger(__name__)

Redact = Callable[[str], str]
"""Removes secrets from a text that the model, the transcript or users might see."""
Emit = Callable[[AgentEvent], None]


class CallScope(Struct, frozen=True):
    """The environment of a run's tool calls, and what may stop them."""

    environment: ToolEnvironment
    queues: MessageQueues
    cancel: CancelToken
    denials: Denials = field(default_factory=Denials)
    """Calls that were refused in this run."""
    repeats: Repeats = field(default_factory=Repeats)
    """Calls of this run with their results."""


class Job(Struct, frozen=True):
    """A tool call with validated arguments."""

    call: ToolCall
    tool: Tool
    arguments: BaseModel


def end_of(
    call: ToolCall, result: ToolResult, *, attempts: int, duration_ms: int | None = None, denied: str | None = None
) -> ToolExecutionEnd:
    return ToolExecutionEnd(
        tool_call_id=call.id,
        tool_name=call.name,
        result=result,
        is_error=result.is_error,
        attempts=attempts,
        duration_ms=duration_ms,
        denied=denied,
    )


class Executor(Struct, frozen=True):
    """Runs jobs with time limits and retries."""

    limits: LoopLimits
    retry: ToolRetryPolicy
    clock: Clock
    redact: Redact
    hooks: HookCalls

    async def run(
        self, job: Job, scope: CallScope, messages: Sequence[AgentMessage], room: ResultRoom, emit: Emit
    ) -> None:
        """Run one call; always emits exactly one end, and nothing after it.

        `messages` is the conversation that the call belongs to; `room` is shared by the results of one answer.
        """
        forget = scope.cancel.on_cancel(_canceller())
        started = self.clock.monotonic()
        settled = False

        def update(partial: ToolResult) -> None:
            if not settled:
                shown = self._redacted(partial)
                emit(ToolExecutionUpdate(tool_call_id=job.call.id, tool_name=job.call.name, partial=shown))

        def tell(task: TaskRecord) -> None:
            if not settled:
                emit(TaskEvent(task=task))

        context = ToolContext(
            job.call.id, scope.environment, cancel=scope.cancel, messages=messages, on_update=update, on_task=tell
        )
        try:
            result, attempts = await self._attempts(job, context, emit)
        except asyncio.CancelledError:
            attempts = 1
            if scope.cancel.cancelled:
                result = ToolResult.not_run(ABORTED, CallFailure.KILLED)
            elif _is_stopping():
                raise
            else:
                result = ToolResult.failure(f"{job.tool.name} was interrupted", "try again, or tell the person")
        finally:
            forget()
            settled = True
        milliseconds = round((self.clock.monotonic() - started) * 1000)
        reviewed = from_tool(await self._reviewed(job, result, attempts, scope.cancel), job.tool, attempts)
        shown = await self._shown(job, self._presentable(reviewed), scope, room)
        emit(end_of(job.call, shown, attempts=attempts, duration_ms=milliseconds))

    async def _shown(self, job: Job, whole: ToolResult, scope: CallScope, room: ResultRoom) -> ToolResult:
        """Return the part of the result that fits. Repeats are counted on the whole, because the cut differs each
        time."""
        times = 1 if scope.cancel.cancelled else scope.repeats.add(job.call, whole, job.tool)
        workspace = scope.environment.workspace
        files = scope.environment.files or FileSources(workspace)
        return await fitted(whole, room, workspace, files, note_on(times))

    async def _attempts(self, job: Job, context: ToolContext, emit: Emit) -> tuple[ToolResult, int]:
        most = self.retry.max_attempts
        attempt = 1
        if context.cancel.cancelled:
            return ToolResult.not_run(ABORTED, CallFailure.KILLED), 0
        while True:
            try:
                async with asyncio.timeout(job.tool.timeout_s) as limit:
                    with staying():
                        return await job.tool.execute(job.arguments, context), attempt
            except Exception as error:  # noqa: BLE001 - whatever a tool raises is an answer to the model
                is_last = attempt == most or limit.expired() or _is_stopping()
                if is_last or not _may_pass(job.tool, error):
                    return _failure(job, error, context.session_id, timed_out=limit.expired()), attempt
                delay = self.retry.delay_s
                reason = self.redact(str(error))[:200]
                emit(RetryScheduled(scope="tool", attempt=attempt, max_attempts=most, delay_s=delay, error=reason))
                await self.clock.sleep(delay)
                attempt += 1

    async def _reviewed(self, job: Job, result: ToolResult, attempts: int, cancel: CancelToken) -> ToolResult:
        """Return the result as changed by the application's hook. If the hook fails, the result is withheld, but the
        run goes on."""
        if not attempts:
            return result
        try:
            return await self.hooks.after_call(job.call, result, cancel)
        except HookFailed:
            log.exception("a hook failed", tool=job.tool.name)
            fact = "the call was made, but its result was withheld by a failed check"
            return ToolResult.failure(fact, "do not repeat it; tell the person", CallFailure.HOOK)

    def _presentable(self, result: ToolResult) -> ToolResult:
        """Return the result without secrets, and never empty."""
        result = self._redacted(result.failed_as(CallFailure.TOOL) if result.is_error else result)
        said = text_of(result.content).strip()
        if said or not all(isinstance(part, TextContent) for part in result.content):
            return result
        silent = FAILED if result.is_error else DONE
        return result.model_copy(update={"content": (TextContent(text=silent),)})

    def _redacted(self, result: ToolResult) -> ToolResult:
        """Return the result without secrets; done before it becomes an event."""
        content = tuple(
            TextContent(text=self.redact(part.text)) if isinstance(part, TextContent) else part
            for part in result.content
        )
        details, summary = _each_text(result.details, self.redact), self.redact(result.summary)
        return result.model_copy(update={"content": content, "details": details, "summary": summary})


def _each_text(value: Json, change: Redact) -> Json:
    match value:
        case str():
            return change(value)
        case list():
            return [_each_text(item, change) for item in value]
        case dict():
            return {change(key): _each_text(item, change) for key, item in value.items()}
        case _:
            return value


def _failure(job: Job, error: Exception, session: str, *, timed_out: bool) -> ToolResult:
    log.info("tool failed", tool=job.tool.name, error=type(error).__name__, session=session)
    if timed_out:
        job.tool.failed(TimeoutError(f"it took more than {job.tool.timeout_s:g} s"))
        return ToolResult.failure(
            f"{job.tool.name} gave no result within {job.tool.timeout_s:g} s; it may still have had an effect",
            "check what it did, then ask for less at a time, or tell the person",
            CallFailure.TIMEOUT,
        )
    if isinstance(error, ToolFailed):
        failed = ToolResult.failure(error.fact, error.advice)
        return failed.model_copy(update={"origin": error.origin})
    job.tool.failed(error)
    return ToolResult.failure(str(error) or type(error).__name__, "try other arguments or another way")


def _canceller() -> Callable[[], object]:
    """Return a function that cancels the current task."""
    task = asyncio.current_task()
    return lambda: task and task.cancel()


def _is_stopping() -> bool:
    """Return True if the current task was cancelled, even if a tool has swallowed the cancellation."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _may_pass(tool: Tool, error: Exception) -> bool:
    """Return True if a retry may succeed and the failed call had no effect."""
    if tool.retry == "never":
        return False
    if isinstance(error, RetryableToolError | ConnectionError | socket.gaierror):
        return True
    if isinstance(error, OSError) and error.errno in NETWORK_ERRNOS:
        return True
    return tool.retry == "always" and not isinstance(error, ToolFailed)
