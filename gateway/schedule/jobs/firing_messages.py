"""Composes the messages of firings and decides which of them wait for the end of the quiet hours."""

import asyncio
from collections.abc import Callable, Sequence
from itertools import chain
from zoneinfo import ZoneInfo

from msgspec import Struct

from agent_core.clock import Clock
from agent_core.models.llm import FailureKind
from agent_core.origin import Origin, joined
from channels.attachments import Attachment
from channels.base import Button, ChatKey, OutboundMessage, Sender
from channels.text import literal
from gateway.delivery.delivery import Delivery
from gateway.permissions.access import Access
from gateway.permissions.rights import Place
from gateway.runs.model_failures import Reader, trouble_text
from gateway.runs.tasks.report import what_in_short
from gateway.schedule.jobs.notices import outcome_text, rehearsal_title
from gateway.schedule.jobs.outcome import KILLED, Outcome
from gateway.schedule.jobs.places import author_of, plain
from gateway.schedule.jobs.preview import kind_inside
from gateway.schedule.times.quiet import QuietHours
from gateway.settings.current import CurrentSettings
from gateway.store.job import CheckIn, Firing, FiringState, Job, Reminder, Report
from gateway.store.rows import Post
from gateway.store.store import Store
from gateway.texts.moments import DAY, moment_words
from gateway.texts.say import Language, language_of, say

COMMAND = "/proactive"
SNOOZE = 60
"""Minutes."""

_TRIED_AGAIN = frozenset({KILLED, *(kind.value for kind in FailureKind)})
_TITLES = {
    "daily-report": "proactive_notes",
    "chat-digest": "proactive_chat",
    "page-watch": "proactive_page",
    "usage-report": "proactive_usage",
}
"""Titles of the built-in reports, by skill."""


