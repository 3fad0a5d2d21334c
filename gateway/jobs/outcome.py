"""How one time that a job was due came out, before anybody is told."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from agent_core.events import AgentEnd
from agent_core.messages import AgentMessage, AssistantMessage
from agent_core.reasons import TerminalReason
from agent_core.subagents import usage_of
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
STOPPED = "stopped"
"""Somebody did not want it any more."""
"""Causes of ours; a model's failure is known by its own kind."""

_STATUSES = {TaskStatus.COMPLETED: "", TaskStatus.KILLED: KILLED, TaskStatus.CANCELLED: STOPPED}
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


def failed_by(mistake: str, messages: Sequence[AgentMessage]) -> Outcome:
    """It went wrong before or after its run, whose conversation this is."""
    usage = usage_of(messages)
    run = RunEnd(TerminalReason.ERROR, usage, "", mistake) if messages else None
    return Outcome(
        FiringState.FAILED, error=mistake, cause=MISTAKE, tokens=usage.total, cost_usd=usage.cost_usd, run=run
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
    if report.status in _STATUSES:
        return _STATUSES[report.status]
    if end is None:
        return MISTAKE
    if end.failure is not None:
        return end.failure.value
    return {
        TerminalReason.ABORTED: TOOK_TOO_LONG,
        TerminalReason.PERMISSION: NOT_ALLOWED,
        TerminalReason.ERROR: MISTAKE,
    }.get(end.reason, SILENT)
