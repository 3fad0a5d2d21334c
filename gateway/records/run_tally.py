"""Counts what runs do: their ends, model calls, tokens, cost and tool calls, since the program started."""

from collections import Counter, defaultdict

from agent_core.events import AgentEnd, CompactionEnd, RetryScheduled, ToolExecutionEnd
from agent_core.messages import AssistantMessage, StopReason, Usage
from agent_core.reasons import CallFailure
from agent_core.tools.registry import ToolRegistry, UnknownTool
from gateway.records.metric import Histogram

SECONDS = (1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 180.0, 600.0, 1800.0)
UNKNOWN = "unknown"
"""Label of tools that a model has made up."""
_REFUSED = frozenset({CallFailure.PERMISSION, CallFailure.HOOK, CallFailure.SKIPPED, CallFailure.LIMIT})
_UNFINISHED = frozenset({StopReason.ERROR, StopReason.ABORTED})


class RunTally:
    """Counters of all runs. Each is keyed by its labels; none of them comes from a user."""

    def __init__(self) -> None:
        self.answered: Counter[str] = Counter()
        """Answers that have reached their chat, by platform."""
        self.runs: Counter[str] = Counter()
        """Runs that ended, by outcome."""
        self.seconds = Histogram(SECONDS)
        self.model_calls: Counter[tuple[str, str]] = Counter()
        """By model and outcome."""
        self.tokens: Counter[tuple[str, str]] = Counter()
        """By model and kind."""
        self.cost: defaultdict[str, float] = defaultdict(float)
        """US dollars by model."""
        self.tool_calls: Counter[tuple[str, str]] = Counter()
        """By tool and outcome."""

    def count(self, event: CompactionEnd | RetryScheduled | AgentEnd, model: str, began: float) -> None:
        """Count an event of a run that asks this model, and began at this time."""
        match event:
            case CompactionEnd():
                self._use(model, event.usage)
            case RetryScheduled(scope="llm"):
                self.model_calls[event.model or model, "retried"] += 1
            case RetryScheduled():
                pass
            case AgentEnd():
                if event.failure is not None:
                    self.model_calls[model, "failed"] += 1
                self.runs[event.reason.value] += 1
                self.seconds.observe(event.ts - began)

    def count_answer(self, message: AssistantMessage, asked: str) -> None:
        """Count an answer; `asked` is the model of the run."""
        model = message.model or asked
        if message.stop_reason not in _UNFINISHED:
            self.model_calls[model, "answered"] += 1
        self._use(model, message.usage)

    def count_call(self, event: ToolExecutionEnd, tools: ToolRegistry) -> None:
        """Count a tool call of a run with these tools."""
        outcome = "ok"
        if event.is_error:
            details = event.result.details
            failure = details.get("failure") if isinstance(details, dict) else None
            outcome = "refused" if event.denied or failure in _REFUSED else "failed"
        try:
            tool = tools.get(event.tool_name).name
        except UnknownTool:
            tool = UNKNOWN
        self.tool_calls[tool, outcome] += 1

    def _use(self, model: str, usage: Usage) -> None:
        tokens = self.tokens
        tokens[model, "input"] += usage.input
        tokens[model, "output"] += usage.output
        tokens[model, "cache_read"] += usage.cache_read
        tokens[model, "cache_write"] += usage.cache_write
        self.cost[model] += usage.cost_usd
