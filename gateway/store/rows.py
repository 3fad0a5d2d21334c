"""The rows of the store as values that do not change."""

import re
from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import force_setattr, replace

from agent_core.origin import CLEAN, Origin
from agent_core.reasons import TerminalReason
from agent_core.tasks import Report, TaskStatus
from channels.base import Button, ChatKey, InboundEvent, OutboundMessage

STRANGER = ":stranger:"
"""A part of the key of a post that shows the words of a stranger."""
GONE = "gone"
"""The last part of the key of a post that deletes a progress message."""
_OF_INBOX = re.compile("inbox-([0-9]{1,18})")


_NO_REPORT = Report(origin=CLEAN)


class InboxItem(Struct, frozen=True):
    """An accepted inbound event; `seq` gives the order of arrival."""

    seq: int
    event: InboundEvent
    model: str | None = None
    """The model asked for this once."""
    is_again: bool = False
    """True if the event is an earlier message, to be answered again."""


def message_id(item: InboxItem) -> str:
    """Return the id of the transcript message for an inbox item."""
    return f"inbox-{item.seq}"


def inbox_seqs(message_ids: Sequence[str]) -> list[int]:
    """Return the numbers of the inbox items that these transcript messages come from."""
    return [int(found[1]) for name in message_ids if (found := _OF_INBOX.fullmatch(name))]


class MessagesBefore(Struct, frozen=True):
    """Messages of a chat that were accepted before a given one."""

    last_mention: str | None
    """The id of the last message that mentioned the bot."""
    ids: frozenset[str]
    """The ids of that message and of all after it."""


class Run(Struct, frozen=True):
    """A run of the agent in a chat, for the user whose message started it.

    Attributes:
        id: Its id, which no other run has.
        chat: The chat.
        session: The id of the conversation that it belongs to.
        person: The id of the sender, who may steer and stop the run.
        started: When it began, in seconds since the epoch.
        reply_to: The message to reply to, on platforms where answers are replies.
        model: The model that was asked for this run only.
    """

    id: str
    chat: ChatKey
    session: str
    person: str
    started: float
    reply_to: str | None = None
    model: str | None = None


class Task(Struct, frozen=True):
    """A task that an agent delegated to another one. Its session and its only run share a name."""

    id: str
    """Six characters, to be typed by users."""
    call: str
    """The tool call that created it; the same call creates it only once."""
    chat: ChatKey
    asked_by: str
    """The id of the run that made the call."""
    person: str
    """The user for whom that run works."""
    language: str
    reply_to: str | None
    prompt: str
    background: bool
    """True if the chat is told the outcome; otherwise the tool call waits for it."""
    origin: Origin
    """The origin of the session that created it, and so of its prompt."""
    created: float
    status: TaskStatus = TaskStatus.PENDING
    starts: int = 0
    """The number of process starts in which it ran."""
    unwanted: bool = False
    """True if a user cancelled it."""
    started: float | None = None
    ended: float | None = None
    kept: str = ""
    """The workspace file with the full text of a long report."""
    report: Report = _NO_REPORT

    @property
    def is_over(self) -> bool:
        return self.status not in (TaskStatus.PENDING, TaskStatus.RUNNING)

    @property
    def session(self) -> str:
        return f"task-{self.id}"

    @property
    def run(self) -> Run:
        return Run(self.session, self.chat, self.session, self.person, self.started or self.created, self.reply_to)


class RunEnd(Struct, frozen=True):
    """The outcome of a run.

    Attributes:
        reason: Why it ended.
        model: The id of the model that answered.
        error: What went wrong, if it failed.
        skills: The skills that were loaded.
        items: The numbers in the inbox of the messages that it has read, as far as they are known. They are not stored
            here.
    """

    reason: TerminalReason
    model: str
    error: str | None = None
    skills: tuple[str, ...] = ()
    items: tuple[int, ...] = ()


class PostState(StrEnum):
    PENDING = "pending"
    SENDING = "sending"
    """A send was begun; after a crash its outcome is unknown."""
    SENT = "sent"
    FAILED = "failed"


