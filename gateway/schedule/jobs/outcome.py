"""The outcome of a firing, before users are told."""

from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from agent_core.events import AgentEnd
from agent_core.messages import AgentMessage, AssistantMessage
from agent_core.models.llm import FailureKind
from agent_core.origin import Origin
from agent_core.reasons import TerminalReason
from agent_core.tasks import Report, TaskStatus
from agent_core.untrusted import origin_of
from gateway.schedule.jobs.run_tools import nothing_said
from gateway.store.job import FiringState
from gateway.store.rows import RunEnd

TOOK_TOO_LONG = "time"
KILLED = "lives"
SILENT = "silent"
MISTAKE = "mistake"
TOO_OFTEN = "runs"
"""The reports of its person have run too often in a day."""
SKILL = "skill"
"""The job's skill is missing or cannot be used."""
REFUSED = "report"
"""The plugin that makes it says why it cannot be made now."""
NO_KIND = "kind"
"""No plugin makes it any more."""
SPENT = FailureKind.SPENT.value
"""A budget has no room for the run."""
NOT_ALLOWED = "permission"
TOO_DEAR = "budget"
STOPPED = "stopped"
"""A user stopped it."""
"""Causes of our own; a model failure has the value of its FailureKind."""

_STATUSES = {TaskStatus.COMPLETED: "", TaskStatus.KILLED: KILLED, TaskStatus.CANCELLED: STOPPED}


class Outcome(Struct, frozen=True):
    """The outcome of a firing. `text` is for users; `run` is the end of the agent's run, if there was one."""

    state: FiringState
    origin: Origin
    text: str = ""
    error: str = ""
    cause: str = ""
    most: int = 0
    """The limit that was reached, if the cause is one."""
    tokens: int = 0
    cost_usd: float = 0.0
    run: RunEnd | None = None
    trouble: AgentEnd | None = None
    """The end of a run in which the model failed."""


def outcome_of(report: Report, end: AgentEnd | None, messages: Iterable[AgentMessage], model: str) -> Outcome:
    """Derive the outcome from a run's report; `messages` is the run's whole conversation."""
    messages = list(messages)
    answered = (each.model for each in reversed(messages) if isinstance(each, AssistantMessage) and each.model)
    nothing = nothing_said(messages)
    cause = "" if nothing else _cause(report, end)
    error = (report.error or cause) if cause else ""
    reason = end.reason if end else (TerminalReason.TOOL_TERMINATED if nothing else TerminalReason.ABORTED)
    state = FiringState.NOTHING if nothing else FiringState.FAILED if cause else FiringState.DONE
    return Outcome(
        state=state,
        origin=report.origin,
        text=report.text if state is FiringState.DONE else "",
        error=error,
        cause=cause,
        run=RunEnd(reason, next(answered, model), error or None),
        trouble=end if cause and end is not None and end.failure is not None else None,
    )


def failed_by(mistake: str, messages: Sequence[AgentMessage]) -> Outcome:
    """Return the outcome of a firing that failed because of a bug; `messages` is its run's conversation so far."""
    run = RunEnd(TerminalReason.ERROR, "", mistake) if messages else None
    return Outcome(FiringState.FAILED, origin_of(messages), error=mistake, cause=MISTAKE, run=run)


def failed_at_limits(outcome: Outcome) -> Outcome:
    """Turn a check-in that was cut off by a limit into a failure: its last text was not meant for users."""
    if outcome.state is not FiringState.DONE or outcome.run is None or not outcome.run.reason.is_limit:
        return outcome
    return replace(outcome, state=FiringState.FAILED, text="", error=outcome.run.reason.value, cause=TOO_DEAR)


def _cause(report: Report, end: AgentEnd | None) -> str:
    """Return the cause of a failure; empty if there was none."""
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
