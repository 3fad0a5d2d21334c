"""What a channel is: the events it brings, the messages it carries, and what its platform allows.

A channel turns a platform's events into ours and our messages into the platform's. It knows nothing else.
"""

from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from enum import StrEnum
from pathlib import PurePosixPath
from typing import Annotated, Literal, Protocol, runtime_checkable

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field


def clean(text: object) -> object:
    """Join surrogate pairs and replace lone surrogates, which platforms' JSON may hold and nothing else can carry."""
    if isinstance(text, str) and not text.isascii():
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


Text = Annotated[str, BeforeValidator(clean)]

IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""What models and browsers show; none of them can hold a script, as SVG can."""


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ChatKey(_Value):
    """Where a conversation happens; a thread or topic is a chat of its own. Printed `telegram:42:-1001:7`."""

    platform: str
    account: str
    """Workspace, guild or bot id."""
    chat: str
    thread: str | None = None

    def __str__(self) -> str:
        parts = [self.platform, self.account, self.chat]
        return ":".join([*parts, self.thread] if self.thread is not None else parts)

    @classmethod
    def parse(cls, printed: str) -> "ChatKey":
        """Raises ValueError for anything that `str` of a key did not print."""
        platform, account, chat, *thread = printed.split(":", 3)
        return cls(platform=platform, account=account, chat=chat, thread=thread[0] if thread else None)


class Sender(_Value):
    """Who acts; `id` is the platform's stable one and decides everything, the name is only shown."""

    id: str
    name: Text
    is_bot: bool = False
    language: str | None = None
    """What the person's client is set to, an IETF tag, where the platform tells."""


class Addressed(StrEnum):
    """How a message concerns us."""

    DIRECT = "direct"
    """A private chat: everything said is said to us."""
    MENTION = "mention"
    REPLY = "reply"
    """A reply to one of our messages."""
    AMBIENT = "ambient"
    """Said in a group without naming us."""


class Attachment(_Value):
    """A file that came with a message, or goes with one.

    Coming: `reference` is what the channel's `download` takes. Going: `path` names a file that exists.
    """

    name: Text
    mime_type: str = "application/octet-stream"
    size: int | None = None
    """Bytes, where the platform tells."""
    reference: str = ""
    path: str = ""

    @property
    def is_image(self) -> bool:
        return self.mime_type in IMAGES

    @property
    def safe_name(self) -> str:
        """The last component without anything that a file system or a terminal would act on; never empty."""
        name = PurePosixPath(self.name.replace("\\", "/").replace("\0", "")).name
        kept = "".join(char for char in name if char.isprintable()).strip(" .")
        return kept.encode()[-120:].decode(errors="ignore") or "file"


class _Inbound(_Value):
    event_id: str
    """What dedupes: the same event delivered again has the same id, in this run and in every later one."""
    chat: ChatKey
    sender: Sender
    at: float
    """When it happened, seconds since the epoch, as the platform tells."""
    addressed: Addressed = Addressed.DIRECT


class MessageReceived(_Inbound):
    type: Literal["message"] = "message"
    text: Text
    """Without the mention of us."""
    message_id: str
    attachments: tuple[Attachment, ...] = ()
    reply_to: str | None = None
    quoted: Text | None = None
    """The words of the message replied to, or the part of it that was quoted, with their speaker."""
    shared: Text = ""
    """Words of others that it brings: a message that is passed on, what a link's preview says."""

    @property
    def words(self) -> str:
        """All that people read in it."""
        return "\n".join(filter(None, (self.text, self.shared)))


class MessageEdited(_Inbound):
    type: Literal["edited"] = "edited"
    message_id: str
    text: Text


class MessageDeleted(_Inbound):
    type: Literal["deleted"] = "deleted"
    message_id: str


class ButtonPressed(_Inbound):
    type: Literal["button"] = "button"
    message_id: str
    action: Text
    respond: str | None = None
    """As a command's, where the message can be rewritten by that alone."""


