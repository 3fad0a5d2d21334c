"""What the store gives back: one frozen class per kind of row."""

from dataclasses import dataclass
from enum import StrEnum

from agent_core.messages import Usage
from agent_core.reasons import TerminalReason
from channels.base import ChatKey, InboundEvent, OutboundMessage


@dataclass(frozen=True)
class InboxItem:
    """An event that was taken in; `seq` orders all of them."""

    seq: int
    event: InboundEvent


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
    def may_read_otherwise(self) -> bool:
        """Whether an earlier send may have had other words: a question that was answered has no buttons any more."""
        return ":ask:" in self.key and not self.message.buttons


@dataclass(frozen=True)
class Chat:
    """What holds for one chat until someone changes it."""

    key: ChatKey
    session: str
    language: str | None = None
