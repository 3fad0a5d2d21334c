"""What becomes of a job by one step that somebody takes with it. Pure."""

from dataclasses import replace
from zoneinfo import ZoneInfo

from gateway.store.job import HOUR, Job, JobState, Pause
from gateway.timing.rule import Cron, Once, Rule
from gateway.timing.slots import next_slot, period

NOBODYS_WISH = frozenset({Pause.UNDELIVERABLE, Pause.NOT_ALLOWED})
"""Pauses that end when the person is answered again."""
LONGEST_GRACE = 2 * HOUR
ONCE_GRACE = 24 * HOUR
"""For a report that comes once: the news of yesterday is old."""


def grace(rule: Rule, zone: ZoneInfo, now: float) -> float:
    """Half of the time to the next one, two hours at most; seconds."""
    if isinstance(rule, Once):
        return ONCE_GRACE
    between = period(rule, zone, now)
    return LONGEST_GRACE if between is None else min(LONGEST_GRACE, between / 2)


def set_(job: Job, at: float) -> Job:
    following = next_slot(job.rule, ZoneInfo(job.zone), at)
    if following is None:
        return replace(job, state=JobState.DONE, pause=None, next_at=None)
    return replace(job, state=JobState.ACTIVE, pause=None, failures=0, next_at=following.at)


def as_drafted(job: Job, draft: Job) -> Job:
    return replace(
        job,
        language=draft.language,
        zone=draft.zone,
        rule=draft.rule,
        work=draft.work,
        grace=draft.grace,
        tainted=draft.tainted,
        given=draft.given,
        scripts=draft.scripts,
    )


def taken_over(draft: Job) -> Job:
    """It had its yes, and lives on in the job that it changes."""
    return replace(draft, state=JobState.DONE, next_at=None)


def paused(job: Job) -> Job:
    """Unless it has come to its end meanwhile."""
    if job.state is not JobState.ACTIVE:
        return job
    return replace(job, state=JobState.PAUSED, pause=Pause.PERSON, next_at=None)


def reachable(job: Job, now: float) -> Job:
    """What comes once is made up for, by the rule for what was missed; the rest is due when it is due next."""
    if job.state is not JobState.PAUSED or job.pause not in NOBODYS_WISH:
        return job
    if isinstance(job.rule, Once) and job.next_at is not None:
        return replace(job, state=JobState.ACTIVE, pause=None)
    return set_(job, now)


def removed(job: Job) -> Job:
    return replace(job, state=JobState.REMOVED, next_at=None)


def moved(job: Job, zone: ZoneInfo, now: float) -> Job:
    """What goes by the clock comes by the new one; lengths of time and moments stay what they are."""
    job = replace(job, zone=zone.key)
    return set_(job, now) if job.state is JobState.ACTIVE and isinstance(job.rule, Cron) else job


def retimed(job: Job, rule: Rule, now: float) -> Job:
    job = replace(job, rule=rule, grace=grace(rule, ZoneInfo(job.zone), now))
    return set_(job, now) if job.state is JobState.ACTIVE else job


def still_given(job: Job, words: str) -> tuple[str, ...]:
    """Of the addresses that people gave for it, those that stand in its new words."""
    return tuple(address for address in job.given if address in words)
