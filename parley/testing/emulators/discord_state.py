"""State of the Discord emulator: users, servers, channels, threads, messages, files, interactions."""

import itertools
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from urllib.parse import quote

from pydantic import JsonValue

from parley.testing.emulators.control import Changes
from parley.testing.emulators.discord_text import words

Json = dict[str, JsonValue]

EPOCH_MS = 1_420_070_400_000
DM, TEXT, THREAD = 1, 0, 11
COMPLETION, SUBMISSION = 4, 5
"""Types of interactions that ask for values of an argument, and that bring what is filled in a modal."""
EPHEMERAL, LOADING, HAS_THREAD, SUPPRESS_EMBEDS, SILENT = 1 << 6, 1 << 7, 1 << 5, 1 << 2, 1 << 12
VOICE = 1 << 13
"""Flag of a message that is a recording."""
COMPONENTS_V2 = 1 << 15
"""Flag of a message that consists of components, without content and embeds."""
REPLY, COMMAND_ANSWER, THREAD_STARTER = 19, 20, 21
FILE_LIMITS = {0: 10 * 2**20, 1: 10 * 2**20, 2: 50 * 2**20, 3: 100 * 2**20}


def now_iso(now: float | None = None) -> str:
    return datetime.fromtimestamp(time.time() if now is None else now, UTC).isoformat(timespec="microseconds")


class Snowflakes:
    """Generator of ids like Discord's: milliseconds since 2015 and a counter, always increasing."""

    def __init__(self) -> None:
        self.now: Callable[[], float] = time.time
        """Discord's clock."""
        self._last = 0

    def next(self) -> str:
        self._last = max(self._last + 1, (int(self.now() * 1000) - EPOCH_MS) << 22)
        return str(self._last)


@dataclass(frozen=True)
class Person:
    """A user, the bot itself, or another bot."""

    id: str
    name: str
    username: str
    language: str | None = None
    is_bot: bool = False


@dataclass(frozen=True)
class StoredFile:
    """A file stored by Discord."""

    file_id: str
    path: str
    name: str
    mime: str
    content: bytes = field(repr=False)
    is_photo: bool = False
    seconds: float | None = None
    waveform: str | None = None


@dataclass(frozen=True)
class Button:
    text: str
    data: str | None = None
    url: str | None = None
    disabled: bool = False


@dataclass(frozen=True)
class Menu:
    """A menu to choose from; `options` are values by label."""

    data: str
    options: dict[str, str]
    least: int = 1
    most: int = 1
    placeholder: str = ""
    disabled: bool = False


@dataclass(frozen=True)
class Edit:
    """One edit with the text after it; `at` in seconds of the emulator's clock."""

    text: str
    at: float


@dataclass(frozen=True)
class Action:
    """ "typing", "thinking" (a deferred answer) or the emoji of a reaction; `at` in seconds of the emulator's clock."""

    action: str
    at: float


