"""Sub-agents: an agent with a conversation of its own does one thing for another and reports (S2-49, S3-36)."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import aclosing

from agent_core.agent import Agent
from agent_core.clock import Clock, NewId
from agent_core.events import (
    AgentEnd,
    AgentEvent,
    PermissionRequest,
    ToolExecutionEnd,
    ToolExecutionStart,
    ToolExecutionUpdate,
)
from agent_core.limits import LoopLimits, TaskBudget
from agent_core.loop.spoken import joined
from agent_core.messages import (
    AgentMessage,
    AssistantMessage,
    NotificationMessage,
    StopReason,
    Usage,
    UserMessage,
    user,
)
from agent_core.reasons import CallFailure, TerminalReason
from agent_core.tasks import Report, TaskStatus
from agent_core.tool_result import ToolResult
from agent_core.tools import ToolContext, ToolFailed
from agent_core.untrusted import is_tainted

LIMITS = LoopLimits(max_turns=15, max_tool_calls=25, finalize_on_limit=True)
SECONDS = 1200.0
DUTY = (
    "You work for another agent: do the one thing it asks, with nobody to ask back. "
    "It reads nothing but your last answer, so make that a short and complete report, and say what did not work."
)
"""What a sub-agent's prompt says of it."""
LONGEST_REPORT = 4_000
"""Characters that go back to the other agent."""

_FAILED = frozenset({TerminalReason.ERROR, TerminalReason.PERMISSION})
_OVER = "it was not done within {seconds:g} s"
_SILENT = "it ended without an answer"


class Errand:
    """One sub-agent at work: followed, counted, and ended in time. Consume `events`; then `report` is what came of it.

    An agent that has a history already goes on where that stops.
    """

    def __init__(self, agent: Agent, clock: Clock, *, seconds: float = SECONDS) -> None:
        self.tools = 0
        """Calls so far."""
        self.last_call: ToolExecutionStart | None = None
        self.is_waiting = False
        """People are asked whether a call may be made."""
        self._agent = agent
        self._clock = clock
        self._seconds = seconds
        self._stopped: TaskStatus | None = None
        self._end: AgentEnd | None = None
        self._before = Usage()

    @property
    def usage(self) -> Usage:
        """What it has cost so far, in all its lives."""
        return self._before + self._agent.state.usage

    @property
    def end(self) -> AgentEnd | None:
        """How the agent's run ended; None before that, and where it was cut off."""
        return self._end

    async def events(
        self,
        prompt: str | UserMessage,
        *,
        tainted: bool = False,
        run_id: str | None = None,
        user_id: str | None = None,
        budget: TaskBudget | None = None,
    ) -> AsyncGenerator[AgentEvent, None]:
        """`prompt`: another agent's words, or a message as it is. `tainted`: strangers had a word in the conversation
        that those words come from."""
        agent = self._agent
        self._before = usage_of(agent.state.messages)
        if agent.state.messages:
            source = agent.resume(run_id=run_id, user_id=user_id, budget=budget)
        else:
            asked = _asked(prompt, tainted=tainted) if isinstance(prompt, str) else prompt
            source = agent.stream(asked, run_id=run_id, user_id=user_id, budget=budget)
        ending = asyncio.create_task(self._end_in_time())
        try:
            async with aclosing(source) as events:
                async for event in events:
                    self._follow(event)
                    yield event
        finally:
            ending.cancel()
            await asyncio.wait([ending])

    def cancel(self) -> None:
        """Somebody does not want it any more."""
        self._stop(TaskStatus.CANCELLED)

    @property
    def report(self) -> Report:
        """Once the events have ended."""
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
        return Report(status=status, text=text, error=error, untrusted=is_tainted(messages), usage=self.usage)

    async def _end_in_time(self) -> None:
        await self._clock.sleep(self._seconds)
        self._stop(TaskStatus.FAILED)

    def _stop(self, status: TaskStatus) -> None:
        self._stopped = self._stopped or status
        self._agent.abort(status)

    def _follow(self, event: AgentEvent) -> None:
        if self._stopped is not None:
            self._agent.abort(self._stopped)  # it was stopped before there was anything to abort
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
    """A `TaskRunner` for agents without a house around them: nothing is kept, and nothing runs in the background."""

    def __init__(self, make: Callable[[str, ToolContext], Agent], clock: Clock, new_id: NewId) -> None:
        """`make` gets the name of the new conversation, and the context of the call. What it makes has no `task`."""
        self._make = make
        self._clock = clock
        self._new_id = new_id

    async def run(self, prompt: str, context: ToolContext) -> ToolResult:
        errand = Errand(self._make(f"task-{self._new_id()}", context), self._clock)
        tainted = is_tainted(context.messages)
        async with aclosing(errand.events(prompt, tainted=tainted, user_id=context.user_id)) as events:
            async for event in events:
                if isinstance(event, ToolExecutionStart):
                    context.on_update(ToolResult.of(f"{errand.tools} tools, now: {event.label}"))
        return result_of(errand.report)

    async def begin(self, prompt: str, context: ToolContext) -> ToolResult:
        raise ToolFailed("nothing runs in the background here", "call it again without background")


def result_of(report: Report, kept: str = "") -> ToolResult:
    """What the agent is told that asked for it; `kept` names the file that holds the whole report."""
    usage = report.usage if report.is_result else Usage()
    result = ToolResult.of(told(report, kept)).model_copy(update={"untrusted": report.untrusted, "usage": usage})
    if report.status is TaskStatus.COMPLETED:
        return result
    failed = result.model_copy(update={"is_error": True})
    return failed.failed_as(CallFailure.TOOL if report.is_result else CallFailure.KILLED)


def told(report: Report, kept: str = "") -> str:
    """The report in short: why it failed, if so, and the last answer with its end cut off where it is long."""
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
    """What the answers in it have cost."""
    return sum((message.usage for message in messages if isinstance(message, AssistantMessage)), Usage())


def _asked(prompt: str, *, tainted: bool) -> UserMessage:
    return user(prompt).model_copy(update={"untrusted": tainted, "by_agent": True})


def _last_words(messages: list[AgentMessage]) -> str:
    """The last finished answer, and which limit ended the work, if one did."""
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
