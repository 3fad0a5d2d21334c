"""The interface of a channel: events, messages, errors, and the protocols that a platform implements."""

from collections.abc import Awaitable, Callable, Sequence
from enum import StrEnum
from typing import Annotated, Literal, Protocol

from msgspec import Struct
from pydantic import Field

from channels.attachments import Attachment
from channels.buttons import Action, Choice, Entry
from channels.commands import CommandSpec, Form, Suggestion, Typed
from channels.limits import Limits
from channels.unread import Unread
from channels.values import CallRow, Standing, Text, Value, told


class ChatKey(Value):
    """The address of a conversation, printed as `telegram:42:-1001:7`; a thread or topic is a chat of its own."""

    platform: str
    account: str  # workspace, guild or bot
    chat: str
    thread: str | None = None

    def __str__(self) -> str:
        whole = f"{self.platform}:{self.account}:{self.chat}"
        return whole if self.thread is None else f"{whole}:{self.thread}"

    @property
    def without_thread(self) -> "ChatKey":
        """The channel, group or private chat of a thread; the chat itself if it is none."""
        return self if self.thread is None else self.model_copy(update={"thread": None})

    @classmethod
    def parse(cls, printed: str) -> "ChatKey":
        """Parse the output of `str`. Raises ValueError for anything else."""
        platform, account, chat, *thread = printed.split(":", 3)
        return cls(platform=platform, account=account, chat=chat, thread=thread[0] if thread else None)


class Sender(Value):
    """The author of an event. Decisions use the stable `id`; the name is displayed, `zone` is an IANA time zone."""

    id: str
    name: Text
    is_bot: bool = False
    language: Text | None = None
    """IETF language tag of what the sender writes, or of their client, where the platform sends one."""
    zone: Text | None = None
    standing: Standing | None = None
    """None if the event did not tell."""


class Addressed(StrEnum):
    """Relation of a message to the bot."""

    DIRECT = "direct"  # sent in a private chat, where every message is for the bot
    MENTION = "mention"
    REPLY = "reply"  # to one of the bot's messages
    AMBIENT = "ambient"  # sent in a group without mentioning the bot


class _Inbound(Value):
    """Fields that all inbound events share."""

    event_id: str
    """Key for deduplication: a redelivered event has the same id, also after a restart."""
    chat: ChatKey
    sender: Sender
    at: float
    """Time of the event in seconds since the epoch, by the platform's clock."""
    addressed: Addressed = Addressed.DIRECT
    group: Text = ""
    """Name of the group or channel, where the platform tells it. It is only displayed: anybody may take any name."""
    named: tuple[Sender, ...] = ()
    """Those whose names the platform has put into the text, for mentions; without an id if it is no person."""


class _WithText(_Inbound):
    """A message of a user."""

    message_id: str
    text: Text
    """The text without mentions of the bot."""
    shared: Text = ""
    """Text by others that the message carries: a forwarded message or the preview of a link."""

    @property
    def words(self) -> str:
        """Return all text that readers of the message see."""
        return "\n".join(filter(None, (self.text, self.shared)))


class MessageReceived(_WithText):
    """A user sent a message."""

    type: Literal["message"] = "message"
    attachments: tuple[Attachment, ...] = ()
    reply_to: str | None = None
    quoted: Text | None = None
    """Text of the message that this one replies to, or the quoted part of it, with its author's name."""
    unread: tuple[Unread, ...] = ()
    """The kinds of content in it that cannot be read."""

    def as_command(self, name: str, arguments: str) -> "CommandInvoked":
        """Return the command that the text of this message is."""
        return CommandInvoked(
            event_id=self.event_id,
            chat=self.chat,
            sender=self.sender,
            at=self.at,
            addressed=self.addressed,
            group=self.group,
            named=self.named,
            message_id=self.message_id,
            name=name,
            arguments=arguments,
            attachments=self.attachments,
            reply_to=self.reply_to,
        )


class MessageEdited(_WithText):
    """A user edited a message; the event has its new text."""

    type: Literal["edited"] = "edited"

    @property
    def new_words(self) -> dict[str, object]:
        """The fields of the message that it changes."""
        return {"text": self.text, "named": self.named, **({"shared": self.shared} if self.shared else {})}


