"""Tasks that run beside the conversation, as reported in the event stream."""

from enum import StrEnum

from pydantic import Field

from agent_core.messages import Derived, Frozen, JsonObject, Text, Usage


class TaskStatus(StrEnum):
    """The state of a task or an errand, or its end."""

    PENDING = "pending"
    RUNNING = "running"
    WAITING_PERMISSION = "waiting_permission"
    BACKGROUNDED = "backgrounded"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    KILLED = "killed"


class TaskRecord(Frozen):
    """One task; times are seconds since the epoch."""

    task_id: str
    type: str
    session_id: str
    parent_task_id: str | None = None
    agent_id: str | None = None
    description: Text
    status: TaskStatus = TaskStatus.PENDING
    created_at: float
    started_at: float | None = None
    finished_at: float | None = None
    output_path: str | None = None
    error: Text | None = None
    result_summary: Text | None = None
    progress: JsonObject = Field(default_factory=dict)


class Report(Derived):
    """Result of a sub-agent's work; its origin is that of everything it read."""

    status: TaskStatus = TaskStatus.PENDING
    text: Text = ""
    """The last answer, in full."""
    error: Text = ""
    """Why the work did not finish."""
    usage: Usage = Usage()

    @property
    def is_result(self) -> bool:
        """Return True if the work ended by itself; then its cost counts for the run that asked for it."""
        return self.status in (TaskStatus.COMPLETED, TaskStatus.FAILED)
