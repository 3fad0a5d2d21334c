"""What a chat reads of a firing, and whether it waits for the morning."""

from collections.abc import Sequence
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from agent_core.clock import Clock
from channels.base import Attachment, Button, ChatKey, OutboundMessage
from gateway.progress import literal
from gateway.store.job import CheckIn, Firing, FiringState, Job, Reminder, Report
from gateway.store.store import Store
from gateway.tasks.report import what_in_short
from gateway.texts import Language, language_of, say

COMMAND = "/proactive"
SNOOZE = 60
"""Minutes."""

_TITLES = {
    "daily-report": "proactive_notes",
    "chat-digest": "proactive_chat",
    "page-watch": "proactive_page",
    "usage-report": "proactive_usage",
}
"""Of the reports that Parley brings along."""


@dataclass(frozen=True)
class Announcer:
    """Makes the messages that Parley sends by itself."""

    store: Store
    clock: Clock
    language: Language
    """Where nobody's is known."""

    def message(self, job: Job, firing: Firing, attachments: Sequence[Attachment] = ()) -> OutboundMessage:
        """Nothing follows from a rehearsal, or from the news that there is nothing, so these have no buttons."""
        has_none = firing.is_rehearsal or firing.state is not FiringState.DONE
        buttons = () if has_none else (buttons_of(firing, self.language_of(job)),)
        words = self.words(job, firing)
        return OutboundMessage(markdown=words, buttons=buttons, attachments=tuple(attachments))

    def words(self, job: Job | None, firing: Firing) -> str:
        """As people read it; `job`: None where it is not there any more."""
        if job is None or firing.state is not FiringState.DONE:
            return firing.text
        match job.work:
            case Reminder(text=text):
                return f"⏰ {firing.text or text}"
            case Report() as report:
                title = "" if _has_title(firing.text) else _title(report, self.language_of(job)) + "\n\n"
                return title + firing.text
            case CheckIn():
                return firing.text

    async def held(self, job: Job, firing: Firing) -> bool:
        """Whether its message, or the news that it failed, waits until the chat's quiet hours are over. A reminder does
        not, nor what somebody has asked for just now."""
        if isinstance(job.work, Reminder) or firing.is_by_hand:
            return False
        return await self.is_quiet(firing.chat, job)

    async def is_quiet(self, chat: ChatKey, job: Job) -> bool:
        """Whether it is night there; `job` tells the zone where the chat's heartbeat names none."""
        heartbeat = await self.store.jobs.heartbeat(chat)
        quiet = heartbeat.quiet_for_all if heartbeat else None
        if heartbeat is None or quiet is None:
            return False
        looks = await self.store.jobs.job(heartbeat.job) or job
        return quiet.holds_at(self.clock.time(), ZoneInfo(looks.zone))

    def language_of(self, job: Job | None) -> Language:
        return language_of(job.language if job else None, self.language)


def buttons_of(firing: Firing, language: Language, number: str = "") -> tuple[Button, ...]:
    """`number`: which of several it is that one message tells."""
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
    """Whether its first line is a heading, or stands out as one."""
    first = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return first.startswith("#") or (first.startswith("**") and first.rstrip(" :：").endswith("**"))