class MessageDeleted(_Inbound):
    """A user or a moderator deleted a message."""

    type: Literal["deleted"] = "deleted"
    message_id: str


class ButtonPressed(_Inbound):
    """A user pressed a button of one of the bot's messages."""

    type: Literal["button"] = "button"
    message_id: str
    action: Text
    respond: str | None = None
    """Response address as in `CommandInvoked`, if the message can be changed only through it."""
    whisper: str | None = None
    """Response address for an answer that only this user sees, where the platform has such answers."""
    by_word: bool = False
    """The user wrote the answer instead, so that the outcome is a new message below it."""


class CommandInvoked(_Inbound):
    """One of Parley's commands, typed or chosen from the platform's menu."""

    type: Literal["command"] = "command"
    message_id: str
    name: str
    arguments: Text = ""
    attachments: tuple[Attachment, ...] = ()
    respond: str | None = None
    """Response address in the platform's own terms, valid for minutes; None to answer with a message in the chat."""
    reply_to: str | None = None
    """The message that it is a reply to."""
    slash: str | None = None
    """Command prefix in this place, if it is not `Limits.slash`."""


class ReactionAdded(_Inbound):
    """A user reacted to a message."""

    type: Literal["reaction"] = "reaction"
    message_id: str
    emoji: Text


class ReactionRemoved(_Inbound):
    """A user took a reaction to a message back."""

    type: Literal["reaction_removed"] = "reaction_removed"
    message_id: str
    emoji: Text


class RequestMade(_Inbound):
    """A request that is no message, such as an upload or a view of the page. It is authorised and not stored."""

    type: Literal["request"] = "request"
    what: Literal["upload", "download", "page"]


class ScheduleFired(_Inbound):
    """A scheduled job is due."""

    type: Literal["schedule"] = "schedule"
    job: str
    slot: str


class TaskEnded(_Inbound):
    """A background task has ended; the sender is the user for whom it ran."""

    type: Literal["task"] = "task"
    task_id: str
    outcome: Literal["completed", "failed", "cancelled", "killed"]
    prompt: Text
    report: Text
    untrusted: bool
    """True if the report is not of the person's own words alone; `sources` lists the untrusted input in it."""
    sources: tuple[Text, ...] = ("unknown",)  # in news that an earlier version has stored
    reply_to: str | None = None


class ChatMoved(_Inbound):
    """The platform gave a chat another id. It says so itself; no member of the chat can."""

    type: Literal["moved"] = "moved"
    message_id: str = ""
    to: ChatKey
    """The chat as it is named from now on."""
    keeps_messages: bool = False
    """True if its messages have the same ids there."""


InboundEvent = Annotated[
    MessageReceived
    | MessageEdited
    | MessageDeleted
    | ButtonPressed
    | CommandInvoked
    | ReactionAdded
    | ReactionRemoved
    | RequestMade
    | ScheduleFired
    | TaskEnded
    | ChatMoved,
    Field(discriminator="type"),
]
"""All that comes in."""


class Accepted(StrEnum):
    """The outcome of an event. After each of them the event may be acknowledged to the platform."""

    NEW = "new"
    DUPLICATE = "duplicate"
    REFUSED = "refused"  # the sender is not allowed to use the bot here
    PERMITTED = "permitted"  # a request that may be served
    IGNORED = "ignored"  # not for the bot: empty, from another bot, or ambient conversation


Inbox = Callable[[InboundEvent], Awaitable[Accepted]]
"""Returns once the event is stored or dropped. If it raises, the platform gets no acknowledgement; see `NotTakenIn`."""


class NotTakenIn(Exception):
    """Raised by an `Inbox` that cannot store events, for example because the disk is full; redelivery is welcome."""


class Button(Value):
    """A button below a message."""

    label: Text
    action: Action
    style: Literal["plain", "primary", "quiet", "danger", "rating"] = "plain"
    """Visual emphasis, where supported: `danger` if it cannot be undone, `rating` for a pair that praises or blames."""
    says: Literal["yes", "no"] | None = None
    """Plain word that presses the button as a reply, if the message asks a question."""