class FiringMessages(Struct, frozen=True):
    """Composes what Parley posts unprompted, about one firing or several."""

    store: Store
    delivery: Delivery
    access: Access
    clock: Clock
    current: CurrentSettings
    files: Callable[[Firing], Sequence[Attachment]]
    """Returns the files that a firing's run has sent. Blocks for a moment."""
    file: Callable[[Firing, str, str], Attachment]
    """Writes a file of this name and text to be sent with a firing. Blocks for a moment."""

    async def text(self, job: Job, firing: Firing, outcome: Outcome, failures: int) -> str:
        """Return the text for users, empty if there is nothing to tell.

        Args:
            failures: Consecutive failures of the job, including this one.
        """
        if firing.is_copy:
            return outcome.text
        language = self.language_of(job)
        others = await self.store.jobs.in_chat(job.chat) if firing.state is FiringState.FAILED else ()
        trouble = self._trouble(job, firing, outcome, language)
        text = outcome_text(job, firing, outcome, language, failures=failures, others=others, trouble=trouble)
        if not text or not firing.is_rehearsal:
            return text
        return f"{rehearsal_title(outcome, language)}\n\n{text}"

    async def posts(self, job: Job, firing: Firing) -> list[Post]:
        """Return the firing's message in parts that fit the platform."""
        return self._split(firing.name, firing.chat, await self._message(job, firing), firing.origin)

    async def digest(self, name: str, items: Sequence[tuple[Job | None, Firing]]) -> list[Post]:
        """Return one message of this name about firings of a chat, in parts. A job is None if it no longer exists."""
        job, firing = items[0]
        if len(items) == 1 and job is not None and firing.state is FiringState.DONE:
            return self._split(name, firing.chat, await self._message(job, firing), firing.origin)
        language = self.language_of(job)
        numbered = [*enumerate(items, start=1)]
        texts = [f"**{number}.** {self.words(each, one)}" for number, (each, one) in numbered]
        message = OutboundMessage(
            markdown="\n\n".join([say("proactive_digest", language), *texts]),
            buttons=tuple(
                buttons_of(one, language, f"{number} · ")
                for number, (_, one) in numbered
                if one.state is FiringState.DONE
            ),
            attachments=tuple(chain.from_iterable([await self.attachments(one) for _, one in items])),
        )
        return self._split(name, firing.chat, message, joined(one.origin for _, one in items))

    def words(self, job: Job | None, firing: Firing) -> str:
        """Return the text as users read it; `job` is None if it no longer exists."""
        if job is None or firing.state is not FiringState.DONE:
            return firing.text
        below = self._from_elsewhere(job, firing) if firing.is_elsewhere else self._set_by(job)
        return f"{self._own_words(job, firing)}{below}"

    def _own_words(self, job: Job, firing: Firing) -> str:
        match job.work:
            case Reminder(text=text):
                return f"⏰ {firing.text or text}"
            case Report() as report:
                title = "" if _has_title(firing.text) else _title(report, self.language_of(job)) + "\n\n"
                return title + firing.text
            case CheckIn():
                return firing.text

    def _set_by(self, job: Job) -> str:
        """Return a line that says who set the job, if that was somebody from elsewhere; else an empty text."""
        setter = Sender(id=job.person, name="")
        if self.access.place(job.chat, setter) in {Place.DIRECT, Place.GROUP}:
            return ""
        who = plain(author_of(self.access, job))
        return f"\n\n_{say('proactive_set_by', self.language_of(job), who=who)}_"

    def _from_elsewhere(self, job: Job, firing: Firing) -> str:
        """Return a line that says whose report or reminder of another chat it is, and how it is ended."""
        language, slash = self.language_of(job), self.delivery.channel(firing.chat).limits.slash
        who, kind = plain(author_of(self.access, job)), kind_inside(job, language)
        return f"\n\n_{say('target_below', language, who=who, kind=kind, slash=slash, id=job.id)}_"

    async def attachments(self, firing: Firing) -> Sequence[Attachment]:
        """Return the attachments of a firing's message; the news of a failure has none."""
        has_some = firing.state is FiringState.DONE and (firing.run or firing.is_copy)
        return await asyncio.to_thread(self.files, firing) if has_some else ()

    async def is_held(self, job: Job, firing: Firing) -> bool:
        """Return True if the message, or the news of a failure, has to wait for the end of the quiet hours.

        Reminders do not wait, nor does anything that was started by hand.
        """
        if isinstance(job.work, Reminder) or firing.is_by_hand:
            return False
        return await self.is_quiet(firing.chat, job)

    async def is_quiet(self, chat: ChatKey, job: Job) -> bool:
        """Return True during the chat's quiet hours, in the zone of its heartbeat's job or else that of `job`."""
        heartbeat = await self.store.heartbeats.find(chat)
        quiet = QuietHours.for_all(heartbeat) if heartbeat else None
        if heartbeat is None or quiet is None:
            return False
        named = await self.store.jobs.find(heartbeat.job) or job
        return quiet.holds_at(self.clock.time(), ZoneInfo(named.zone))

    def language_of(self, job: Job | None) -> Language:
        return language_of(job.language if job else None, self.current.language)

    async def _message(self, job: Job, firing: Firing) -> OutboundMessage:
        words, files = self.words(job, firing), await self.attachments(firing)
        if isinstance(job.work, Report) and job.work.as_file and firing.state is FiringState.DONE:
            words, files = await self._in_file(job, firing, files)
        return OutboundMessage(
            markdown=words,
            trouble=words if firing.state is FiringState.FAILED else "",
            buttons=self._buttons(job, firing),
            attachments=tuple(files),
        )

    async def _in_file(self, job: Job, firing: Firing, files: Sequence[Attachment]) -> tuple[str, Sequence[Attachment]]:
        """Return the title of a report with what stands below it, and the report as a file, before its other files."""
        whole, below = self._own_words(job, firing), self.words(job, firing).removeprefix(self._own_words(job, firing))
        title = next(line for line in whole.splitlines() if line.strip())
        day = moment_words(firing.due, ZoneInfo(job.zone), DAY)
        name = say("report_file", self.language_of(job), day=day)
        file = await asyncio.to_thread(self.file, firing, name, self.store.secrets.mask(whole))
        return f"{title}{below}", (file, *files)

    def _split(self, name: str, chat: ChatKey, message: OutboundMessage, origin: Origin) -> list[Post]:
        parts = self.delivery.masked_channel(chat).split(message)
        return [Post(f"{name}:proactive:{number}", name, chat, part, origin) for number, part in enumerate(parts)]

    def _buttons(self, job: Job, firing: Firing) -> tuple[tuple[Button, ...], ...]:
        """Return the buttons of a firing's message.

        There are none for a rehearsal or if there was nothing to report. A run that was given up, or whose model
        failed, can be tried again.
        """
        if firing.is_rehearsal:
            return ()
        language = self.language_of(job)
        if firing.cause in _TRIED_AGAIN and isinstance(job.work, Report):
            return ((Button(label=say("again_button", language), action=f"/cron run {job.id}"),),)
        return (buttons_of(firing, language),) if firing.state is FiringState.DONE else ()

    def _trouble(self, job: Job, firing: Firing, outcome: Outcome, language: Language) -> str:
        """Return an explanation of a model failure for its readers, or an empty string."""
        if outcome.trouble is None or outcome.run is None:
            return ""
        channel = self.delivery.channel(firing.chat)
        is_owner = self.access.is_owner(firing.chat, Sender(id=job.person, name=""))
        reader = Reader(language, channel.limits.slash, is_owner=is_owner and not channel.is_group(firing.chat))
        return trouble_text(outcome.trouble, firing.name, outcome.run.model, reader, self.store.secrets)


def buttons_of(firing: Firing, language: Language, number: str = "") -> tuple[Button, ...]:
    """Return the buttons for feedback on a firing. `number`: the label's prefix in a message about several firings."""
    if firing.is_elsewhere:
        return (Button(label=number + say("target_stop_button", language), action=f"/cron stop {firing.job}"),)
    verbs = (
        ("proactive_snooze_button", f"snooze {firing.id} {SNOOZE}"),
        ("proactive_done_button", f"done {firing.id}"),
        ("proactive_less_button", f"less {firing.id}"),
    )
    return tuple(Button(label=number + say(key, language), action=f"{COMMAND} {verb}") for key, verb in verbs)


def _title(report: Report, language: Language) -> str:
    if report.skill in _TITLES:
        return say(_TITLES[report.skill], language)
    what = report.skill.replace("-", " ") if report.skill else what_in_short(report.instructions)
    return say("proactive_report", language, what=literal(what))


def _has_title(text: str) -> bool:
    """Return True if the first line is a heading or entirely bold."""
    first = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return first.startswith("#") or (first.startswith("**") and first.rstrip(" :：").endswith("**"))
