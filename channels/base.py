"""The interface of a channel: inbound events, outbound messages, and the limits of a platform.

A channel translates a platform's events and messages; it knows nothing of the rest of Parley.
"""

from collections.abc import Awaitable, Callable, Sequence
from enum import StrEnum
from typing import Annotated, Literal, Protocol, runtime_checkable

from pydantic import Field

from channels.attachments import Attachment
from channels.limits import Limits
from channels.values import Known, Text, Value


class ChatKey(Value):
    """The address of a conversation, printed as `telegram:42:-1001:7`; a thread or topic is a chat of its own."""

    platform: str
    account: str  # workspace, guild or bot
    chat: str
    thread: str | None = None

    def __str__(self) -> str:
        parts = [self.platform, self.account, self.chat]
        return ":".join([*parts, self.thread] if self.thread is not None else parts)

    @classmethod
    def parse(cls, printed: str) -> "ChatKey":
        """Parse the output of `str`. Raises ValueError for anything else."""
        platform, account, chat, *thread = printed.split(":", 3)
        return cls(platform=platform, account=account, chat=chat, thread=thread[0] if thread else None)


class Sender(Value):
    """The author of an event. Decisions use the platform's stable `id`; the name is only displayed."""

    id: str
    name: Text
    is_bot: bool = False
    language: str | None = None
    """IETF language tag of the sender's client, where the platform sends one."""


class Addressed(StrEnum):
    """Relation of a message to the bot."""

    DIRECT = "direct"
    """Sent in a private chat, where every message is for the bot."""
    MENTION = "mention"
    REPLY = "reply"
    """A reply to one of the bot's messages."""
    AMBIENT = "ambient"
    """Sent in a group without mentioning the bot."""


class _Inbound(Value):
    event_id: str
    """Key for deduplication: a redelivered event has the same id, also after a restart."""
    chat: ChatKey
    sender: Sender
    at: float
    """Time of the event in seconds since the epoch, by the platform's clock."""
    addressed: Addressed = Addressed.DIRECT


class _Said(_Inbound):
    message_id: str
    text: Text
    """The text without mentions of the bot."""
    shared: Text = ""
    """Text by others that the message carries: a forwarded message or the preview of a link."""

    @property
    def words(self) -> str:
        """Return all text that readers of the message see."""
        return "\n".join(filter(None, (self.text, self.shared)))


class MessageReceived(_Said):
    type: Literal["message"] = "message"
    attachments: tuple[Attachment, ...] = ()
    reply_to: str | None = None
    quoted: Text | None = None
    """Text of the message that this one replies to, or the quoted part of it, with its author's name."""


class MessageEdited(_Said):
    type: Literal["edited"] = "edited"


class MessageDeleted(_Inbound):
    type: Literal["deleted"] = "deleted"
    message_id: str


class ButtonPressed(_Inbound):
    type: Literal["button"] = "button"
    message_id: str
    action: Text
    respond: str | None = None
    """Response address as in `CommandInvoked`, if the message can be changed only through it."""


class CommandInvoked(_Inbound):
    """One of Parley's commands, typed or chosen from the platform's menu."""

    type: Literal["command"] = "command"
    message_id: str
    name: str
    arguments: Text = ""
    respond: str | None = None
    """Response address in the platform's own terms, valid for minutes; None to answer with a message in the chat."""
    slash: str | None = None
    """Command prefix in this place, if it is not `Limits.slash`."""


class ReactionAdded(_Inbound):
    type: Literal["reaction"] = "reaction"
    message_id: str
    emoji: Text


class ScheduleFired(_Inbound):
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
    """True if untrusted input may have influenced the report; `sources` lists where it came from."""
    sources: tuple[Text, ...] = ()
    reply_to: str | None = None


InboundEvent = Annotated[
    MessageReceived
    | MessageEdited
    | MessageDeleted
    | ButtonPressed
    | CommandInvoked
    | ReactionAdded
    | ScheduleFired
    | TaskEnded,
    Field(discriminator="type"),
]


class Accepted(StrEnum):
    """The outcome of an event. After each of them the event may be acknowledged to the platform."""

    NEW = "new"
    DUPLICATE = "duplicate"
    REFUSED = "refused"
    """The sender is not allowed to use the bot here."""
    IGNORED = "ignored"
    """Not for the bot: empty, from another bot, or ambient conversation."""


Inbox = Callable[[InboundEvent], Awaitable[Accepted]]
"""Returns once the event is stored or deliberately dropped. If it raises, the event must not be acknowledged."""


class NotTakenIn(Exception):
    """Raised by an `Inbox` that cannot store events, for example because the disk is full; redelivery is welcome."""


class Button(Value):
    label: Text
    action: str
    """At most 64 bytes of UTF-8, Telegram's limit."""
    style: Literal["plain", "primary", "quiet"] = "plain"
    """Visual emphasis, where the platform supports it."""
    says: Literal["yes", "no"] | None = None
    """Plain word that presses the button as a reply, if the message asks a question."""


