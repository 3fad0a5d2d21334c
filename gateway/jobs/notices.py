"""What people are told of how a job came out, beside what it says itself. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import assert_never
from zoneinfo import ZoneInfo

from agent_core.llm import FailureKind
from gateway.jobs import outcome as causes
from gateway.jobs.missed import ON_TIME
from gateway.jobs.outcome import SKILL, STOPPED, Outcome
from gateway.progress import literal
from gateway.store.job import CheckIn, DeliveryState, Firing, FiringState, Job, Reminder, Report
from gateway.tasks.report import what_in_short
from gateway.texts import Language, say
from gateway.timing.rule import Once
from gateway.timing.words import slot_words

FAILURES = 2
"""In a row; before that, the next time may make up for it."""
TELL_EVERY = 3600.0
"""Seconds between two notices in one chat with the same cause."""
MOST_COUNTED = 100
"""Firings that are looked through for how many have failed in a row."""

_CAUSES: Mapping[str, str] = {
    causes.TOO_DEAR: "cause_budget",
    causes.TOOK_TOO_LONG: "cause_time",
    causes.KILLED: "cause_lives",
    causes.SILENT: "cause_silent",
    causes.MISTAKE: "cause_mistake",
    causes.SKILL: "cause_skill",
    causes.NOT_ALLOWED: "cause_permission",
    causes.STOPPED: "cause_stopped",
    FailureKind.AUTH: "cause_auth",
    FailureKind.QUOTA: "cause_quota",
    FailureKind.TRANSIENT: "cause_transient",
    FailureKind.OVERFLOW: "cause_overflow",
    FailureKind.INVALID: "cause_invalid",
    FailureKind.FATAL: "cause_fatal",
}
_FEW = 10
"""Of minutes, hours or days, half a one more is worth telling."""
_MINUTE, _HOUR, _DAY = 60.0, 3600.0, 86_400.0
_UNITS = (("late_days", _DAY), ("late_hours", _HOUR), ("late_minutes", _MINUTE))
_TRIED = frozenset({FiringState.DONE, FiringState.NOTHING, FiringState.FAILED})


def failures_in_a_row(history: Iterable[Firing]) -> int:
    """`history`: newest first. What was skipped or stopped says nothing, and neither do rehearsals."""
    tried = (each for each in history if _says_something(each) and not each.is_rehearsal)
    return sum(1 for _ in takewhile(lambda each: each.state is FiringState.FAILED, tried))


def counted(job: Job, firing: Firing, failures: int) -> Job:
    """The job once this has become of it; `failures` as of then. The same however often it is asked."""
    if firing.state is FiringState.FAILED:
        told = firing.delivery is not DeliveryState.NONE
        job = replace(job, told_cause=firing.cause, told_at=firing.ended) if told else job
        return replace(job, failures=failures)
    if firing.state in _TRIED:
        return replace(job, failures=0, told_cause="", told_at=None)
    return job


def _says_something(firing: Firing) -> bool:
    """Whether the work was done as far as it goes by itself."""
    return firing.state in _TRIED and firing.cause != STOPPED


def words(
    job: Job, firing: Firing, outcome: Outcome, language: Language, *, failures: int, others: Sequence[Job]
) -> str:
    """What its chat is told, if anything. `failures` in a row with this one; `others` are the jobs of the chat."""
    text = _words(job, firing, outcome, language, failures=failures, others=others)
    if not text or not firing.is_rehearsal:
        return text
    return "\n\n".join([say("firing_rehearsal", language) + " " + _cost(job, outcome, language), text])


def _words(
    job: Job, firing: Firing, outcome: Outcome, language: Language, *, failures: int, others: Sequence[Job]
) -> str:
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
            return _failure(job, firing, outcome, language, failures)
        case _:
            return ""


def late(job: Job, firing: Firing, language: Language) -> str:
    """A line on how late it comes; empty where it is on time, and of a look, which nobody waits for."""
    began = firing.due if firing.began is None else firing.began
    seconds = began - firing.due
    if firing.is_by_hand or isinstance(job.work, CheckIn) or seconds <= ON_TIME:
        return ""
    key, unit = next((key, unit) for key, unit in _UNITS if seconds >= unit)
    when = slot_words(firing.due, ZoneInfo(job.zone), language, began)
    amount = seconds / unit
    count = f"{amount:.1f}".removesuffix(".0") if amount < _FEW else str(round(amount))
    return f"_{say(key, language, count=count, when=when)}_"


def what(job: Job, language: Language) -> str:
    """The job in a few words of Markdown."""
    match job.work:
        case Reminder(text=text) | Report(instructions=text):
            return f"{literal(what_in_short(text))} (`{job.id}`)"
        case CheckIn():
            return say("firing_look", language)
        case _:
            assert_never(job.work)


def _is_told(job: Job, firing: Firing, cause: str, failures: int, others: Sequence[Job]) -> bool:
    """A check-in's failures are the heartbeat's matter. Who waits for one time, or just asked for it, is told at once;
    so is what no next time can make up for. Who has stopped it knows."""
    if cause == STOPPED:
        return False
    if firing.is_by_hand:
        return True
    if isinstance(job.work, CheckIn):
        return False
    ended = firing.ended or firing.due
    if any(each.told_cause == cause and each.told_at and ended - each.told_at < TELL_EVERY for each in others):
        return False
    return failures >= FAILURES or isinstance(job.rule, Once) or (cause == SKILL and not job.told_cause)


def _failure(job: Job, firing: Firing, outcome: Outcome, language: Language, failures: int) -> str:
    skill = job.work.skill if isinstance(job.work, Report) else ""
    why = say(_CAUSES[outcome.cause], language, skill=f"`{skill}`")
    if firing.is_by_hand or failures < FAILURES:
        return say("firing_failed", language, what=what(job, language), why=why)
    return say("firing_failed_again", language, count=failures, what=what(job, language), why=why)


def _cost(job: Job, outcome: Outcome, language: Language) -> str:
    if isinstance(job.work, Reminder):
        return say("firing_cost_nothing", language)
    tokens = f"{outcome.tokens:,}"
    if not outcome.cost_usd:  # nobody knows the prices of a model of one's own
        return say("firing_cost_tokens", language, tokens=tokens)
    return say("firing_cost", language, tokens=tokens, cost=f"{outcome.cost_usd:.4f}")
