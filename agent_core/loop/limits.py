"""Limits of a run."""

from agent_core.messages import AgentMessage, Frozen


class LoopLimits(Frozen):
    """Limits of one run. A final answer in the last allowed turn counts as completed."""

    max_turns: int = 60
    max_tool_calls: int = 120
    max_seconds: float = 1800.0
    """Running time, checked before each model call; the sum over all process starts, without waiting for approvals."""
    max_calls_per_answer: int = 10
    max_parallel: int = 4
    result_chars: int = 20_000
    """A longer tool result is cut to its head and tail."""
    turn_result_chars: int = 60_000
    """Characters of all results of one answer together."""
    max_output_recoveries: int = 1
    """Continuations of an answer that hit its length limit."""
    finalize_on_limit: bool = False
    """Make one last model call without tools after a limit, so that the user gets the results so far."""

    def within(self, window: int) -> "LoopLimits":
        """Return the limits for a context window of this many tokens: a result fills about an eighth of it at most."""
        result = min(self.result_chars, window // 2)
        return self.model_copy(
            update={"result_chars": result, "turn_result_chars": min(self.turn_result_chars, 3 * result)}
        )


class SoFar(Frozen):
    """The part of its limits that a run had used when the program stopped; the resumed run has the rest."""

    model_calls: int = 0
    tool_calls: int = 0
    seconds: float = 0.0
    """Running time, without waiting for approvals and without the time while the program was down."""
    said: tuple[AgentMessage, ...] = ()
    """The run's messages so far, from all process starts."""


class TaskBudget(Frozen):
    """Limits on tokens, cost and time of one run, checked before every model call."""

    max_tokens: int | None = None
    max_cost_usd: float | None = None
    max_seconds: float | None = None


NO_BUDGET, NOTHING_YET = TaskBudget(), SoFar()
