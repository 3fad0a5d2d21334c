"""Sub-agents: an agent with its own conversation does one task for another agent and reports back."""

import asyncio
from collections.abc import Callable, Iterable

from agent_core.agent import Agent, RunStart, reason_for
from agent_core.clock import Clock, NewId
from agent_core.events import (
    AgentEnd,
    AgentEvent,
    PermissionRequest,
    ToolExecutionEnd,
    ToolExecutionStart,
    ToolExecutionUpdate,
)
from agent_core.loop.answer import joined
from agent_core.loop.event_stream import Emit
from agent_core.messages import (
    AgentMessage,
    AssistantMessage,
    NotificationMessage,
    StopReason,
    Usage,
    UserMessage,
    user,
)
from agent_core.origin import CLEAN, Origin
from agent_core.reasons import CallFailure, TerminalReason, TransitionReason
from agent_core.tasks import Report, TaskStatus
from agent_core.tool_result import ToolResult
from agent_core.tools.tool import ToolContext, ToolFailed
from agent_core.untrusted import origin_of

CLOSING_S = 300.0
"""Seconds that a sub-agent has for its last answer after reaching its limits."""
DUTY = (
    "You work for another agent: do the one thing it asks, with nobody to ask back. "
    "It reads nothing but your last answer, so make that a short and complete report, and say what did not work."
)
"""The part of a sub-agent's prompt that describes its role."""
LONGEST_REPORT = 4_000
"""Characters of the report that go back to the other agent."""

_FAILED = frozenset({TerminalReason.ERROR, TerminalReason.PERMISSION})
_OVER = "it was not done within {seconds:g} s"
_SILENT = "it ended without an answer"


class Errand:
    """One sub-agent's run, with progress and a time limit. Await `run`; then read `report`.

    An agent that already has a history continues where it stops.
    """

    def __init__(self, agent: Agent, clock: Clock, *, seconds: float | None = None) -> None:
        """Create an errand that is aborted after `seconds`; by default `CLOSING_S` after the agent's own time limit."""
        self.tools = 0
        """Tool calls so far."""
        self.last_call: ToolExecutionStart | None = None
        self.is_waiting = False
        """True while an approval is awaited."""
        self._agent = agent
        self._clock = clock
        self._seconds = agent.loop.limits.max_seconds + CLOSING_S if seconds is None else seconds
        self._stopped: TaskStatus | None = None
        self._end: AgentEnd | None = None
        self._before = Usage()

    @property
    def usage(self) -> Usage:
        """Return the cost so far, including earlier process starts."""
        return self._before + self._agent.state.usage

    @property
    def end(self) -> AgentEnd | None:
        """Return the last event of the agent's run; None before that, or if the run was cut off."""
        return self._end

    async def run(self, prompt: UserMessage, start: RunStart, emit: Emit) -> None:
        """Run the agent. `prompt` is its first message, see `asked`; `emit` gets the events."""
        agent, said = self._agent, self._agent.messages
        self._before = usage_of(said)
        first, reason = ((), TransitionReason.RESUME) if said else ((prompt,), reason_for([prompt]))

        async def heard(event: AgentEvent) -> None:
            self._follow(event)
            await emit(event)

        ending = asyncio.create_task(self._end_in_time())
        try:
            with agent.running(start, heard) as run:
                await agent.loop.run(run, first, reason)
        finally:
            ending.cancel()
            await asyncio.wait([ending])

    def cancel(self) -> None:
        """Stop the work because it is no longer wanted."""
        self._stop(TaskStatus.CANCELLED)

    @property
    def report(self) -> Report:
        """Return the report; valid after the run."""
        messages = self._agent.state.messages
        text, status, error = _last_words(messages), TaskStatus.COMPLETED, ""
        reason = self._end.reason if self._end else TerminalReason.ABORTED
        if reason is TerminalReason.ABORTED:
            status = self._stopped or TaskStatus.FAILED
            error = _OVER.format(seconds=self._seconds) if status is TaskStatus.FAILED else ""
        elif reason in _FAILED:
            status, error = TaskStatus.FAILED, (self._end and self._end.error) or reason.value
        elif not text:
            status, error = TaskStatus.FAILED, _SILENT
        return Report(status=status, text=text, error=error, origin=origin_of(messages), usage=self.usage)

    async def _end_in_time(self) -> None:
        await self._clock.sleep(self._seconds)
        self._stop(TaskStatus.FAILED)

    def _stop(self, status: TaskStatus) -> None:
        self._stopped = self._stopped or status
        self._agent.abort(status)

    def _follow(self, event: AgentEvent) -> None:
        if self._stopped is not None:
            self._agent.abort(self._stopped)  # stopped before there was anything to abort
        match event:
            case ToolExecutionStart():
                self.tools += 1
                self.last_call = event
            case PermissionRequest():
                self.is_waiting = True
            case ToolExecutionUpdate() | ToolExecutionEnd():
                self.is_waiting = False
            case AgentEnd():
                self._end = event
            case _:
                pass


