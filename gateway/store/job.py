"""Jobs, their firings and heartbeats, as values. `jobs`, `firings` and `heartbeats` store them."""

import hashlib
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Literal

from msgspec import Struct
from pydantic import ConfigDict, Field, TypeAdapter

from agent_core.messages import Frozen
from agent_core.origin import Origin
from channels.base import ChatKey
from gateway.store.rule import Rule

HOUR = 3600.0
ELSEWHERE, BACK = "to:", "back:"
RUN = "job-"
"""Begins the name of each firing, which is that of its run."""


class Reminder(Frozen):
    """A fixed text that is sent without asking a model."""

    type: Literal["reminder"] = "reminder"
    text: str


class Report(Frozen):
    """Instructions that an agent carries out in a session of its own, or the subject of one that a plugin makes."""

    type: Literal["report"] = "report"
    instructions: str
    skill: str | None = None
    made_by: str = ""
    """The name of the report that is made without a model; empty for one that an agent makes."""
    as_file: bool = False
    """True if its text is sent as a file, below its title."""


class CheckIn(Frozen):
    """A chat's heartbeat: a check whether anything needs attention."""

    type: Literal["check_in"] = "check_in"


Work = Annotated[Reminder | Report | CheckIn, Field(discriminator="type")]
work_adapter: TypeAdapter[Work] = TypeAdapter(Work, config=ConfigDict(defer_build=True))


class JobState(StrEnum):
    DRAFT = "draft"
    """Shown to the user for confirmation; never due."""
    ACTIVE = "active"
    PAUSED = "paused"
    DONE = "done"
    """Never due again."""
    REMOVED = "removed"


class Pause(StrEnum):
    """The reason why a job is paused."""

    PERSON = "person"
    """A user paused it."""
    FAILURES = "failures"
    UNDELIVERABLE = "undeliverable"
    """The platform no longer accepts messages for the chat: it is gone, or the bot is blocked."""
    NOT_ALLOWED = "not_allowed"
    """The job's owner may no longer use the bot."""
    SILENCE = "silence"
    """The chat has had no message from a user for a long time."""


class Slot(Struct, frozen=True):
    """A moment at which a job is due. Its name depends only on the moment and identifies the firing."""

    at: float
    """Seconds since the epoch."""

    @property
    def name(self) -> str:
        return f"{datetime.fromtimestamp(self.at, UTC):%Y-%m-%dT%H:%M:%SZ}"


@dataclass(frozen=True)
class Job:
    """A job. `next_at` is None if it is not due (again)."""

    id: str
    """Six characters, to be typed by users."""
    chat: ChatKey
    person: str
    """The sender id of the job's owner."""
    language: str
    zone: str
    """An IANA name."""
    rule: Rule
    work: Work
    origin: Origin
    """The origin of its words."""
    created: float
    state: JobState = JobState.DRAFT
    pause: Pause | None = None
    grace: float = 2 * HOUR
    """Seconds by which it may be late and still run, once for all times missed; 0: never."""
    next_at: float | None = None
    given: tuple[str, ...] = ()
    """Addresses in its text written by users of the bot, see `addresses.given_in`. Even tainted runs may read them."""
    scripts: tuple[str, ...] = ()
    """Skills whose scripts its runs may call without approval, because the user has agreed to it."""
    failures: int = 0
    """Consecutive failures up to the last firing."""
    told_cause: str = ""
    """The cause of the failures last reported to the chat; empty once a recovery was reported."""
    told_at: float | None = None
    instead_of: str = ""
    """For a draft: the job that it replaces once it is confirmed."""
    is_by_own_clock: bool = False
    """True if its time named no zone, so that it follows its person to another one."""

    @property
    def words(self) -> str:
        """Its text, or the instructions for its report; empty for a check-in."""
        match self.work:
            case Reminder(text=words) | Report(instructions=words):
                return words
            case CheckIn():
                return ""

    @property
    def skill(self) -> str | None:
        """The skill that its report follows."""
        return self.work.skill if isinstance(self.work, Report) else None

    @property
    def version(self) -> str:
        """A name of what the job does and when, which another one has once that is changed."""
        return hashlib.sha256(f"{self.rule!r} {self.zone} {self.work!r}".encode(errors="replace")).hexdigest()[:8]

    @property
    def slot(self) -> Slot | None:
        return None if self.next_at is None else Slot(self.next_at)

    def is_wanted(self, slot: str) -> bool:
        """Return True if a firing due at this slot, or started by hand, should run in the job's current state.

        What one has made goes elsewhere though the job was paused meanwhile.
        """
        goes_on = is_by_hand(slot) or is_copy(slot) or self.state is not JobState.PAUSED
        return self.state is not JobState.REMOVED and goes_on