@dataclass
class Message:
    """A message in its current state, with its `edits`."""

    id: str
    sender: Person
    channel: "Channel" = field(repr=False)
    at: float
    timestamp: str
    content: str = ""
    """Content as stored by Discord, or that of its text displays, with marks and mentions."""
    text: str = ""
    """Content as plain text."""
    first_text: str = ""
    kind: int = 0
    flags: int = 0
    reference: "Message | None" = None
    """The message to which this one replies."""
    forwarded: "Message | None" = None
    """The message that this one forwards."""
    files: list[StoredFile] = field(default_factory=list)
    embeds: list[Json] = field(default_factory=list)
    components: list[JsonValue] = field(default_factory=list)
    more: Json = field(default_factory=dict)
    """Fields of content that only some messages have, such as an invitation to an activity."""
    buttons: list[list[Button]] = field(default_factory=list)
    menus: list[Menu] = field(default_factory=list)
    nonce: str | None = None
    webhook_id: str | None = None
    interaction: "Interaction | None" = field(default=None, repr=False)
    edited_timestamp: str | None = None
    edits: list[Edit] = field(default_factory=list)
    reactions: dict[str, list[Person]] = field(default_factory=dict)
    thread: "Channel | None" = field(default=None, repr=False)
    pings_author: bool = True
    deleted: bool = False

    @property
    def shown(self) -> str:
        """Visible content of the message."""
        marks = ["[photo]" if each.is_photo else f"[{each.name}]" for each in self.files]
        said = [self.text, *itertools.chain.from_iterable(_embed_words(each) for each in self.embeds)]
        return (
            " ".join([*marks, "\n".join(each for each in said if each)]).strip()
            if marks
            else "\n".join(each for each in said if each)
        )

    @property
    def history(self) -> list[str]:
        """All texts of the message, oldest first."""
        return [self.first_text, *(edit.text for edit in self.edits)]

    @property
    def reply_to(self) -> "Message | None":
        """The message replied to; otherwise, in a thread made from a message, that message."""
        return self.reference or self.channel.origin

    @property
    def document(self) -> StoredFile | None:
        return next((each for each in self.files if not each.is_photo), None)

    @property
    def photo(self) -> StoredFile | None:
        return next((each for each in self.files if each.is_photo), None)

    @property
    def has_layout(self) -> bool:
        """True if the message consists of components."""
        return bool(self.flags & COMPONENTS_V2)

    @property
    def is_voice(self) -> bool:
        return bool(self.flags & VOICE)

    @property
    def silent(self) -> bool:
        return bool(self.flags & SILENT)

    @property
    def ephemeral(self) -> bool:
        return bool(self.flags & EPHEMERAL)

    @property
    def loading(self) -> bool:
        """True for a deferred answer without text, shown as "Parley is thinking…"."""
        return bool(self.flags & LOADING)

    def button(self, text: str | None = None, data: str | None = None) -> Button | None:
        for each in itertools.chain.from_iterable(self.buttons):
            if (text is None or each.text == text) and (data is None or each.data == data):
                return each
        return None


def _embed_words(embed: Json) -> Iterable[str]:
    for name in ("title", "description"):
        value = embed.get(name)
        if isinstance(value, str):
            yield words(value, {})


@dataclass
class Interaction:
    """An invoked command, a pressed button, a choice or a submitted modal; its first response is due within 3 s."""

    id: str
    token: str
    kind: int
    person: Person
    channel: "Channel" = field(repr=False)
    at: float
    message: Message | None = None
    """The message with the button."""
    name: str = ""
    answered: bool = False
    ephemeral: bool = False
    original: Message | None = field(default=None, repr=False)
    choices: list[Json] = field(default_factory=list)
    """What the bot proposed, for a request for completion."""
    follow_ups: int = 0

    @property
    def owners(self) -> Json:
        guild = self.channel.guild
        return {"1": self.person.id} if guild and guild.kicked else {"0": guild.id if guild else "0"}


@dataclass
class Form:
    """A modal on the client of one user, until it is submitted and the bot has answered."""

    person: Person
    title: str
    data: str
    components: list[JsonValue]
    opened_by: Interaction = field(repr=False)
    submission: Interaction | None = field(default=None, repr=False)
    """The newest one."""

    @property
    def is_open(self) -> bool:
        return self.submission is None or not self.submission.answered


@dataclass
class Press:
    """A button press, which the bot must answer within 3 seconds."""

    person: Person
    message: Message
    data: str
    at: float
    interaction: Interaction = field(repr=False)

    @property
    def id(self) -> str:
        return self.interaction.id

    @property
    def answered(self) -> bool:
        return self.interaction.answered


@dataclass
class Guild:
    """A server with the bot."""

    id: str
    name: str
    people: list[Person]
    tier: int = 0
    joined_at: str = field(default_factory=now_iso)
    channels: "dict[str, Channel]" = field(default_factory=dict)
    """Text channels and threads by id."""
    commands: dict[str, Json] = field(default_factory=dict)
    roles: dict[str, str] = field(default_factory=dict)
    """Names of roles by id, without @everyone."""
    roles_of: dict[str, list[str]] = field(default_factory=dict)
    """Ids of roles by member."""
    kicked: bool = False

    @property
    def file_limit(self) -> int:
        return FILE_LIMITS[self.tier]