class SubAgents:
    """A `TaskRunner` for agents used as a library: nothing is stored, and nothing runs in the background."""

    def __init__(self, make: Callable[[str, ToolContext], Agent], clock: Clock, new_id: NewId) -> None:
        """Create a runner. `make` builds an agent without the `task` tool from a conversation name and the call's
        context."""
        self._make = make
        self._clock = clock
        self._new_id = new_id

    async def run(self, prompt: str, context: ToolContext) -> ToolResult:
        errand = Errand(self._make(f"task-{self._new_id()}", context), self._clock)
        told = asked(prompt, origin_of(context.messages))

        async def show(event: AgentEvent) -> None:
            if isinstance(event, ToolExecutionStart):
                context.on_update(ToolResult.of(f"{errand.tools} tools, now: {event.label}", CLEAN))

        await errand.run(told, RunStart(user_id=context.user_id), show)
        return result_of(errand.report)

    async def begin(self, prompt: str, context: ToolContext) -> ToolResult:
        raise ToolFailed("nothing runs in the background here", "call it again without background")


def result_of(report: Report, kept: str = "") -> ToolResult:
    """Return the tool result for the agent that gave the task; `kept` names the file with the whole report."""
    usage = report.usage if report.is_result else Usage()
    result = ToolResult.of(told(report, kept), report.origin).model_copy(update={"usage": usage})
    if report.status is TaskStatus.COMPLETED:
        return result
    failed = result.model_copy(update={"is_error": True})
    return failed.failed_as(CallFailure.TOOL if report.is_result else CallFailure.KILLED)


def told(report: Report, kept: str = "") -> str:
    """Return the report as text: why it failed, if it did, and the last answer, shortened if long."""
    text = shortened(report.text, kept)
    if report.status is TaskStatus.COMPLETED:
        return text
    why = f"The task {report.status.value}: {report.error}" if report.error else f"The task was {report.status.value}."
    return f"{why}\nIts last words: {text}" if text else why


def shortened(text: str, kept: str = "") -> str:
    if len(text) <= LONGEST_REPORT:
        return text
    where = f"; the whole report is in {kept}" if kept else ""
    return f"{text[:LONGEST_REPORT]}\n[... {len(text) - LONGEST_REPORT} characters cut{where}]"


def usage_of(messages: Iterable[AgentMessage]) -> Usage:
    """Return the total usage of the answers."""
    return sum((message.usage for message in messages if isinstance(message, AssistantMessage)), Usage())


def asked(prompt: str, origin: Origin) -> UserMessage:
    """Return what an agent asks another one, from a conversation of this origin, as a message.

    It is always private, since it may contain anything the other agent knows.
    """
    return user(prompt, origin=origin).model_copy(update={"by_agent": True, "private": True})


def _last_words(messages: list[AgentMessage]) -> str:
    """Return the last finished answer, with the notice of the limit that ended the run, if any."""
    limit = ""
    for message in reversed(list(joined(messages))):
        if isinstance(message, NotificationMessage) and not message.to_model:
            limit = limit or message.text
        elif isinstance(message, AssistantMessage) and _is_answer(message):
            return "\n".join(part for part in (message.text.strip(), limit) if part)
    return limit


def _is_answer(message: AssistantMessage) -> bool:
    failed = message.stop_reason in (StopReason.ERROR, StopReason.ABORTED)
    return bool(message.text.strip()) and not message.tool_calls and not failed
