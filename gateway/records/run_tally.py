"""Counts what runs do: their ends, model calls, tokens, cost and tool calls, since the program started."""

from collections import Counter, defaultdict

from agent_core.events import (
    AgentEnd,
    AgentEvent,
    AgentStart,
    CompactionEnd,
    MessageEnd,
    RetryScheduled,
    ToolExecutionEnd,
)
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

    def follow(self, model: str, tools: ToolRegistry) -> "RunCounting":
        """Return what counts the events of one run, which begins with this model and has these tools."""
        return RunCounting(self, model, tools)


class RunCounting:
    """Counts the events of one run."""

    def __init__(self, tally: RunTally, model: str, tools: ToolRegistry) -> None:
        self._tally = tally
        self._model = model
        self._tools = tools
        self._began = 0.0

    def keep(self, event: AgentEvent) -> None:
        match event:
            case AgentStart():
                self._began = event.ts
            case MessageEnd(message=AssistantMessage() as message):
                self._answer(message)
            case CompactionEnd():
                self._usage(self._model, event.usage)
            case RetryScheduled(scope="llm"):
                self._tally.model_calls[event.model or self._model, "retried"] += 1
            case ToolExecutionEnd():
                self._tool(event)
            case AgentEnd():
                self._end(event)
            case _:
                pass

    def _answer(self, message: AssistantMessage) -> None:
        model = message.model or self._model
        if message.stop_reason not in _UNFINISHED:
            self._tally.model_calls[model, "answered"] += 1
        self._usage(model, message.usage)

    def _usage(self, model: str, usage: Usage) -> None:
        tokens = self._tally.tokens
        tokens[model, "input"] += usage.input
        tokens[model, "output"] += usage.output
        tokens[model, "cache_read"] += usage.cache_read
        tokens[model, "cache_write"] += usage.cache_write
        self._tally.cost[model] += usage.cost_usd

    def _tool(self, event: ToolExecutionEnd) -> None:
        outcome = "ok"
        if event.is_error:
            details = event.result.details
            failure = details.get("failure") if isinstance(details, dict) else None
            outcome = "refused" if event.denied or failure in _REFUSED else "failed"
        self._tally.tool_calls[self._known(event.tool_name), outcome] += 1

    def _known(self, tool: str) -> str:
        try:
            return self._tools.get(tool).name
        except UnknownTool:
            return UNKNOWN

    def _end(self, event: AgentEnd) -> None:
        if event.failure is not None:
            self._tally.model_calls[self._model, "failed"] += 1
        self._tally.runs[event.reason.value] += 1
        self._tally.seconds.observe(event.ts - self._began)
