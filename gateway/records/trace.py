"""Records a run as it happens: its steps and calls in the store, its calls in the audit file.

None of these writes is awaited, since no conversation depends on them.
"""

import json

from agent_core.agent import Agent
from agent_core.events import (
    AgentEnd,
    AgentEvent,
    BudgetReached,
    CompactionStart,
    MessageEnd,
    PermissionRequest,
    RetryScheduled,
    TaskEvent,
    ToolExecutionEnd,
    ToolExecutionStart,
)
from agent_core.messages import AssistantMessage, text_of
from gateway.records.audit import AuditLog
from gateway.store.rows import Run
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


class Trace:
    """Trace of one run. Pass every event to `keep` before its message goes to the transcript.

    Steps are collected and written together, at the latest before the run may pause for long.
    """

    def __init__(self, store: Store, audit: AuditLog, agent: Agent, run: Run) -> None:
        self._store = store
        self._audit = audit
        self._agent = agent
        self._run = run
        self._arguments: dict[str, str] = {}
        self._asking: str | None = None
        """Id of the assistant message whose calls are running."""
        self._questions: dict[str, str] = {}
        """Question id by tool-call id."""
        self._steps: list[Step] = []
        """Steps not written yet."""

    def keep(self, event: AgentEvent) -> None:
        match event:
            case MessageEnd(message=AssistantMessage(tool_calls=calls) as message) if calls:
                self._asking = message.id
            case ToolExecutionStart():
                self._arguments[event.tool_call_id] = json.dumps(event.args, ensure_ascii=False)
                self._audit.started(self._run, event)
            case PermissionRequest():
                self._questions[event.tool_call_id] = event.request_id
                self._audit.asked(self._run, event.tool_call_id, event.tool_name, event.request_id, event.ts)
            case ToolExecutionEnd():
                self._audit.ended(self._run, event, self._questions.pop(event.tool_call_id, None))
                self._record(event)
            case _:
                pass
        if step := step_of(event, lambda: self._agent.state):
            self._steps.append(step)
        if self._steps and isinstance(event, _NOW):
            self._store.steps.add(self._steps)
            self._steps = []

    def _record(self, event: ToolExecutionEnd) -> None:
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
        self._store.runs.record_tool(record)
