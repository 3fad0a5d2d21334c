"""Drafts of jobs, and changes of a job's state and of its rule. Without I/O."""

from dataclasses import replace
from datetime import timedelta
from enum import StrEnum
from zoneinfo import ZoneInfo

from msgspec import Struct, structs

from agent_core.messages import user
from agent_core.origin import Origin
from channels.base import ChatKey
from gateway.permissions.addresses import given_in, stay_in
from gateway.schedule.times.changes import local, moment
from gateway.schedule.times.recurrence import WORKING_DAYS, Dates, Timetable
from gateway.schedule.times.slots import next_slot, period, timetable
from gateway.store.job import HOUR, Job, JobState, Pause, Reminder, Report
from gateway.store.rule import Cron, Once, Recurrence, Rule
from gateway.texts.say import Language, language_of

INVOLUNTARY = frozenset({Pause.UNDELIVERABLE, Pause.NOT_ALLOWED})
"""Pauses that end once the user is answered again."""
LONGEST_GRACE = 2 * HOUR
ONCE_GRACE = 24 * HOUR
"""For a one-off report, which is out of date after a day."""


class Draft(Struct, frozen=True):
    """A job as a user asks for it."""

    chat: ChatKey
    person: str
    language: Language
    zone: ZoneInfo
    rule: Rule
    work: Reminder | Report
    origin: Origin
    """The origin of its words."""
    given: tuple[str, ...] = ()
    """If that is not clean, the addresses in them that users of the bot wrote themselves."""
    instead_of: str = ""
    """The id of the job that it changes."""
    is_by_own_clock: bool = False
    """Its time of day names no zone."""
    posts_in: tuple[ChatKey, ...] | None = None
    """The chats in which it is to post; None for those of the job that it changes, or its own."""

    @classmethod
    def of(cls, job: Job, language: Language, zone: ZoneInfo, rule: Rule, *, words: str, origin: Origin) -> "Draft":
        """Return a change of a job. Its skill and the addresses that stay in its text are kept.

        Args:
            language: That of texts if the job's is not known.
            words: The new text; empty for the old one.
            origin: That of the change.
        """
        words = words or job.words
        return cls(
            chat=job.chat,
            person=job.person,
            language=language_of(job.language, language),
            zone=zone,
            rule=rule,
            work=_work(job, words),
            origin=job.origin | origin,
            given=stay_in(job.given, words),
            instead_of=job.id,
        )

    def job(self, now: float) -> Job:
        """Return the job without an id, as a draft that nobody has confirmed."""
        words = self.work.text if isinstance(self.work, Reminder) else self.work.instructions
        return Job(
            id="",
            chat=self.chat,
            person=self.person,
            language=self.language,
            zone=self.zone.key,
            rule=self.rule,
            work=self.work,
            created=now,
            grace=grace(self.rule, self.zone, now),
            origin=self.origin,
            is_by_own_clock=self.is_by_own_clock,
            given=self.given if self.origin.is_data else given_in(words, [user(words, origin=self.origin)]),
        )


def _work(job: Job, words: str) -> Reminder | Report:
    return job.work.model_copy(update={"instructions": words}) if isinstance(job.work, Report) else Reminder(text=words)


def grace(rule: Rule, zone: ZoneInfo, now: float) -> float:
    """Return the seconds by which a firing may be late: half its period, at most two hours."""
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
        origin=draft.origin,
        given=draft.given,
        scripts=draft.scripts,
        is_by_own_clock=draft.is_by_own_clock,
    )


def paused(job: Job) -> Job:
    """Pause a job unless it is over."""
    if job.state is not JobState.ACTIVE:
        return job
    return replace(job, state=JobState.PAUSED, pause=Pause.PERSON, next_at=None)


def reachable(job: Job, now: float) -> Job:
    """Resume an unreachable job. A one-off job keeps its due time and counts as missed; others get their next one."""
    if job.state is not JobState.PAUSED or job.pause not in INVOLUNTARY:
        return job
    if isinstance(job.rule, Once) and job.next_at is not None:
        return replace(job, state=JobState.ACTIVE, pause=None)
    return set_(job, now)


