"""Shared by the commands for jobs: the question before a job is set, and the list of jobs."""

from collections.abc import Callable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from agent_core.clock import Clock
from channels.base import Button, ChatKey, OutboundMessage
from channels.text import literal
from gateway.chat.replies import Answer, Quoting, Rewritten, Said
from gateway.commands.command import Invocation, reply
from gateway.schedule.jobs.destinations import Destinations, Wish
from gateway.schedule.jobs.job_changes import Draft
from gateway.schedule.jobs.jobs import JobRefused, Jobs
from gateway.schedule.jobs.preview import in_short, kind_of, next_of, rule_of
from gateway.schedule.jobs.report_kinds import MadeReport
from gateway.schedule.jobs.zone_news import ZoneNews
from gateway.schedule.times.grammar import When
from gateway.schedule.times.zone_names import shown_zone
from gateway.store.job import Job, JobState, Pause, Reminder, Report
from gateway.store.rule import BadRule, Once
from gateway.texts.say import Language, say

MOST_LISTED = 20
MOST_OF_SAMPLE = 25
"""Lines of a report that is shown before it is set."""
MOST_ROWS = 5
"""Rows of buttons, as many as every platform shows."""
_STEP = MOST_ROWS - 1
"""The last row leads to the next page."""
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


class Page(Struct, frozen=True):
    """A page of the list of jobs. Buttons carry it, so that their result shows the same page."""

    start: int = 0
    """The number of jobs skipped."""
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
        """Return this page, or the last one if this one no longer exists."""
        return self if self.start < count else replace(self, start=max(count - 1, 0) // _STEP * _STEP)


class Planning:
    """Proposes and lists jobs, for all commands that are about them."""

    def __init__(
        self, jobs: Jobs, news: ZoneNews, clock: Clock, destinations: Destinations, *, is_ai: Callable[[], bool]
    ) -> None:
        """`is_ai` returns False while no real model answers."""
        self._jobs = jobs
        self._destinations = destinations
        self.news = news
        self._clock = clock
        self._is_ai = is_ai

    def refused(self, given: Invocation, error: BadRule | JobRefused, wish: str) -> Answer:
        """Return the reply to an error, or the wish for a model, which reads times in more languages than Parley."""
        if isinstance(error, BadRule) and error.key == "rule_not_understood" and self._is_ai():
            return Said(wish, given.origin)
        return refused(given, error)

    async def wish(self, given: Invocation, text: str) -> Wish:
        """Return the chats that a text names for a report, and the text without them. Raises JobRefused."""
        return await self._destinations.read(text, given.chat, given.sender, given.language)

    async def leading(self, given: Invocation, text: str) -> Wish:
        """Return the chats with which a text begins, and the text behind them. Raises JobRefused."""
        return await self._destinations.leading(text, given.chat, given.sender, given.language)

    async def asked(
        self,
        given: Invocation,
        when: When,
        work: Reminder | Report,
        posts_in: Sequence[ChatKey] = (),
        sample: MadeReport | None = None,
    ) -> Answer:
        """Propose a job and return the question to confirm it, which replaces a pressed message.

        `sample` is what it would say now.

        Raises BadRule and JobRefused.
        """
        jobs, chat = self._jobs, given.chat
        there = when.zone or jobs.zone_of(chat, given.sender.id)
        draft = Draft(chat, given.sender.id, given.language, there, when.rule, work, given.origin)
        draft = replace(draft, is_by_own_clock=when.is_by_own_clock, posts_in=tuple(posts_in))
        job = await jobs.propose(draft, given.sender)
        question = await jobs.question(job, given.slash)
        told = await self.news.added(question, job)
        if sample is None:
            return Quoting(Rewritten(told), job.origin)
        return Quoting(Rewritten(self._with_sample(told, sample, given)), job.origin | sample.origin)

    def _with_sample(self, question: OutboundMessage, sample: MadeReport, given: Invocation) -> OutboundMessage:
        """Return a question with as many lines of a sample as fit into one message."""
        title = say("report_sample", given.language)
        lines = (sample.text or say("report_sample_empty", given.language)).splitlines()
        for count in range(min(len(lines), MOST_OF_SAMPLE), 0, -1):
            rest = "\n…" if count < len(lines) else ""
            shown = "\n".join(lines[:count]) + rest
            message = question.model_copy(update={"markdown": f"{question.markdown}\n\n{title}\n\n{shown}"})
            if len(self._jobs.delivery.masked_channel(given.chat).split(message)) == 1:
                return message
        return question

    async def listed(self, given: Invocation, page: Page, *first: str) -> OutboundMessage | None:
        """Return a page of the jobs with buttons, after the paragraphs `first`; None if there are no jobs."""
        shown = await self._jobs.shown(given.chat)
        wanted = [job for job in shown if isinstance(job.work, Reminder) or not page.only_reminders]
        page = page.within(len(wanted))
        found = wanted[page.start :]
        if not found:
            return None
        title = "reminders_title" if page.only_reminders else "cron_title"
        zone = self._jobs.zone_of(given.chat, given.sender.id).key
        rows = [await self._row(job, given, zone) for job in found[:MOST_LISTED]]
        if len(found) > MOST_LISTED:
            rows.append(say("cron_more", given.language, count=len(found) - MOST_LISTED))
        text = "\n\n".join([*first, say(title, given.language, zone=shown_zone(zone)), "\n".join(rows)])
        return OutboundMessage(markdown=text, buttons=_buttons(found, given.language, page))

    async def _row(self, job: Job, given: Invocation, zone: str) -> str:
        """Return the line of a job, with a second one if it posts in other chats."""
        line, places = self._line(job, given, zone), await self._jobs.places_of(job)
        return f"{line}\n  - {places}" if places else line

    def _line(self, job: Job, given: Invocation, zone: str) -> str:
        language = given.language
        rule = rule_of(job, language)
        return say(
            "cron_line",
            language,
            id=job.id,
            rule=rule if job.zone == zone else f"{rule}, {literal(shown_zone(job.zone))}",
            kind=kind_of(job, language),
            what=in_short(job),
            state=_state(job, language, self._clock.time()),
        )


def refused(given: Invocation, error: BadRule | JobRefused) -> Answer:
    """Return the reply to an error. If a draft is gone, it replaces the question."""
    message = reply(say(error.key, given.language, **{"slash": given.slash, **error.facts}))
    return Rewritten(message) if error.key in ("job_gone", "job_outdated") else message


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
    """Return the buttons of a page; if there are too many, the last one leads to the next page."""
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