def gives_command(button: Button) -> bool:
    """Return False if a press says the words of the button."""
    return button.action.startswith("/")


class Post(Struct, frozen=True):
    """An outbound message. With a `message_id` it is an edit, which may safely be repeated.

    Attributes:
        key: Says which message it is: of two with the same key the first one is sent. That of an answer is
            `<run>:<slot>:<part>`.
        run: What its messages have in common: the id of a run, or another name, such as `tally-20786`.
        chat: The chat.
        message: What is sent.
        origin: The origin of its text, apart from what its run has read; None if it was stored without one. Then it is
            unknown, unless it has a run. See `gateway.permissions.sources.origin_of_post`.
        message_id: The message that it edits.
        state: How far it is.
        unknown: The number of attempts to send it whose outcome is unknown.
        at: The time it was queued.
    """

    key: str
    run: str
    chat: ChatKey
    message: OutboundMessage
    origin: Origin | None
    message_id: str | None = None
    state: PostState = PostState.PENDING
    unknown: int = 0
    at: float = 0.0

    def __post_init__(self) -> None:
        """Leave out buttons that say words, unless it is clean: the words of others are not those of who presses."""
        rows = self.message.buttons
        if rows and not (self.origin or CLEAN).is_clean and not all(gives_command(each) for each in sum(rows, ())):
            kept = (tuple(each for each in row if gives_command(each)) for row in rows)
            message = self.message.model_copy(update={"buttons": tuple(filter(None, kept))})
            force_setattr(self, "message", message)

    @property
    def origin_line(self) -> str | None:
        return None if self.origin is None else self.origin.line

    def of_earlier_start(self) -> "Post":
        """Return the post as left by an earlier process start.

        Its first attempt may have been made, as it begins before it is recorded; later attempts are recorded first.
        """
        return replace(self, state=PostState.SENDING, unknown=max(self.unknown, 1))

    @property
    def is_progress(self) -> bool:
        """True if it shows the progress of a run. It may be lost and is never sent as a new message."""
        return ":progress:" in self.key

    @property
    def is_removal(self) -> bool:
        """True if it deletes the progress message. If the platform refuses that, its text replaces the message."""
        return self.key.endswith(f":progress:{GONE}")

    @property
    def is_unprompted(self) -> bool:
        """True if it is not the answer to a message."""
        return ":proactive:" in self.key

    @property
    def is_offer(self) -> bool:
        """True if it offers to show another post again."""
        return ":offer:" in self.key

    @property
    def is_awaited(self) -> bool:
        """True if it answers somebody, who is offered it again if its chat has refused it."""
        return any(f":{slot}:" in self.key for slot in ("answer", "error", "reply"))

    @property
    def is_of_stranger(self) -> bool:
        """True if it shows owners the words of somebody who may not speak here; no model may read them."""
        return STRANGER in self.key

    @property
    def is_question(self) -> bool:
        """True if it asks for an approval."""
        return ":ask:" in self.key

    def has_button(self, action: str) -> bool:
        choice, form = self.message.choice, self.message.form
        is_entry = (choice is not None and choice.offers(action)) or (form is not None and form.action == action)
        return is_entry or any(button.action == action for row in self.message.buttons for button in row)

    def is_bare_picture_of(self, session: str) -> bool:
        """Return True if a tool sent it in this session as one picture without text (not a report's or task's)."""
        files = self.message.attachments
        is_picture = len(files) == 1 and files[0].is_image and self.key.startswith(f"{session}:file:")
        return is_picture and not self.message.markdown and not self.message.buttons

    @property
    def may_read_otherwise(self) -> bool:
        """True if an earlier attempt may have had another text: an answered question has lost its buttons."""
        return self.is_question and not self.message.buttons


class Offered(Struct, frozen=True):
    """An outbound message that asks for a yes."""

    post: Post
    said_at: float | None
    """The time at which it got its current text, by the platform's clock; None if it may not have arrived."""


class Chat(Struct, frozen=True):
    """A chat's session and settings."""

    key: ChatKey
    session: str
    language: str | None = None
    zone: str | None = None
    """An IANA name."""
