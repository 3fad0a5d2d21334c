"""How far a run may go, and how often a thing is tried again."""

from agent_core.messages import Frozen


class LoopLimits(Frozen):
    """Caps of one run (C-06, D-06). A final answer in the last allowed turn is a completed run."""

    max_turns: int = 25
    max_tool_calls: int = 25
    max_calls_per_answer: int = 10
    max_parallel: int = 4
    result_chars: int = 20_000
    """A longer tool result keeps its head and its tail (C-24)."""
    turn_result_chars: int = 60_000
    """All results of one answer together."""
    max_output_recoveries: int = 1
    """How often an answer that its length limit cut off is gone on with (S3-22)."""
    finalize_on_limit: bool = False
    """One closing model call without tools after a limit, so that the person gets what there is (C-07)."""

    def within(self, window: int) -> "LoopLimits":
        """For a model with so many tokens of context: a result fills about an eighth of it at most."""
        result = min(self.result_chars, window // 2)
        return self.model_copy(
            update={"result_chars": result, "turn_result_chars": min(self.turn_result_chars, 3 * result)}
        )


class TaskBudget(Frozen):
    """What one run may cost; checked before every model call (S3-09)."""

    max_tokens: int | None = None
    max_cost_usd: float | None = None
    max_seconds: float | None = None


class ToolRetryPolicy(Frozen):
    """Three attempts, so two waits (C-04)."""

    max_attempts: int = 3
    delay_s: float = 1.0


class LlmRetryPolicy(Frozen):
    """Retries after the first attempt, with exponential waits (C-05)."""

    max_retries: int = 3
    base_delay_s: float = 2.0
    max_delay_s: float = 60.0

    def delay(self, attempt: int) -> float:
        """Seconds to wait after the attempt with that number, from 1."""
        return float(min(self.base_delay_s * 2 ** (attempt - 1), self.max_delay_s))
