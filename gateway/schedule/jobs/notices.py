"""Composes what users are told about the outcome of a job. Without I/O."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from zoneinfo import ZoneInfo

from channels.text import literal
from gateway.runs.tasks.report import what_in_short
from gateway.schedule.jobs import outcome as causes
from gateway.schedule.jobs.missed import ON_TIME
from gateway.schedule.jobs.outcome import SKILL, SPENT, STOPPED, Outcome
from gateway.schedule.times.words import slot_words
from gateway.store.job import CheckIn, DeliveryState, Firing, FiringState, Job
from gateway.store.rule import Once
from gateway.texts.amounts import USD, Unit, amount_words
from gateway.texts.say import Language, say

FAILURES = 2
"""Consecutive failures before a notice; one failure may be made up for by the next firing."""
TELL_EVERY = 3600.0
"""Seconds between two notices in a chat with the same cause."""
MOST_COUNTED = 100
"""Firings that are searched for consecutive failures."""

_CAUSES: Mapping[str, str] = {
    causes.TOO_DEAR: "cause_budget",
    causes.TOO_OFTEN: "cause_runs",
    causes.TOOK_TOO_LONG: "cause_time",
    causes.KILLED: "cause_lives",
    causes.SILENT: "cause_silent",
    causes.MISTAKE: "cause_mistake",
    causes.SKILL: "cause_skill",
    causes.REFUSED: "cause_report",
    causes.NO_KIND: "cause_no_kind",
    causes.NOT_ALLOWED: "cause_permission",
    causes.STOPPED: "cause_stopped",
}
_FEW = 10
"""Below this number of hours or days, one decimal is shown."""
_MINUTE, _HOUR, _DAY = 60.0, 3600.0, 86_400.0
_UNITS = (("late_days", _DAY), ("late_hours", _HOUR), ("late_minutes", _MINUTE))
_TOLD_FIRST = frozenset({SKILL, SPENT, causes.TOO_OFTEN})
"""Causes that are told at once, as the next firing will not make up for them."""
_TRIED = frozenset({FiringState.DONE, FiringState.NOTHING, FiringState.FAILED})


def failures_in_a_row(history: Iterable[Firing]) -> int:
    """Count the failures at the head of `history` (newest first), without rehearsals and skipped or stopped firings."""
    tried = (each for each in history if _says_something(each) and not each.is_rehearsal)
    return sum(1 for _ in takewhile(lambda each: each.state is FiringState.FAILED, tried))


def counted(job: Job, firing: Firing, failures: int) -> Job:
    """Return the job with its failure count and last notice updated; idempotent."""
    if firing.state is FiringState.FAILED:
        told = firing.delivery is not DeliveryState.NONE
        job = replace(job, told_cause=firing.cause, told_at=firing.ended) if told else job
        return replace(job, failures=failures)
    if firing.state in _TRIED:
        return replace(job, failures=0, told_cause="", told_at=None)
    return job


def _says_something(firing: Firing) -> bool:
    """Return True if the firing ran to its own end."""
    return firing.state in _TRIED and firing.cause != STOPPED


def outcome_text(
    job: Job,
    firing: Firing,
    outcome: Outcome,
    language: Language,
    *,
    failures: int,
    others: Sequence[Job],
    trouble: str,
) -> str:
    """Return the text for the chat, or an empty string.

    Args:
        failures: Consecutive failures including this firing.
        others: The jobs of the chat.
        trouble: Explanation of the model failure; empty if there was none.
    """
    again = say("firing_works_again", language) if job.told_cause and not firing.is_rehearsal else ""
    match outcome.state:
        case FiringState.DONE:
            return "\n\n".join(filter(None, (again, outcome.text, late(job, firing, language))))
        case FiringState.NOTHING if not isinstance(job.work, CheckIn):
            nothing = say("firing_nothing", language, what=what(job, language)) if firing.is_by_hand else ""
            return "\n\n".join(filter(None, (again, nothing)))
        case FiringState.OVERLAPPED if firing.is_by_hand:
            return say("firing_overlapped", language, what=what(job, language))
        case FiringState.FAILED if _is_told(job, firing, outcome.cause, failures, others):
            return _failure(job, firing, trouble or _cause(job, outcome, language), language, failures)
        case _:
            return ""


def late(job: Job, firing: Firing, language: Language) -> str:
    """Return a line that says how late it is; empty if it is on time or a check-in."""
    began = firing.due if firing.began is None else firing.began
    seconds = began - firing.due
    if firing.is_by_hand or isinstance(job.work, CheckIn) or seconds <= ON_TIME:
        return ""
    key, unit = next((key, unit) for key, unit in _UNITS if seconds >= unit)
    when = slot_words(firing.due, ZoneInfo(job.zone), language, began)
    amount = seconds / unit
    has_decimal = unit > _MINUTE and amount < _FEW
    count = f"{amount:.1f}".removesuffix(".0") if has_decimal else str(max(1, round(amount)))
    return f"_{say(key, language, count=count, when=when)}_"


def what(job: Job, language: Language) -> str:
    """Return a short description of the job in Markdown."""
    if isinstance(job.work, CheckIn):
        return say("firing_look", language)
    return f"{literal(what_in_short(job.words))} (`{job.id}`)"


def _is_told(job: Job, firing: Firing, cause: str, failures: int, others: Sequence[Job]) -> bool:
    """Return True if the chat is told of a failure.

    Failures of check-ins are handled by the heartbeat. One-off jobs, jobs started by hand and failures that the next
    firing cannot make up for are reported at once. A stopped job is not reported: the user stopped it.
    """
    if cause == STOPPED:
        return False
    if firing.is_by_hand:
        return True
    if isinstance(job.work, CheckIn):
        return False
    ended = firing.ended or firing.due
    if any(each.told_cause == cause and each.told_at and ended - each.told_at < TELL_EVERY for each in others):
        return False
    at_once = isinstance(job.rule, Once) or cause == causes.KILLED or (cause in _TOLD_FIRST and not job.told_cause)
    return at_once or (failures >= FAILURES and cause != causes.TOO_OFTEN)


def _cause(job: Job, outcome: Outcome, language: Language) -> str:
    error = literal(outcome.error)
    return say(_CAUSES[outcome.cause], language, skill=f"`{job.skill}`", most=outcome.most, error=error)


def _failure(job: Job, firing: Firing, why: str, language: Language, failures: int) -> str:
    if firing.is_by_hand or failures < FAILURES:
        return say("firing_failed", language, what=what(job, language), why=why)
    return say("firing_failed_again", language, count=failures, what=what(job, language), why=why)


def rehearsal_title(outcome: Outcome, language: Language) -> str:
    """Return what precedes the message of a rehearsal, with its cost."""
    spent = ", ".join(spent_words(outcome.tokens, outcome.cost_usd, language))
    cost = say("firing_cost", language, spent=spent) if spent else say("firing_cost_nothing", language)
    return f"{say('firing_rehearsal', language)} {cost}"


def spent_words(tokens: int, usd: float, language: Language) -> list[str]:
    """Return what a run has used: tokens, and money; the price of a self-hosted model is unknown."""
    used = (tokens, Unit.TOKENS), (round(usd * USD), Unit.USD)
    return [amount_words(amount, unit, language) for amount, unit in used if amount]