@dataclass
class Channel:
    """A text channel, a thread or a private chat, with its messages."""

    id: str
    kind: int
    name: str
    people: list[Person]
    guild: Guild | None = None
    parent: "Channel | None" = None
    origin: Message | None = field(default=None, repr=False)
    """The message from which a thread was made."""
    owner: Person | None = None
    made: str = field(default_factory=now_iso)
    messages: dict[str, Message] = field(default_factory=dict, repr=False)
    threads: "dict[str, Channel]" = field(default_factory=dict, repr=False)
    actions: list[Action] = field(default_factory=list)
    forms: list[Form] = field(default_factory=list)
    denied: set[str] = field(default_factory=set)
    archived: bool = False
    locked: bool = False
    blocked: bool = False
    """True if the user of a private chat blocks the bot."""
    deleted: bool = False
    nonces: dict[str, Message] = field(default_factory=dict, repr=False)
    changes: Changes = field(default_factory=Changes, repr=False)

    @property
    def file_limit(self) -> int:
        return FILE_LIMITS[0] if self.guild is None else self.guild.file_limit

    @property
    def unseen(self) -> bool:
        """True if the bot receives nothing from it."""
        gone = self.deleted or (self.guild is not None and self.guild.kicked)
        return gone or "VIEW_CHANNEL" in self.denied or (self.parent is not None and self.parent.unseen)


@dataclass
class World:
    """The state of Discord, as far as one bot sees it."""

    bot: Person
    changes: Changes
    clock: Callable[[], float]
    url: str = ""
    content_granted: bool = True
    user_install: bool = True
    """True if the developer portal lets users install the bot for themselves, which everybody here has done."""
    people: dict[str, Person] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    guilds: dict[str, Guild] = field(default_factory=dict)
    channels: dict[str, Channel] = field(default_factory=dict)
    direct: dict[str, Channel] = field(default_factory=dict)
    """Private chats by user id."""
    files: dict[str, StoredFile] = field(default_factory=dict)
    interactions: dict[str, Interaction] = field(default_factory=dict)
    """Interactions by token."""
    commands: dict[str, Json] = field(default_factory=dict)
    permissions_used: set[str] = field(default_factory=set)
    snowflakes: Snowflakes = field(default_factory=Snowflakes)

    def meet(self, person: Person) -> None:
        self.people[person.id] = person
        self.names[person.id] = person.username if person.is_bot else person.name

    def direct_channel(self, person: Person) -> Channel:
        """Return the private chat with this user, created at first use."""
        if person.id not in self.direct:
            channel = Channel(self.snowflakes.next(), DM, "", [person])
            self.direct[person.id] = self.channels[channel.id] = channel
        return self.direct[person.id]

    def store(self, channel: Channel, name: str, mime: str, content: bytes, *, is_photo: bool = False) -> StoredFile:
        file_id = self.snowflakes.next()
        path = f"/attachments/{channel.id}/{file_id}/{quote(name, safe='')}"
        file = StoredFile(file_id, path, name, mime, content, is_photo)
        self.files[file_id] = file
        return file

    def write(self, channel: Channel, sender: Person, content: str = "") -> Message:
        """Write a message without announcing it."""
        text = words(content, self.names)
        message = Message(
            self.snowflakes.next(), sender, channel, self.clock(), now_iso(self.snowflakes.now()), content, text, text
        )
        channel.messages[message.id] = message
        return message

    def rewrite(self, message: Message, content: str) -> None:
        """Change the text of a message. Filling a deferred answer is not an edit."""
        message.content = content
        message.text = words(content, self.names)
        if message.loading:
            message.flags &= ~LOADING
            message.first_text = message.text
            return
        message.edits.append(Edit(message.text, self.clock()))
        message.edited_timestamp = now_iso(self.snowflakes.now())

    def touch(self, channel: Channel) -> None:
        """Wake those who wait for a change in this channel."""
        channel.changes.notify()
        if channel.parent is not None:
            channel.parent.changes.notify()
        self.changes.notify()