class OutboundMessage(Value):
    """A message to a chat; `markdown` is GitHub-flavoured."""

    markdown: Text
    buttons: tuple[tuple[Button, ...], ...] = ()  # rows
    attachments: tuple[Attachment, ...] = ()
    reply_to: str | None = None
    silent: bool = False
    respond: str | None = None
    """The `respond` of the command or press that this answers. After it expires, an ordinary message is sent."""
    asks: str | None = None
    """Id of the user whose yes or no the message asks for."""
    reasoning: Text = ""
    """The model's reasoning as Markdown; shown only where `Limits.folds_reasoning`."""


class Posted(Value):
    """A message of the bot that the platform has stored."""

    chat: ChatKey
    message_id: str
    at: float | None = None
    """Time of posting in seconds since the epoch by the platform's clock; None where the platform does not tell."""


class CommandSpec(Value):
    """A slash command as shown in a platform's menu."""

    name: str
    description: dict[str, str]
    """Descriptions by language: `{"en": ..., "zh": ...}`."""
    arguments: str = ""  # usage hint, such as `[en|zh]`


class ChannelError(Exception):
    """A call that the platform refused or did not answer. `retry_after` is the wait it asks for, in seconds;
    `permanent`: a retry is useless; `ambiguous`: the call may have had its effect although no answer came."""

    def __init__(
        self, reason: str, *, retry_after: float | None = None, permanent: bool = False, ambiguous: bool = False
    ) -> None:
        super().__init__(reason)
        self.reason = reason
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
    """One account on a platform. A channel may also implement the optional protocols below."""

    name: str
    limits: Limits

    async def run(self, inbox: Inbox, commands: Sequence[CommandSpec]) -> None:
        """Pass every event to `inbox` until cancelled; acknowledge it to the platform only after `inbox` returned.

        Survives network failures. Raises a permanent ChannelError if a person must act, as for a wrong token.
        """

    async def send(self, chat: ChatKey, message: OutboundMessage, key: str) -> Posted:
        """Post one message; `key` stays the same when a send is retried. Raises ChannelError."""

    async def edit(self, posted: Posted, message: OutboundMessage) -> None:
        """Replace the content of a message; succeeds if it is unchanged. Raises ChannelError."""

    def split(self, message: OutboundMessage) -> tuple[OutboundMessage, ...]:
        """Split a message into as many as the platform needs. Pure and deterministic."""

    def is_group(self, chat: ChatKey) -> bool:
        """Return True if several people may read the chat."""

    async def close(self) -> None:
        """Close all connections; nothing is sent afterwards."""


@runtime_checkable
class ShowsTyping(Protocol):
    async def typing(self, chat: ChatKey) -> bool:
        """Show a typing indicator for `limits.typing_every` or slightly longer. Returns False if the rate limit leaves
        no room for it now. Raises ChannelError."""


@runtime_checkable
class Downloads(Protocol):
    async def download(self, attachment: Attachment) -> bytes:
        """Return the content of a received file. Raises ChannelError, a permanent one if it is too large."""


@runtime_checkable
class FindsSent(Protocol):
    """For platforms without idempotency keys whose history can be searched for a message that was sent."""

    async def find_sent(self, chat: ChatKey, message: OutboundMessage, key: str, known: Known) -> Posted | None:
        """Return the message that an earlier `send` with this key made, or None. Raises ChannelError."""


@runtime_checkable
class ReadsHistory(Protocol):
    async def history(
        self, chat: ChatKey, *, after: str | None = None, before: str | None = None, most: int = 20
    ) -> Sequence[MessageReceived | CommandInvoked]:
        """Return the newest `most` messages of others in a chat, oldest first, as `run` would deliver them and with the
        same event ids; other bots' messages are included. The message ids `after` and `before` are exclusive bounds.
        For a chat with threads, only messages outside of threads are returned. Raises ChannelError."""


@runtime_checkable
class CatchesUp(ReadsHistory, Protocol):
    """For platforms that do not redeliver messages sent while nothing was listening."""

    async def gap(self) -> None:
        """Return whenever listening has started again and messages may have been missed."""

    async def said_since(self, chat: ChatKey, since: float) -> Sequence[MessageReceived | CommandInvoked]:
        """Return all messages of others in a chat since that time, as `history` does. Raises ChannelError."""


@runtime_checkable
class FindsPrivateChats(Protocol):
    async def private_chat(self, person: str) -> ChatKey:
        """Return the private chat with a user, by platform id, even if it is empty. Raises ChannelError."""


@runtime_checkable
class ClosesCommands(Protocol):
    """For platforms that show a command as pending until told otherwise."""

    async def close_command(self, chat: ChatKey, respond: str) -> None:
        """Mark a command as done without answering it. Raises ChannelError."""


@runtime_checkable
class Deletes(Protocol):
    async def delete(self, posted: Posted) -> None:
        """Delete a message of the bot. Raises ChannelError."""
