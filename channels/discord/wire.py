"""The used parts of Discord's payloads, as Discord sends them. All other fields are ignored."""

from typing import Annotated

from pydantic import (
    AwareDatetime,
    BeforeValidator,
    Field,
    JsonValue,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)

from channels.values import Text, Wire, parse

Snowflake = Annotated[str, Field(pattern=r"^[0-9]{1,20}$")]
"""An id; later ones are larger."""

DEFAULT, REPLY, THREAD_STARTER = 0, 19, 21
"""Types of messages."""
SYSTEM = frozenset((*range(1, 19), *range(20, 33), *range(36, 40), 44, 46))
"""Types of messages that tell of an event, apart from bots' responses. People may write those of any newer type."""
FORWARD = 1
"""Type of a message reference."""
EPHEMERAL = 1 << 6
"""Flag of a message that is visible to one user, and only temporarily."""
THREADS = frozenset((10, 11, 12))
"""Channel types of threads."""
COMMAND, COMPONENT, COMPLETION = 2, 3, 4
"""Types of interactions."""
ATTACHED = 11
"""Type of an option that is a file."""


def _strings(value: object) -> object:
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


def _or_none(value: object, read: ValidatorFunctionWrapHandler) -> object:
    try:
        return read(value)
    except ValidationError:
        return None


_Forgiving = WrapValidator(_or_none)
"""Reads content of an unexpected shape as None: such a message is told to be unreadable instead of being lost."""


def _readable(kind: type[Wire]) -> BeforeValidator:
    """Read a list of which a part of an unexpected shape drops only itself."""

    def read(value: object) -> object:
        parts = value if isinstance(value, list | tuple) else ()
        return tuple(part for each in parts if (part := parse(kind, each)) is not None)

    return BeforeValidator(read)


class User(Wire):
    id: Snowflake
    username: Text = ""
    global_name: Text | None = None
    bot: bool = False

    @property
    def name(self) -> str:
        return self.global_name or self.username or self.id


class Member(Wire):
    """A member of a server."""

    nick: Text | None = None
    user: User | None = None
    roles: Annotated[tuple[str, ...], BeforeValidator(_strings)] = ()


class File(Wire):
    id: Snowflake
    filename: Text = ""
    content_type: str | None = None
    size: int | None = None
    url: str = ""
    duration_secs: float | None = None
    waveform: str | None = None
    """Set for voice messages."""


class Named(Wire):
    name: Text | None = None


class Author(Wire):
    name: Text | None = None
    url: str | None = None


class Media(Wire):
    url: str | None = None


class EmbedField(Wire):
    name: Text = ""
    value: Text = ""


class EmbedFooter(Wire):
    text: Text = ""


class Embed(Wire):
    title: Text | None = None
    description: Text | None = None
    url: str | None = None
    author: Annotated[Author | None, _Forgiving] = None
    image: Annotated[Media | None, _Forgiving] = None
    video: Annotated[Media | None, _Forgiving] = None
    thumbnail: Annotated[Media | None, _Forgiving] = None
    fields: Annotated[tuple[EmbedField, ...], _readable(EmbedField)] = ()
    footer: Annotated[EmbedFooter | None, _Forgiving] = None


class PollText(Wire):
    text: Text | None = None


class PollAnswer(Wire):
    poll_media: PollText = PollText()


class Poll(Wire):
    question: PollText = PollText()
    answers: tuple[PollAnswer, ...] = ()


class Content(Wire):
    """Content of a message or of a forwarded one."""

    content: Text = ""
    attachments: Annotated[tuple[File, ...], _readable(File)] = ()
    embeds: Annotated[tuple[Embed, ...], _readable(Embed)] = ()
    sticker_items: Annotated[tuple[Named, ...], _readable(Named)] = ()
    mentions: Annotated[tuple[User, ...], _readable(User)] = ()
    mention_roles: tuple[Snowflake, ...] = ()
    components: JsonValue = None


class Snapshot(Wire):
    """A forwarded message at the time of forwarding, without its author."""

    message: Content


class Reference(Wire):
    type: int = 0
    message_id: Snowflake | None = None
    channel_id: Snowflake | None = None


class Message(Content):
    id: Snowflake
    channel_id: Snowflake
    guild_id: Snowflake | None = None
    """Absent from REST responses."""
    channel_type: int | None = None
    author: User
    member: Member | None = None
    webhook_id: Snowflake | None = None
    timestamp: AwareDatetime
    edited_timestamp: AwareDatetime | None = None
    type: int = DEFAULT
    flags: int = 0
    poll: Annotated[Poll | None, _Forgiving] = None
    activity: JsonValue = None
    """Set for invitations to a game or another activity."""
    message_reference: Annotated[Reference | None, _Forgiving] = None
    referenced_message: "Annotated[Message | None, _Forgiving]" = None
    message_snapshots: Annotated[tuple[Snapshot, ...], _readable(Snapshot)] = ()

    @property
    def is_from_bot(self) -> bool:
        return self.author.bot or self.webhook_id is not None


class Deletion(Wire):
    """MESSAGE_DELETE, which names neither the author nor who deleted the message."""

    id: Snowflake
    channel_id: Snowflake


class Option(Wire):
    name: str
    type: int = 3
    value: JsonValue = None
    focused: bool = False
    """True for the option that the user is typing, in a request for completion."""


class Resolved(Wire):
    """What the ids in options stand for."""

    attachments: dict[str, File] = Field(default_factory=dict)


class InteractionData(Wire):
    """Name and options of a command, or custom id of a button."""

    name: str = ""
    type: int = 1
    """For commands: 1 is a slash command, 3 an entry in the menu on messages."""
    resolved: Resolved = Resolved()
    target_id: Snowflake | None = None
    """The message in whose menu a command was chosen."""
    options: tuple[Option, ...] = ()
    custom_id: Text = ""


class InteractionMessage(Wire):
    id: Snowflake
    flags: int = 0


class Interaction(Wire):
    id: Snowflake
    token: Annotated[str, Field(pattern=r"^[^\s/]+$", repr=False)]
    type: int
    channel_id: Snowflake
    guild_id: Snowflake | None = None
    member: Member | None = None
    user: User | None = None
    locale: str | None = None
    data: InteractionData = InteractionData()
    message: InteractionMessage | None = None


class Role(Wire):
    id: Snowflake
    name: Text = ""
    tags: dict[str, JsonValue] = Field(default_factory=dict)
    """`bot_id` is the bot that the role was created for."""


class Channel(Wire):
    """A channel or thread."""

    id: Snowflake
    type: int = 0
    name: Text | None = None
    parent_id: Snowflake | None = None
    guild_id: Snowflake | None = None


class Guild(Wire):
    """A server. Its channels, threads and roles are parsed one by one, so that a malformed one does not affect the
    others."""

    id: Snowflake
    name: Text = ""
    premium_tier: int = 0
    channels: tuple[JsonValue, ...] = ()
    threads: tuple[JsonValue, ...] = ()
    roles: tuple[JsonValue, ...] = ()


class SessionLimit(Wire):
    """Limit for starting gateway sessions."""

    remaining: int
    reset_after: int
    """In milliseconds."""
    max_concurrency: int = 1
    """Session starts allowed in five seconds."""


class GatewayAddress(Wire):
    """Response of GET /gateway/bot."""

    url: str
    shards: Annotated[int, Field(ge=1)] = 1
    """The number of shards that the bot should have."""
    session_start_limit: SessionLimit
