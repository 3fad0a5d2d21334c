"""The states of a run and the reasons it goes on or ends (S0-21, S3-10, S3-11)."""

from enum import StrEnum


class LoopState(StrEnum):
    IDLE = "idle"
    THINKING = "thinking"
    TOOL_CALLING = "tool_calling"
    WAITING_APPROVAL = "waiting_approval"
    COMPACTING = "compacting"
    COMPLETED = "completed"
    ABORTED = "aborted"
    MAX_ITERATIONS = "max_iterations"
    ERROR = "error"
    BACKGROUNDED = "backgrounded"


class TransitionReason(StrEnum):
    """Why a turn starts."""

    START = "start"
    RESUME = "resume"
    TOOL_ROUND = "tool_round"
    STEERING = "steering"
    FOLLOW_UP = "follow_up"
    LIMIT = "limit"
    """The closing call without tools after a limit was reached (C-07)."""
    SUBAGENT = "subagent"
    TASK_NOTIFICATION = "task_notification"
    COMPACTED = "compacted"
    REACTIVE_COMPACT = "reactive_compact"
    MAX_OUTPUT_RECOVERY = "max_output_recovery"
    STOP_HOOK = "stop_hook"


class TerminalReason(StrEnum):
    """Why a run ended; `state_after` says what it leaves the agent in."""

    COMPLETED = "completed"
    MAX_TURNS = "max_turns"
    MAX_TOOL_CALLS = "max_tool_calls"
    BUDGET = "budget_exhausted"
    ABORTED = "aborted"
    PERMISSION = "permission_blocked"
    ERROR = "error"
    BACKGROUNDED = "backgrounded"
    HANDED_OVER = "handed_over"
    TOOL_TERMINATED = "tool_terminated"

    @property
    def state_after(self) -> LoopState:
        return _STATE_AFTER.get(self, LoopState.COMPLETED)


_STATE_AFTER = {
    TerminalReason.MAX_TURNS: LoopState.MAX_ITERATIONS,
    TerminalReason.MAX_TOOL_CALLS: LoopState.MAX_ITERATIONS,
    TerminalReason.BUDGET: LoopState.MAX_ITERATIONS,
    TerminalReason.ABORTED: LoopState.ABORTED,
    TerminalReason.PERMISSION: LoopState.ERROR,
    TerminalReason.ERROR: LoopState.ERROR,
    TerminalReason.BACKGROUNDED: LoopState.BACKGROUNDED,
    TerminalReason.HANDED_OVER: LoopState.BACKGROUNDED,
}


class CallFailure(StrEnum):
    """Why a tool call has an error for its result: `failure` in the result's details (S3-33)."""

    INPUT = "tool_input_error"
    """No such tool, arguments that do not fit, or a call that was cut off."""
    PERMISSION = "permission_denied"
    HOOK = "hook_blocked"
    TOOL = "tool_runtime_error"
    TIMEOUT = "tool_timeout"
    KILLED = "task_killed"
    """The run was stopped."""
    SKIPPED = "skipped"
    """The person wrote something else before it began."""
    LIMIT = "limit_reached"
    UNKNOWN = "unknown_outcome"
    """The program stopped while it ran."""
