"""Records a run as it happens: its messages in the transcript, its steps and calls in the store, its calls in the audit
file, and what it does in the counters.

Only the transcript is ever waited for, since no conversation depends on the rest.
"""

import json
from collections.abc import Callable

from msgspec import Struct

from agent_core.agent import Agent
from agent_core.events import (
    AgentEnd,
    AgentEvent,
    AgentStart,
    BudgetReached,
    CompactionEnd,
    CompactionStart,
    MessageEnd,
    PermissionRequest,
    RetryScheduled,
    TaskEvent,
    ToolExecutionEnd,
    ToolExecutionStart,
    TurnStart,
)
from agent_core.messages import AgentMessage, AssistantMessage, ToolResultMessage, text_of
from gateway.records.audit import AuditLog
from gateway.records.run_tally import RunTally
from gateway.store.rows import Run, inbox_seqs
from gateway.store.runs import ToolRecord
from gateway.store.steps import Step, step_of
from gateway.store.store import Store

_NOW = (
    AgentEnd,
    BudgetReached,
    CompactionStart,
    MessageEnd,
    PermissionRequest,
    RetryScheduled,
    TaskEvent,
    ToolExecutionStart,
)
"""Events with which the steps so far are written: a message follows, or the run may pause for long."""


class Records(Struct, frozen=True):
    """The places in which runs are recorded."""

    store: Store
    audit: AuditLog
    tally: RunTally


class RunRecorder:
    """Records one run, which begins with the agent's present model and tools. Pass every event to `keep`."""

    def __init__(self, records: Records, agent: Agent, run: Run, on_said: Callable[[str], object]) -> None:
        """`on_said` is called with the id of each message that has entered the transcript."""
        self._records = records
        self._agent = agent
        self._tools = agent.loop.tools
        self._model = agent.loop.models.model.id
        self._run = run
        self._on_said = on_said
        self._began = 0.0
        self._turn = 0
        self._arguments: dict[str, str] = {}
        self._asking: str | None = None
        """Id of the assistant message whose calls are running."""
        self._questions: dict[str, str] = {}
        """Question id by tool-call id."""
        self._steps: list[Step] = []
        """Steps not written yet."""

    async def keep(self, event: AgentEvent) -> None:
        """Record an event, waiting only for the write of a call that may not be repeated.

        Such a call must be on disk before the run goes on, or a resumed run could make it twice. Other messages are
        written together with the next one.
        """
        match event:
            case AgentStart():
                self._began = event.ts
            case TurnStart():
                self._turn = event.turn
            case ToolExecutionStart() | PermissionRequest() | ToolExecutionEnd():
                self._keep_call(event)
            case CompactionEnd() | RetryScheduled() | AgentEnd():
                self._records.tally.count(event, self._model, self._began)
            case _:
                pass
        if step := step_of(event, lambda: self._agent.state):
            self._steps.append(step)
        if self._steps and isinstance(event, _NOW):
            self._records.store.steps.add(self._steps)
            self._steps = []
        if isinstance(event, MessageEnd):
            await self._say(event.message)

    async def _say(self, message: AgentMessage) -> None:
        """Add a message to the transcript."""
        if isinstance(message, AssistantMessage):
            self._records.tally.count_answer(message, self._model)
            self._asking = message.id if message.tool_calls else self._asking
        later = all(map(self._tools.may_repeat, _tools_in(message)))
        written = self._records.store.transcript.append(
            self._run, self._turn, message, inbox_seqs([message.id]), later=later
        )
        self._on_said(message.id)
        if not later:
            await written

    def _keep_call(self, event: ToolExecutionStart | PermissionRequest | ToolExecutionEnd) -> None:
        audit = self._records.audit
        match event:
            case ToolExecutionStart():
                self._arguments[event.tool_call_id] = json.dumps(event.args, ensure_ascii=False)
                audit.started(self._run, event)
            case PermissionRequest():
                self._questions[event.tool_call_id] = event.request_id
                audit.asked(self._run, event.tool_call_id, event.tool_name, event.request_id, event.ts)
            case ToolExecutionEnd():
                audit.ended(self._run, event, self._questions.pop(event.tool_call_id, None))
                self._store_call(event)
                self._records.tally.count_call(event, self._tools)

    def _store_call(self, event: ToolExecutionEnd) -> None:
        """Store a finished call. If that fails the store logs it, and the run continues."""
        text = text_of(event.result.content)
        record = ToolRecord(
            run=self._run.id,
            session=self._run.session,
            message_id=self._asking,
            call=event.tool_call_id,
            tool=event.tool_name,
            arguments=self._arguments.pop(event.tool_call_id, "{}"),
            attempts=event.attempts,
            duration_ms=event.duration_ms,
            result=None if event.is_error else text,
            error=text if event.is_error else None,
        )
        self._records.store.runs.record_tool(record)


def _tools_in(message: AgentMessage) -> list[str]:
    """Return the names of the tools that a message calls or answers."""
    match message:
        case AssistantMessage():
            return [call.name for call in message.tool_calls]
        case ToolResultMessage():
            return [message.tool_name]
        case _:
            return []