class CommandInvoked(_Inbound):
    """A command of our table, whether typed or picked from a platform's menu."""

    type: Literal["command"] = "command"
    message_id: str
    name: str
    arguments: Text = ""
    respond: str | None = None
    """Where the platform wants the answer, in its own terms and for minutes only; None: in the chat, as a message."""
    slash: str | None = None
    """What commands begin with where this one was given, if not with `Limits.slash`."""


class ReactionAdded(_Inbound):
    type: Literal["reaction"] = "reaction"
    message_id: str
    emoji: Text


class ScheduleFired(_Inbound):
    type: Literal["schedule"] = "schedule"
    job: str
    slot: str


class TaskEnded(_Inbound):
    """Work of ours beside the conversation has come to its end; the sender is for whom it was done."""

    type: Literal["task"] = "task"
    task_id: str
    outcome: Literal["completed", "failed", "cancelled", "killed"]
    prompt: Text
    report: Text
    untrusted: bool
    """Whether strangers may have had a word in the report."""
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
    """What became of an event; in every case it is safe to tell the platform that it arrived."""

    NEW = "new"
    DUPLICATE = "duplicate"
    REFUSED = "refused"
    """The sender may not speak here."""
    IGNORED = "ignored"
    """Nothing for us: empty, a bot's, or ambient talk."""


Inbox = Callable[[InboundEvent], Awaitable[Accepted]]
"""Returns when the event is on disk or on purpose dropped; raises when neither, and then nothing may be acked."""


class NotTakenIn(Exception):
    """What an `Inbox` raises while it can keep nothing, because the disk is full, say; the event may come again."""


class Button(_Value):
    label: Text
    action: str
    """At most 64 bytes of UTF-8, Telegram's limit."""


class OutboundMessage(_Value):
    """One message to people; `markdown` is GitHub's kind, the only inner form."""

    markdown: Text
    buttons: tuple[tuple[Button, ...], ...] = ()
    """Rows."""
    attachments: tuple[Attachment, ...] = ()
    reply_to: str | None = None
    silent: bool = False
    respond: str | None = None
    """The `respond` of the command or press that this answers. Where it has run out, a message in the chat does too."""


class Posted(_Value):
    """A message of ours that a platform has."""

    chat: ChatKey
    message_id: str


class Limits(_Value):
    """What a platform allows, as values."""

    max_text: int
    """Longest text of one message, in the platform's own units, after conversion."""
    edit_every: timedelta = timedelta(seconds=1)
    """Between two calls to one chat, where a platform bears that pace for any length of time."""
    edit_every_in_groups: timedelta = timedelta(seconds=1)
    burst: int = 3
    """How many calls a chat may make at once after a rest."""
    threads_share_pace: bool = True
    """Whether the threads of a chat are counted together."""
    calls_per_second: float = 1000.0
    """How many calls the platform allows over all chats."""
    edits_per_minute: float | None = None
    """How many edits it allows over all chats, where it counts them apart."""
    slash: str = "/"
    """What people type before the name of a command."""
    keeps_keys: bool = False
    """Whether a second send with the same key brings back the message that the first has made."""
    is_local: bool = False
    """Whether only the person at this machine can reach it, so that whoever speaks there is the owner."""
    hides_private_chats: bool = False
    """Whether nothing tells of the first words in a new private chat, so that they are to be looked for after a gap."""
    forgets: bool = False
    """Whether what it has shown is gone when Parley starts again."""
    max_upload: int = 50 * 1024 * 1024
    """Bytes."""
    typing_every: timedelta = timedelta(seconds=4)
    """How often a typing sign must be renewed to stay."""


class CommandSpec(_Value):
    """One slash command as a platform's menu shows it."""

    name: str
    description: dict[str, str]
    """By language: `{"en": ..., "zh": ...}`."""
    arguments: str = ""
    """What may follow the name, for people: `[en|zh]`."""


