"""Work beside the conversation, as the event stream reports it (S3-29)."""

from enum import StrEnum

from pydantic import Field

from agent_core.messages import Frozen, JsonObject, Text, Usage


class TaskStatus(StrEnum):
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


class Report(Frozen):
    """How a sub-agent's work came out."""

    status: TaskStatus = TaskStatus.PENDING
    text: Text = ""
    """Its last answer, whole."""
    error: Text = ""
    """Why it did not get to its end."""
    untrusted: bool = False
    """Whether strangers had a word in what it read."""
    usage: Usage = Usage()

    @property
    def is_result(self) -> bool:
        """Whether the work came to an end of its own, so that what it cost counts for the run that asked for it."""
        return self.status in (TaskStatus.COMPLETED, TaskStatus.FAILED)
