"""How one time that a job was due came out, before anybody is told."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from agent_core.events import AgentEnd
from agent_core.messages import AgentMessage, AssistantMessage
from agent_core.reasons import TerminalReason
from agent_core.tasks import Report, TaskStatus
from gateway.jobs.run_tools import nothing_said
from gateway.store.job import FiringState
from gateway.store.rows import RunEnd

TOOK_TOO_LONG = "time"
KILLED = "lives"
SILENT = "silent"
MISTAKE = "mistake"
SKILL = "skill"
"""The skill that it is to follow is gone, or cannot be used any more."""
NOT_ALLOWED = "permission"
TOO_DEAR = "budget"
"""Causes of ours; a model's failure is known by its own kind."""

_LIMITS = frozenset({TerminalReason.MAX_TURNS, TerminalReason.MAX_TOOL_CALLS})


@dataclass(frozen=True)
class Outcome:
    """`text` is for people; `run` says how the agent's run ended, where there was one."""

    state: FiringState
    text: str = ""
    error: str = ""
    cause: str = ""
    untrusted: bool = False
    tokens: int = 0
    cost_usd: float = 0.0
    run: RunEnd | None = None


def outcome_of(report: Report, end: AgentEnd | None, messages: Iterable[AgentMessage], model: str) -> Outcome:
    """`messages`: the whole conversation of the run."""
    messages = list(messages)
    answered = (each.model for each in reversed(messages) if isinstance(each, AssistantMessage) and each.model)
    nothing = nothing_said(messages)
    cause = "" if nothing else _cause(report, end)
    error = (report.error or cause) if cause else ""
    reason = end.reason if end else (TerminalReason.TOOL_TERMINATED if nothing else TerminalReason.ABORTED)
    state = FiringState.NOTHING if nothing else FiringState.FAILED if cause else FiringState.DONE
    return Outcome(
        state=state,
        text=report.text if state is FiringState.DONE else "",
        error=error,
        cause=cause,
        untrusted=report.untrusted,
        tokens=report.usage.total,
        cost_usd=report.usage.cost_usd,
        run=RunEnd(reason, report.usage, next(answered, model), error or None),
    )


def failed_at_limits(outcome: Outcome) -> Outcome:
    """A look that a limit has cut off has nothing to say: what it said last was not meant for anybody."""
    if outcome.state is not FiringState.DONE or outcome.run is None or outcome.run.reason not in _LIMITS:
        return outcome
    return replace(outcome, state=FiringState.FAILED, text="", error=outcome.run.reason.value, cause=TOO_DEAR)


def _cause(report: Report, end: AgentEnd | None) -> str:
    """Why it did not come to what it was for; empty where it did."""
    if end is not None and end.reason is TerminalReason.BUDGET:
        return TOO_DEAR
    if report.status is TaskStatus.COMPLETED:
        return ""
    if report.status is TaskStatus.KILLED:
        return KILLED
    if end is None:
        return MISTAKE
    if end.failure is not None:
        return end.failure.value
    return {
        TerminalReason.ABORTED: TOOK_TOO_LONG,
        TerminalReason.PERMISSION: NOT_ALLOWED,
        TerminalReason.ERROR: MISTAKE,
    }.get(end.reason, SILENT)
