"""The used parts of Discord's payloads, as Discord sends them. All other fields are ignored."""

from pathlib import PurePosixPath
from typing import Annotated, ClassVar

from pydantic import AwareDatetime, BeforeValidator, Field, JsonValue

from channels.text import visible
from channels.values import Forgiving, Text, Wire

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
COMMAND, COMPONENT, COMPLETION, SUBMISSION = 2, 3, 4, 5
"""Types of interactions."""
SERVER, WITH_THE_BOT, BETWEEN_USERS = 0, 1, 2
"""Contexts of interactions: servers, private chats with the bot, and those between users."""
IN_SERVERS, BY_USERS = "0", "1"
"""Kinds of installation."""
UPLOADED = 19
"""Type of the field of a modal that takes files."""
ATTACHED = 11
"""Type of an option that is a file."""


def _strings(value: object) -> object:
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


class User(Forgiving):
    decides: ClassVar[frozenset[str]] = frozenset(("bot",))

    id: Snowflake
    username: Text = ""
    global_name: Text | None = None
    bot: bool = False

    @property
    def name(self) -> str:
        return self.global_name or self.username or self.id


class Member(Forgiving):
    """A member of a server."""

    nick: Text | None = None
    user: User | None = None
    roles: Annotated[tuple[str, ...], BeforeValidator(_strings)] = ()


class Mentioned(User):
    """A user whom a message mentions."""

    member: Member | None = None


class File(Forgiving):
    id: Snowflake
    filename: Text = ""
    title: Text | None = None
    """Its name without the ending, if letters of it were left out of the file name."""
    description: Text | None = None
    """The description of a picture by its sender."""
    content_type: str | None = None
    size: int | None = None
    url: str = ""
    duration_secs: float | None = None
    waveform: str | None = None
    """Set for voice messages."""

    @property
    def name(self) -> str:
        """Return the name that it was given, with its ending."""
        ending = PurePosixPath(self.filename).suffix
        if not (self.title and visible(self.title)):
            return self.filename or f"file-{self.id[-8:]}"
        return self.title if self.title.casefold().endswith(ending.casefold()) else f"{self.title}{ending}"


class Named(Forgiving):
    name: Text | None = None


class Author(Forgiving):
    name: Text | None = None
    url: str | None = None


class Media(Forgiving):
    url: str | None = None


class EmbedField(Forgiving):
    name: Text = ""
    value: Text = ""


class EmbedFooter(Forgiving):
    text: Text = ""


class Embed(Forgiving):
    title: Text | None = None
    description: Text | None = None
    url: str | None = None
    author: Author | None = None
    image: Media | None = None
    video: Media | None = None
    thumbnail: Media | None = None
    fields: tuple[EmbedField, ...] = ()
    footer: EmbedFooter | None = None


class Emoji(Forgiving):
    id: Snowflake | None = None
    """None for one of Unicode, which is its own name."""
    name: Text | None = None

    @property
    def shown(self) -> str:
        return f":{self.name or 'emoji'}:" if self.id else self.name or ""


class PollText(Forgiving):
    text: Text | None = None
    emoji: Emoji | None = None

    @property
    def shown(self) -> str:
        return " ".join(filter(None, (self.emoji.shown if self.emoji else "", self.text)))


class PollAnswer(Forgiving):
    answer_id: int = 0
    poll_media: PollText = PollText()


class AnswerCount(Forgiving):
    id: int
    count: int = 0


class PollResults(Forgiving):
    answer_counts: tuple[AnswerCount, ...] = ()


class Poll(Forgiving):
    question: PollText = PollText()
    answers: tuple[PollAnswer, ...] = ()
    results: PollResults | None = None


class Content(Forgiving):
    """Content of a message or of a forwarded one."""

    content: Text = ""
    attachments: tuple[File, ...] = ()
    embeds: tuple[Embed, ...] = ()
    sticker_items: tuple[Named, ...] = ()
    mentions: tuple[Mentioned, ...] = ()
    mention_roles: tuple[Snowflake, ...] = ()
    poll: Poll | None = None
    components: JsonValue = None
    message_snapshots: tuple["Snapshot", ...] = ()

    @property
    def forwarded(self) -> "tuple[Content, ...]":
        """Return the messages that it forwards, each followed by those which that one forwards."""
        return tuple(each for shown in self.message_snapshots for each in (shown.message, *shown.message.forwarded))


class Snapshot(Forgiving):
    """A forwarded message at the time of forwarding, without its author."""

    message: Content


class Reference(Forgiving):
    type: int = 0
    message_id: Snowflake | None = None
    channel_id: Snowflake | None = None


class Message(Content):
    decides: ClassVar[frozenset[str]] = frozenset(("guild_id", "channel_type", "webhook_id", "type", "flags"))

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
    activity: JsonValue = None
    """Set for invitations to a game or another activity."""
    message_reference: Reference | None = None
    referenced_message: "Message | None" = None

    @property
    def is_from_bot(self) -> bool:
        return self.author.bot or self.webhook_id is not None


class Deletion(Wire):
    """MESSAGE_DELETE, which names neither the author nor who deleted the message."""

    id: Snowflake
    channel_id: Snowflake


class Reaction(Wire):
    """MESSAGE_REACTION_ADD or MESSAGE_REACTION_REMOVE. In private chats only the id tells who reacted, as in all
    removals, which do not tell the author of the message either."""

    user_id: Snowflake
    channel_id: Snowflake
    message_id: Snowflake
    guild_id: Snowflake | None = None
    member: Member | None = None
    message_author_id: Snowflake | None = None
    emoji: Emoji = Emoji()


class Option(Wire):
    name: str
    type: int = 3
    value: JsonValue = None
    focused: bool = False
    """True for the option that the user is typing, in a request for completion."""


class Resolved(Wire):
    """The people, roles, channels and files that the ids in options stand for."""

    attachments: dict[str, File] = Field(default_factory=dict)


class FilledField(Wire):
    """A field of a submitted modal."""

    type: int = 0
    value: Text = ""
    values: tuple[Text, ...] = ()
    """The values chosen in a menu, or the ids of files."""

    @property
    def text(self) -> str:
        """The text that it adds to the line of the command."""
        return "" if self.type == UPLOADED else " ".join((self.value, *self.values)).strip()


class FilledPart(Wire):
    component: FilledField = FilledField()


class InteractionData(Wire):
    """Name and options of a command, or custom id of a button or menu."""

    name: str = ""
    type: int = 1
    """For commands: 1 is a slash command, 3 an entry in the menu on messages."""
    resolved: Resolved = Resolved()
    target_id: Snowflake | None = None
    """The message in whose menu a command was chosen."""
    options: tuple[Option, ...] = ()
    custom_id: Text = ""
    values: tuple[Text, ...] = ()
    """The values chosen in a menu."""
    components: tuple[FilledPart, ...] = ()
    """The fields of a modal."""


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
    context: int | None = None
    authorizing_integration_owners: dict[str, JsonValue] = Field(default_factory=dict)
    """The ids of those who installed the bot and so allow it, by kind of installation."""

    @property
    def is_elsewhere(self) -> bool:
        """True if only the person has installed the bot, which is no member of the server or private chat."""
        is_of_server = IN_SERVERS in self.authorizing_integration_owners or not self.authorizing_integration_owners
        return not is_of_server and self.context in (SERVER, BETWEEN_USERS)


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
