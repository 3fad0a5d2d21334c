"""Retry policies of tool calls and model calls."""

from agent_core.messages import Frozen


class ToolRetryPolicy(Frozen):
    """Attempts of a failing tool call, and the wait between them."""

    max_attempts: int = 3
    delay_s: float = 1.0


class LlmRetryPolicy(Frozen):
    """Retries after the first attempt, with exponential backoff."""

    max_retries: int = 3
    base_delay_s: float = 2.0
    max_delay_s: float = 60.0

    def delay(self, attempt: int) -> float:
        """Return the seconds to wait after this attempt, counted from 1."""
        return float(min(self.base_delay_s * 2 ** (attempt - 1), self.max_delay_s))