class FiringState(StrEnum):
    """The outcome of a firing."""

    BEGUN = "begun"
    DONE = "done"
    NOTHING = "nothing"
    """It ran, and there was nothing to say."""
    FAILED = "failed"
    OVERLAPPED = "overlapped"
    """Skipped because the previous firing was still running."""
    MISSED = "missed"
    """Skipped because Parley was not running, or because it was too late."""


class DeliveryState(StrEnum):
    """The delivery of a firing's message, apart from the firing's own outcome."""

    NONE = "none"
    """There is no message."""
    PENDING = "pending"
    SENT = "sent"
    HELD = "held"
    """It waits for the end of the quiet hours."""
    FAILED = "failed"


class Reaction(StrEnum):
    """The button that a user pressed on the message."""

    DONE = "done"
    SNOOZED = "snoozed"
    LESS = "less"


@dataclass(frozen=True)
class Firing:
    """One time that a job was due or was started by hand, identified by (job, slot)."""

    job: str
    slot: str
    """`Slot.name`, or `run:<id>` and `test:<id>` if a user started it.

    What another firing has made is posted in another chat at `to:<target>:<its slot>`. If it does not arrive there, it
    comes back at `back:<target>:<its slot>`.
    """
    id: str
    """Six characters, carried by the buttons of its message."""
    chat: ChatKey
    """The chat that gets its message; for a rehearsal it may differ from the job's chat."""
    due: float
    origin: Origin
    """The origin of its text."""
    state: FiringState = FiringState.BEGUN
    began: float | None = None
    ended: float | None = None
    run: str = ""
    """The id of the agent's run; empty if there was none."""
    text: str = ""
    """The text of the message shown to users."""
    error: str = ""
    cause: str = ""
    """The key by which failures are counted: a FailureKind, or one of the scheduler's own."""
    tokens: int = 0
    cost_usd: float = 0.0
    delivery: DeliveryState = DeliveryState.NONE
    delivery_error: str = ""
    reaction: Reaction | None = None

    @property
    def name(self) -> str:
        """The name of its run and session, and the start of its posts' keys: `job-abc123-20261123T080000Z`."""
        return firing_name(self.job, self.slot)

    @property
    def is_rehearsal(self) -> bool:
        return self.slot.startswith("test:")

    @property
    def is_by_hand(self) -> bool:
        return is_by_hand(self.slot)

    @property
    def is_elsewhere(self) -> bool:
        """True if it posts in another chat what another firing of its job has made."""
        return self.slot.startswith(ELSEWHERE)

    @property
    def is_copy(self) -> bool:
        """True if it posts what another firing of its job has made."""
        return is_copy(self.slot)

    @property
    def target(self) -> str:
        """The id of the target of a copy; empty for others."""
        return self.slot.split(":", 2)[1] if self.is_copy else ""

    @property
    def made_at(self) -> str:
        """The slot of the firing that has made what it posts."""
        return self.slot.split(":", 2)[2] if self.is_copy else self.slot


def is_copy(slot: str) -> bool:
    return slot.startswith((ELSEWHERE, BACK))


def is_by_hand(slot: str) -> bool:
    return slot.startswith(("run:", "test:"))


def firing_name(job: str, slot: str) -> str:
    return f"{RUN}{job}-{re.sub('[:-]', '', slot)}"


@dataclass(frozen=True)
class Heartbeat:
    """A chat's heartbeat settings; its ticks are firings of a job whose work is `CheckIn`."""

    chat: ChatKey
    person: str
    job: str
    on: bool = True
    quiet_from: int | None = 21 * 60
    """Local time in minutes after midnight; None: no quiet hours."""
    quiet_to: int | None = 8 * 60
    quiet_zone: str | None = None
    """The zone of the quiet hours; None: that of the chat."""
    quiet_chosen: bool = False
    """True if a user set the quiet hours; they then apply even while the heartbeat is off."""
    most_a_day: int = 2
    """The most unprompted messages a day."""
    snoozed_until: float = 0.0
    failures: int = 0
    """Consecutive failures."""
    last_look: float | None = None
    last_outcome: str = ""
    """A key of `gateway.texts.say` for the last outcome: a message sent, or the reason for sending none."""
