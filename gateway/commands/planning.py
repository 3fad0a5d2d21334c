"""What the commands about jobs share: the question before one is set, and the list of those that are."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from channels.base import Button, OutboundMessage
from gateway.commands.table import Invocation, reply
from gateway.jobs.jobs import Draft, JobRefused
from gateway.jobs.preview import in_short, kind_of, next_of, rule_of
from gateway.progress import literal
from gateway.replies import Answer, Rewritten
from gateway.store.job import Job, JobState, Pause, Reminder, Report
from gateway.texts import Language, say
from gateway.timing.check import BadRule
from gateway.timing.rule import Once, Rule

MOST_LISTED = 20
MOST_ROWS = 5
"""Of buttons: as many as every platform shows."""
_STEP = MOST_ROWS - 1
"""The last row leads on."""
_LONGEST_NUMBER = 4
"""Digits."""
_REMINDERS = "reminders"

_PAUSES = {
    Pause.PERSON: "pause_person",
    Pause.FAILURES: "pause_failures",
    Pause.UNDELIVERABLE: "pause_undeliverable",
    Pause.NOT_ALLOWED: "pause_not_allowed",
    Pause.SILENCE: "pause_silence",
}


@dataclass(frozen=True)
class Page:
    """Which part of what is planned a list shows. Its buttons name it, so that what they do comes back to it."""

    start: int = 0
    """So many are left out."""
    only_reminders: bool = False

    @classmethod
    def named(cls, words: str) -> "Page":
        number = words.removeprefix(_REMINDERS).strip()
        start = int(number) if number.isdecimal() and len(number) <= _LONGEST_NUMBER else 0
        return cls(start, words.startswith(_REMINDERS))

    def says(self, command: str) -> str:
        words = [command, *([_REMINDERS] if self.only_reminders else []), *([str(self.start)] if self.start else [])]
        return " ".join(words)

    def within(self, count: int) -> "Page":
        """The last one that there is, where this is none any more."""
        return self if self.start < count else replace(self, start=max(count - 1, 0) // _STEP * _STEP)


async def asked(given: Invocation, rule: Rule, work: Reminder | Report) -> Answer:
    """The question whether this is to be set; in the place of the message whose button wanted it. Raises BadRule and
    JobRefused."""
    jobs, chat = given.desk.jobs, given.session.key
    draft = Draft(chat, given.sender.id, given.language, await jobs.zone_of(chat), rule, work)
    job = await jobs.propose(draft, given.sender)
    return Rewritten(await jobs.question(job, given.slash))


def refused(given: Invocation, error: BadRule | JobRefused) -> Answer:
    """Why it cannot be done. A question that nobody waits for any more is not left standing."""
    message = reply(say(error.key, given.language, **{"slash": given.slash, **error.facts}))
    return Rewritten(message) if error.key == "job_gone" else message


async def listed(given: Invocation, page: Page, *first: str) -> OutboundMessage | None:
    """What is planned here, with buttons; `first` stands before it. None: nothing is."""
    shown = await given.desk.jobs.shown(given.session.key)
    wanted = [job for job in shown if isinstance(job.work, Reminder) or not page.only_reminders]
    page = page.within(len(wanted))
    found = wanted[page.start :]
    if not found:
        return None
    title = "reminders_title" if page.only_reminders else "cron_title"
    zone = (await given.desk.jobs.zone_of(given.session.key)).key
    rows = [_line(job, given, zone) for job in found[:MOST_LISTED]]
    if len(found) > MOST_LISTED:
        rows.append(say("cron_more", given.language, count=len(found) - MOST_LISTED))
    text = "\n\n".join([*first, say(title, given.language, zone=zone), "\n".join(rows)])
    return OutboundMessage(markdown=text, buttons=_buttons(found, given.language, page))


def _line(job: Job, given: Invocation, zone: str) -> str:
    language = given.language
    rule = rule_of(job, language)
    return say(
        "cron_line",
        language,
        id=job.id,
        rule=rule if job.zone == zone else f"{rule}, {literal(job.zone)}",
        kind=kind_of(job, language),
        what=in_short(job),
        state=_state(job, language, given.desk.clock.time()),
    )


def _state(job: Job, language: Language, now: float) -> str:
    if job.state is JobState.DRAFT:
        is_late = isinstance(job.rule, Once) and job.rule.at <= now
        return say("cron_line_late" if is_late else "cron_line_draft", language)
    if job.state is JobState.PAUSED:
        return say(_PAUSES[job.pause or Pause.PERSON], language)
    if isinstance(job.rule, Once):
        return say("cron_line_once", language)
    return say("cron_line_next", language, next=next_of(job, language, now))


def _buttons(jobs: Sequence[Job], language: Language, page: Page) -> tuple[tuple[Button, ...], ...]:
    """Those for which there is no room are one press further."""
    if len(jobs) <= MOST_ROWS:
        return tuple(_row(job, language, page) for job in jobs)
    following = replace(page, start=page.start + _STEP)
    more = Button(label=say("cron_more_button", language), action=following.says("/cron list"))
    return (*(_row(job, language, page) for job in jobs[:_STEP]), (more,))


def _row(job: Job, language: Language, page: Page) -> tuple[Button, ...]:
    remove = Button(label=say("remove_button", language), action=page.says(f"/cron rm {job.id}"))
    match job.state:
        case JobState.DRAFT:
            return Button(label=say("show_button", language, id=job.id), action=f"/cron show {job.id}"), remove
        case JobState.PAUSED:
            resume = page.says(f"/cron resume {job.id}")
            return Button(label=say("resume_button", language, id=job.id), action=resume), remove
        case _:
            pause = Button(label=say("pause_button", language, id=job.id), action=page.says(f"/cron pause {job.id}"))
            run = Button(label=say("run_button", language), action=f"/cron run {job.id}")
            return pause, run, remove