def removed(job: Job) -> Job:
    """Remove a job. It keeps its due time and its pause, so that the removal can be undone."""
    return replace(job, state=JobState.REMOVED)


def is_restorable(job: Job) -> bool:
    """Return True for a removed job. A removed draft has no due time, as it was never set."""
    return job.state is JobState.REMOVED and (job.next_at is not None or job.pause is not None)


def restored(job: Job, now: float) -> Job:
    """Undo the removal of a job. What came due meanwhile is not made up for."""
    if not is_restorable(job):
        return job
    return replace(job, state=JobState.PAUSED, next_at=None) if job.pause else set_(job, now)


def moved(job: Job, zone: ZoneInfo, now: float) -> Job:
    """Move a job to another time zone. A time of day stays, by the clock there; intervals and moments do not change."""
    if isinstance(job.rule, Once) and job.is_by_own_clock:
        return by_other_clock(job, zone, now)
    job = replace(job, zone=zone.key)
    return set_(job, now) if job.state is JobState.ACTIVE and isinstance(job.rule, Cron | Recurrence) else job


def by_other_clock(job: Job, zone: ZoneInfo, now: float) -> Job:
    """Take a job's times of day by the clock of another zone; a single time that is past there, the next day."""
    if job.state not in (JobState.DRAFT, JobState.ACTIVE):
        return job
    rule = job.rule
    if isinstance(rule, Once):
        shown = local(ZoneInfo(job.zone), rule.at)
        while moment(zone, shown) <= now:
            shown += timedelta(days=1)
        rule = Once(at=float(moment(zone, shown)))
    return retimed(replace(job, zone=zone.key), rule, now)


def retimed(job: Job, rule: Rule, now: float) -> Job:
    job = replace(job, rule=rule, grace=grace(rule, ZoneInfo(job.zone), now))
    return set_(job, now) if job.state is JobState.ACTIVE else job


_HOUR = 3600
_LAST_HOUR = 23
_EVERY_DAY, _WEEKDAYS = Dates(), Dates("WEEKLY", weekdays=WORKING_DAYS)


class Reshaping(StrEnum):
    EARLIER = "earlier"
    """One hour earlier."""
    LATER = "later"
    DAILY = "daily"
    WEEKDAYS = "weekdays"


def reshaped(rule: Rule, way: Reshaping) -> Rule | None:
    """Return the changed rule, or None if the change does not apply to it."""
    match rule, way:
        case Once(), Reshaping.EARLIER | Reshaping.LATER:
            return Once(at=rule.at + _hours(way) * _HOUR)
        case (Cron() | Recurrence(), Reshaping.EARLIER | Reshaping.LATER):
            return _shifted(timetable(rule), _hours(way))
        case (Cron() | Recurrence(), Reshaping.DAILY | Reshaping.WEEKDAYS):
            return _on_days(rule, _EVERY_DAY if way is Reshaping.DAILY else _WEEKDAYS)
        case _:
            return None


def reshapings(rule: Rule) -> list[Reshaping]:
    """Return the changes that would alter the rule."""
    return [way for way in Reshaping if reshaped(rule, way) not in (None, rule)]


def _hours(way: Reshaping) -> int:
    return -1 if way is Reshaping.EARLIER else 1


def _shifted(found: Timetable, hours: int) -> Recurrence | None:
    """Shift a rule with one hour of the day by hours within its day."""
    shifted = {at.hour + hours for _, times in found.rows for at in times}
    if len(shifted) > 1 or not shifted <= {*range(_LAST_HOUR + 1)}:
        return None
    (hour,) = shifted
    rows = ((dates, tuple(at.replace(hour=hour) for at in times)) for dates, times in found.rows)
    return Recurrence(text=structs.replace(found, rows=tuple(rows)).text)


def _on_days(rule: Cron | Recurrence, days: Dates) -> Rule | None:
    """Change the days of a rule for every day or every weekday."""
    ((dates, _), *more) = timetable(rule).rows
    if more or dates not in (_EVERY_DAY, _WEEKDAYS):
        return None
    return rule if dates == days else Recurrence(text=timetable(rule).with_dates(days).text)
