"""What the store gives back: one frozen class per kind of row."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from agent_core.messages import Usage
from agent_core.reasons import TerminalReason
from agent_core.tasks import Report, TaskStatus
from channels.base import ChatKey, InboundEvent, OutboundMessage


@dataclass(frozen=True)
class InboxItem:
    """An event that was taken in; `seq` orders all of them."""

    seq: int
    event: InboundEvent


def message_id(item: InboxItem) -> str:
    """The id of the message that holds an inbox item's words."""
    return f"inbox-{item.seq}"


def inbox_seqs(message_ids: Sequence[str]) -> list[int]:
    """The inbox items whose words these messages hold."""
    return [int(name.removeprefix("inbox-")) for name in message_ids if name.startswith("inbox-")]


@dataclass(frozen=True)
class TalkBefore:
    """What was taken in of a chat before one of its messages."""

    named_us: str | None
    """The id of the last message that did."""
    heard: frozenset[str]
    """The ids of the messages since then, and its own."""


@dataclass(frozen=True)
class LastHeard:
    """How far a chat was listened to."""

    chat: ChatKey
    message_id: str
    at: float


@dataclass(frozen=True)
class Run:
    """One run of the agent in a chat, for the person whose message started it."""

    id: str
    chat: ChatKey
    session: str
    person: str
    """The sender's id: who may steer and stop it (D-11)."""
    started: float
    reply_to: str | None = None
    """The message that the answer replies to, where answers are replies."""


@dataclass(frozen=True)
class Task:
    """What an agent has another one do. Its conversation and its one run have a name of their own."""

    id: str
    """What people type: six characters."""
    call: str
    """Which call of the tool began it; the same call begins it once."""
    chat: ChatKey
    asked_by: str
    """The run that made the call."""
    person: str
    """For whom that runs."""
    language: str
    reply_to: str | None
    prompt: str
    background: bool
    """Whether the chat is told how it came out; else the call is, which waits for it."""
    tainted: bool
    """Whether strangers had a word in the conversation that it comes from."""
    created: float
    status: TaskStatus = TaskStatus.PENDING
    lives: int = 0
    """Of the program, in which it ran."""
    unwanted: bool = False
    """Somebody cancelled it."""
    started: float | None = None
    ended: float | None = None
    kept: str = ""
    """The file of the workspace that holds a long report whole."""
    report: Report = field(default_factory=Report)

    @property
    def is_over(self) -> bool:
        return self.status not in (TaskStatus.PENDING, TaskStatus.RUNNING)

    @property
    def session(self) -> str:
        return f"task-{self.id}"

    @property
    def run(self) -> Run:
        return Run(self.session, self.chat, self.session, self.person, self.started or self.created, self.reply_to)


@dataclass(frozen=True)
class RunEnd:
    """How a run came out."""

    reason: TerminalReason
    usage: Usage
    model: str
    error: str | None = None


class PostState(StrEnum):
    PENDING = "pending"
    SENDING = "sending"
    """A send was begun; after a crash nobody knows whether it arrived."""
    SENT = "sent"
    FAILED = "failed"


@dataclass(frozen=True)
class Post:
    """A message of ours. With a `message_id` it is an edit of that message, which may be made any number of times."""

    key: str
    """`<run>:<slot>:<part>`"""
    run: str
    chat: ChatKey
    message: OutboundMessage
    message_id: str | None = None
    state: PostState = PostState.PENDING

    @property
    def is_progress(self) -> bool:
        """Whether it says how a run goes or went: no loss to anybody, so never a new message."""
        return ":progress:" in self.key

    @property
    def is_unasked(self) -> bool:
        """Whether nobody waits for it as for an answer."""
        return ":proactive:" in self.key

    @property
    def may_read_otherwise(self) -> bool:
        """Whether an earlier send may have had other words: a question that was answered has no buttons any more."""
        return ":ask:" in self.key and not self.message.buttons


@dataclass(frozen=True)
class Chat:
    """What holds for one chat until someone changes it."""

    key: ChatKey
    session: str
    language: str | None = None
    zone: str | None = None
    """An IANA name."""