class ChannelError(Exception):
    """A platform refused or did not answer.

    `retry_after` (seconds) is set where it says when to try again; `permanent` means that trying again is useless;
    `ambiguous` means that the call may have had its effect although no answer came.
    """

    def __init__(
        self, reason: str, *, retry_after: float | None = None, permanent: bool = False, ambiguous: bool = False
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.retry_after = retry_after
        self.permanent = permanent
        self.ambiguous = ambiguous


class AccountRefused(ChannelError):
    """The platform lets us in no more, because the token was revoked, say: a person has to act, and what could not be
    sent is sent afterwards."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason, permanent=True)


class MessageGone(ChannelError):
    """The message to edit does not exist any more, or is too old to be edited."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason, permanent=True)


class Channel(Protocol):
    """One platform account. Further powers are the small protocols below, which a channel may also satisfy."""

    name: str
    limits: Limits

    async def run(self, inbox: Inbox, commands: Sequence[CommandSpec]) -> None:
        """Hand every event to `inbox` until cancelled; ack the platform only after `inbox` returned.

        Survives everything the network does; raises `ChannelError` with `permanent` for what needs a person (a wrong
        token)."""

    async def send(self, chat: ChatKey, message: OutboundMessage, key: str) -> Posted:
        """Post one message; `key` is the same when a send is tried again. Raises ChannelError."""

    async def edit(self, posted: Posted, message: OutboundMessage) -> None:
        """Make the message read so; one that reads so already is a success. Raises ChannelError."""

    def split(self, message: OutboundMessage) -> tuple[OutboundMessage, ...]:
        """The same in as many messages as the platform needs; pure, and the same whenever it is asked."""

    def is_group(self, chat: ChatKey) -> bool:
        """Whether more people than one may read there."""

    async def close(self) -> None:
        """Give back connections; nothing is sent after."""


@runtime_checkable
class ShowsTyping(Protocol):
    async def typing(self, chat: ChatKey) -> None:
        """Show that an answer is on its way, for `limits.typing_every` or a little longer. Raises ChannelError."""


@runtime_checkable
class Downloads(Protocol):
    async def download(self, attachment: Attachment) -> bytes:
        """The bytes of a file that came in. Raises ChannelError, permanent where it is too large."""


@runtime_checkable
class FindsSent(Protocol):
    """For platforms that have no idempotency key, but let one look for what was sent."""

    async def find_sent(self, chat: ChatKey, message: OutboundMessage, key: str) -> Posted | None:
        """The message that an earlier `send` with this key made, if it did. Raises ChannelError."""


@runtime_checkable
class ReadsHistory(Protocol):
    async def history(
        self, chat: ChatKey, *, after: str | None = None, before: str | None = None, most: int = 20
    ) -> Sequence[MessageReceived | CommandInvoked]:
        """What others than us said in a chat, oldest first: the newest `most` of it, as `run` would have brought it,
        with the same event ids; other bots' words too. `after` and `before` are message ids that are left out
        themselves; of a chat that has threads, only what stands outside of them. Raises ChannelError."""


@runtime_checkable
class CatchesUp(ReadsHistory, Protocol):
    """For platforms that do not deliver again what was said while nobody listened, or not for long."""

    async def gap(self) -> None:
        """Return each time that the platform is listened to anew and may have said something meanwhile: after a start,
        and whenever a connection could not be taken up where it broke. To be awaited again each time."""


@runtime_checkable
class FindsPrivateChats(Protocol):
    async def private_chat(self, person: str) -> ChatKey:
        """Where a person, by the platform's id, writes to us, whether they have done so or not. Raises ChannelError."""


@runtime_checkable
class ClosesCommands(Protocol):
    """For platforms that show that a command is being obeyed until they are told otherwise."""

    async def close_command(self, chat: ChatKey, respond: str) -> None:
        """The command was obeyed, and nothing is to be said to it. Raises ChannelError."""


@runtime_checkable
class Deletes(Protocol):
    async def delete(self, posted: Posted) -> None:
        """Take a message of ours away. Raises ChannelError."""
