"""States of a run, and the reasons why turns start and runs end."""

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
    """The reason why a turn starts."""

    START = "start"
    RESUME = "resume"
    TOOL_ROUND = "tool_round"
    STEERING = "steering"
    FOLLOW_UP = "follow_up"
    LIMIT = "limit"
    """The last call without tools after a limit was reached."""
    SUBAGENT = "subagent"
    TASK_NOTIFICATION = "task_notification"
    REACTIVE_COMPACT = "reactive_compact"
    MAX_OUTPUT_RECOVERY = "max_output_recovery"
    PAUSE = "pause"
    """The model has paused in its answer, and goes on with it."""
    STOP_HOOK = "stop_hook"
    TOOL_REFUSED = "tool_refused"
    """The model's server refused the request for a tool, which is left out now."""


CONTINUES_ANSWER = frozenset({TransitionReason.MAX_OUTPUT_RECOVERY, TransitionReason.PAUSE})
"""The reasons for which the next answer is the rest of the last one."""


class TerminalReason(StrEnum):
    """The reason why a run ended; `state_after` is the state it leaves the agent in."""

    COMPLETED = "completed"
    MAX_TURNS = "max_turns"
    MAX_TOOL_CALLS = "max_tool_calls"
    MAX_SECONDS = "max_seconds"
    REPEATED_CALLS = "repeated_calls"
    """The same tool call had the same result too often."""
    BUDGET = "budget_exhausted"
    ABORTED = "aborted"
    PERMISSION = "permission_blocked"
    ERROR = "error"
    BACKGROUNDED = "backgrounded"
    HANDED_OVER = "handed_over"
    TOOL_TERMINATED = "tool_terminated"
    SET_ASIDE = "set_aside"
    """The program crashed in the same step again and again. Set by the code that drives the loop, never by the loop."""

    @property
    def state_after(self) -> LoopState:
        return _STATE_AFTER.get(self, LoopState.COMPLETED)

    @property
    def is_limit(self) -> bool:
        """Return True if the run stopped at a limit, so that a user may tell it to continue."""
        return self.state_after is LoopState.MAX_ITERATIONS


_STATE_AFTER = {
    TerminalReason.MAX_TURNS: LoopState.MAX_ITERATIONS,
    TerminalReason.MAX_TOOL_CALLS: LoopState.MAX_ITERATIONS,
    TerminalReason.MAX_SECONDS: LoopState.MAX_ITERATIONS,
    TerminalReason.REPEATED_CALLS: LoopState.MAX_ITERATIONS,
    TerminalReason.BUDGET: LoopState.MAX_ITERATIONS,
    TerminalReason.SET_ASIDE: LoopState.MAX_ITERATIONS,
    TerminalReason.ABORTED: LoopState.ABORTED,
    TerminalReason.PERMISSION: LoopState.ERROR,
    TerminalReason.ERROR: LoopState.ERROR,
    TerminalReason.BACKGROUNDED: LoopState.BACKGROUNDED,
    TerminalReason.HANDED_OVER: LoopState.BACKGROUNDED,
}


class CallFailure(StrEnum):
    """The kind of a tool call's failure; stored as `failure` in the details of its result."""

    INPUT = "tool_input_error"
    """No such tool, arguments that do not fit, or a call that was cut off."""
    PERMISSION = "permission_denied"
    HOOK = "hook_blocked"
    TOOL = "tool_runtime_error"
    TIMEOUT = "tool_timeout"
    KILLED = "task_killed"
    """The run was stopped."""
    SKIPPED = "skipped"
    """The user wrote something else before the call started."""
    LIMIT = "limit_reached"
    UNKNOWN = "unknown_outcome"
    """The program stopped while the call ran."""
