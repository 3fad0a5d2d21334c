"""A job: what is to be done in a chat when, and each time that it was due. Values; `job_store` keeps them."""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from channels.base import ChatKey
from gateway.timing.quiet import QuietHours
from gateway.timing.rule import Rule
from gateway.timing.slots import Slot

HOUR = 3600.0


class _Work(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Reminder(_Work):
    """Words that are said as they are; no model is asked."""

    type: Literal["reminder"] = "reminder"
    text: str


class Report(_Work):
    """What an agent is to find out and write, in a conversation of its own."""

    type: Literal["report"] = "report"
    instructions: str
    skill: str | None = None


class CheckIn(_Work):
    """A look at what may need attention: the heartbeat of a chat."""

    type: Literal["check_in"] = "check_in"


Work = Annotated[Reminder | Report | CheckIn, Field(discriminator="type")]
work_adapter: TypeAdapter[Work] = TypeAdapter(Work)


class JobState(StrEnum):
    DRAFT = "draft"
    """Shown to somebody who has not said yes yet; never due."""
    ACTIVE = "active"
    PAUSED = "paused"
    DONE = "done"
    """It will never be due again."""
    REMOVED = "removed"


class Pause(StrEnum):
    """Why a job is paused."""

    PERSON = "person"
    """Somebody wanted it so."""
    FAILURES = "failures"
    UNDELIVERABLE = "undeliverable"
    """The platform takes nothing for the chat any more: it is gone, or the bot is blocked."""
    NOT_ALLOWED = "not_allowed"
    """Whose job it is may not speak to us any more."""
    SILENCE = "silence"
    """Nobody has written for long."""


@dataclass(frozen=True)
class Job:
    """One row. `next_at` is None where it is not to be due (again)."""

    id: str
    """What people type: six characters."""
    chat: ChatKey
    person: str
    """The sender's id of whose it is."""
    language: str
    zone: str
    """An IANA name."""
    rule: Rule
    work: Work
    created: float
    state: JobState = JobState.DRAFT
    pause: Pause | None = None
    grace: float = 2 * HOUR
    """How late, in seconds, it is still done when it was missed, once for all that were; 0: never."""
    next_at: float | None = None
    tainted: bool = False
    """Whether strangers had a word in the conversation in which it was made."""
    given: tuple[str, ...] = ()
    """The addresses in its words that people here wrote, see `addresses.given_in`: its runs may read these, also where
    it is tainted."""
    scripts: tuple[str, ...] = ()
    """Skills whose scripts its runs may call without asking: the person has said yes to that."""
    failures: int = 0
    """In a row, up to the last time."""
    told_cause: str = ""
    """The cause of the failures of which the chat was told last, where it was not told since that all is well."""
    told_at: float | None = None
    instead_of: str = ""
    """Of a draft: the job that it changes, once somebody says yes."""

    @property
    def slot(self) -> Slot | None:
        return None if self.next_at is None else Slot(self.next_at)

    def is_wanted(self, slot: str) -> bool:
        """Whether what was due then, or called for by hand, is to be done as things stand."""
        return self.state is not JobState.REMOVED and (is_by_hand(slot) or self.state is not JobState.PAUSED)


class FiringState(StrEnum):
    """What became of one time that a job was due."""

    BEGUN = "begun"
    DONE = "done"
    NOTHING = "nothing"
    """It was done, and there was nothing to say."""
    FAILED = "failed"
    OVERLAPPED = "overlapped"
    """Skipped, because the time before was still being worked on."""
    MISSED = "missed"
    """Skipped, because nobody was there, or too late."""


class DeliveryState(StrEnum):
    """What became of the message about it, which is another matter."""

    NONE = "none"
    """There is none."""
    PENDING = "pending"
    SENT = "sent"
    HELD = "held"
    """It waits for the morning."""
    FAILED = "failed"


class Reaction(StrEnum):
    """What people did with the message, by its buttons."""

    DONE = "done"
    SNOOZED = "snoozed"
    LESS = "less"


@dataclass(frozen=True)
class Firing:
    """One time that a job was due, or was called by hand; (job, slot) is its name for good."""

    job: str
    slot: str
    """`Slot.name`, or `run:<id>` and `test:<id>` where somebody wanted it now."""
    id: str
    """What buttons carry: six characters."""
    chat: ChatKey
    """Where its message goes: not the job's chat for a rehearsal."""
    due: float
    state: FiringState = FiringState.BEGUN
    began: float | None = None
    ended: float | None = None
    run: str = ""
    """The id of the agent's run, where there was one."""
    text: str = ""
    """What was said, for people."""
    untrusted: bool = False
    """Whether strangers may have had a word in it."""
    error: str = ""
    cause: str = ""
    """What the failure is to be counted with: a FailureKind, or one of ours."""
    tokens: int = 0
    cost_usd: float = 0.0
    delivery: DeliveryState = DeliveryState.NONE
    delivery_error: str = ""
    reaction: Reaction | None = None

    @property
    def name(self) -> str:
        """Of its run and the conversation of that; its posts begin with it. `job-abc123-20261123T080000Z`."""
        return firing_name(self.job, self.slot)

    @property
    def is_rehearsal(self) -> bool:
        return self.slot.startswith("test:")

    @property
    def is_by_hand(self) -> bool:
        return is_by_hand(self.slot)


def is_by_hand(slot: str) -> bool:
    return slot.startswith(("run:", "test:"))


def firing_name(job: str, slot: str) -> str:
    return f"job-{job}-{re.sub('[:-]', '', slot)}"


@dataclass(frozen=True)
class Heartbeat:
    """How a chat wants to be looked after; its ticks are those of a job whose work is `CheckIn`."""

    chat: ChatKey
    person: str
    job: str
    on: bool = True
    quiet_from: int | None = 21 * 60
    """Minutes after midnight, local; None: no quiet hours."""
    quiet_to: int | None = 8 * 60
    quiet_chosen: bool = False
    """Whether somebody has set them so; then they hold though the heartbeat is off."""
    most_a_day: int = 2
    """Messages (S2-46)."""
    snoozed_until: float = 0.0
    failures: int = 0
    """In a row."""
    last_look: float | None = None
    last_outcome: str = ""
    """A key of `gateway.texts` that says why nothing was said, or that something was."""

    @property
    def quiet_hours(self) -> QuietHours | None:
        if self.quiet_from is None or self.quiet_to is None:
            return None
        return QuietHours(self.quiet_from, self.quiet_to)

    @property
    def quiet_for_all(self) -> QuietHours | None:
        """Those for which everything waits that is said unasked."""
        return self.quiet_hours if self.on or self.quiet_chosen else None