class OutboundMessage(Value):
    """A message to a chat; `markdown` is GitHub-flavoured."""

    markdown: Text
    buttons: tuple[tuple[Button, ...], ...] = ()  # rows
    choice: Choice | None = None
    trouble: Text = ""  # the part of the text that tells of a failed run
    form: Entry | None = None  # a button that opens the form of its command, where the platform has forms
    attachments: tuple[Attachment, ...] = ()
    reply_to: str | None = None
    silent: bool = False
    respond: str | None = None
    """The `respond` of the command or press that this answers. After it expires, an ordinary message is sent."""
    asks: str | None = None  # id of the user whose yes or no the message asks for
    reasoning: Text = ""
    """The model's reasoning as Markdown; shown only where `Limits.folds_reasoning`."""
    forget: str = ""  # a part of the text that is not kept once the message has arrived, such as a code
    calls: tuple[CallRow, ...] = ()  # of the run, oldest first; given only where `Limits.shows_calls`


class Posted(Value):
    """A message of the bot that the platform has stored."""

    chat: ChatKey
    message_id: str
    at: float | None = None  # seconds since the epoch by the platform's clock; None where it does not tell
    further: tuple[str, ...] = ()  # ids of what else the same send posted, as the later pictures of an album


async def _no_suggestions(chat: ChatKey, sender: Sender, typed: Typed) -> Sequence[Suggestion]:
    return ()


class Menu(Struct, frozen=True):
    """The commands that a platform offers. Without any, those that it offers already stay as they are."""

    commands: tuple[CommandSpec, ...] = ()
    suggest: Callable[[ChatKey, Sender, Typed], Awaitable[Sequence[Suggestion]]] = _no_suggestions
    """Returns values for an argument that contain what was typed; none for those who may not use the command."""
    form: Callable[[ChatKey, Sender, str], Awaitable[Form | None]] | None = None  # for a command that was begun


class ChannelError(Exception):
    """A call that the platform refused or did not answer.

    Attributes:
        reason: One sentence for people and for the log.
        retry_after: The wait that the platform asks for, in seconds; None if it does not say.
        permanent: A retry is useless.
        ambiguous: The call may have had its effect although no answer came.
    """

    def __init__(
        self, reason: str, *, retry_after: float | None = None, permanent: bool = False, ambiguous: bool = False
    ) -> None:
        super().__init__(reason)
        self.reason = told(reason)
        self.retry_after = retry_after
        self.permanent = permanent
        self.ambiguous = ambiguous


class AccountRefused(ChannelError):
    """The platform rejects the account, such as a revoked token. Unsent messages wait until the user repairs it."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason, permanent=True)


class MessageGone(ChannelError):
    """The message to edit no longer exists or is too old to be edited."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason, permanent=True)


class EditsRefused(MessageGone):
    """The message exists, but the platform refuses this edit and most likely all later ones."""


class Channel(Protocol):
    """One account on a platform. A channel may also implement protocols of `channels/capabilities.py`."""

    name: str
    limits: Limits

    async def run(self, inbox: Inbox, menu: Menu) -> None:
        """Pass every event to `inbox` until cancelled, reconnecting after network failures.

        Args:
            inbox: Receives the events. An event is acknowledged to the platform only after it returned.
            menu: The commands to register in the platform's menu.

        Raises:
            ChannelError: A permanent one, if the user must act, as for a wrong token.
        """

    async def send(self, chat: ChatKey, message: OutboundMessage, key: str) -> Posted:
        """Post one message.

        Args:
            chat: The chat to post to.
            message: One of the parts that `split` returned.
            key: Idempotency key, which stays the same when a send is retried.

        Raises:
            ChannelError: The message was not posted or, if `ambiguous`, perhaps it was.
        """

    async def edit(self, posted: Posted, message: OutboundMessage) -> None:
        """Replace the content of a message. Succeeds if the content is unchanged.

        Raises MessageGone if the message no longer exists or cannot be edited any more, and ChannelError.
        """

    def split(self, message: OutboundMessage) -> tuple[OutboundMessage, ...]:
        """Split a message into parts that respect the platform's limits; pure and deterministic.

        Returns at least one part, in order; only the first is a reply.
        """

    def is_group(self, chat: ChatKey) -> bool:
        """Return True if several people may read the chat."""

    async def close(self) -> None:
        """Close all connections; nothing is sent afterwards."""
