"""State of the Telegram emulator: users, chats, messages, files, button presses."""

import itertools
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from pydantic import JsonValue

from parley.testing.emulators.control import Changes
from parley.testing.emulators.telegram_text import Entity
from parley.testing.emulators.telegram_updates import Json, UpdateQueue

DOWNLOAD_LIMIT = 20 * 2**20


@dataclass(frozen=True)
class Person:
    """A user, the bot itself, or another bot."""

    id: int
    name: str
    username: str | None = None
    language: str | None = None
    is_bot: bool = False

    def to_json(self) -> Json:
        about: Json = {"id": self.id, "is_bot": self.is_bot, "first_name": self.name}
        if self.username:
            about["username"] = self.username
        if self.language:
            about["language_code"] = self.language
        return about


@dataclass(frozen=True)
class StoredFile:
    """A file stored by Telegram."""

    file_id: str
    name: str
    mime: str
    content: bytes = field(repr=False)

    @property
    def path(self) -> str:
        return f"files/{self.file_id}"

    def to_json(self) -> Json:
        return {"file_id": self.file_id, "file_unique_id": f"u{self.file_id}", "file_size": len(self.content)}

    def document_json(self) -> Json:
        return {**self.to_json(), "file_name": self.name, "mime_type": self.mime}

    def photo_json(self) -> JsonValue:
        """Return two sizes, smallest first, as Telegram does; both have the same content here."""
        small: Json = {**self.to_json(), "file_id": f"{self.file_id}-small", "file_unique_id": f"s{self.file_id}"}
        return [{**small, "width": 90, "height": 67}, {**self.to_json(), "width": 800, "height": 600}]


@dataclass(frozen=True)
class Button:
    text: str
    data: str | None = None
    url: str | None = None
    style: str = ""

    def to_json(self) -> Json:
        target: Json = {"url": self.url} if self.data is None else {"callback_data": self.data}
        return {"text": self.text, **target, **({"style": self.style} if self.style else {})}


@dataclass(frozen=True)
class Edit:
    """One edit with the text after it; `at` in seconds of the emulator's clock."""

    text: str
    at: float


@dataclass
class Message:
    """A message in its current state, with its `edits`."""

    message_id: int
    sender: Person
    date: int
    at: float
    text: str = ""
    """Text, caption of a file, or what a rich message shows."""
    first_text: str = ""
    entities: list[Entity] = field(default_factory=list)
    buttons: list[list[Button]] = field(default_factory=list)
    reply_to: "Message | None" = None
    quote: str | None = None
    forwarded: "Message | None" = None
    """The message that this one forwards."""
    files: dict[str, StoredFile] = field(default_factory=dict)
    """The file, by its kind: "photo", "document", "voice", "audio" or "video"."""
    thread: int | None = None
    in_topic: bool = False
    silent: bool = False
    album: str | None = None
    service: Json = field(default_factory=dict)
    content: Json = field(default_factory=dict)
    """Content other than text and files, such as a story, as in the Bot API."""
    edits: list[Edit] = field(default_factory=list)
    edit_date: int | None = None
    reactions: list[str] = field(default_factory=list)
    """Reactions of the bot."""
    deleted: bool = False
    rich: str = ""
    """The HTML of a rich message."""

    @property
    def photo(self) -> StoredFile | None:
        return self.files.get("photo")

    @property
    def document(self) -> StoredFile | None:
        return self.files.get("document")

    @property
    def voice(self) -> StoredFile | None:
        return self.files.get("voice")

    @property
    def shown(self) -> str:
        """Visible content of the message."""
        marks = (f"[{kind if kind in ('photo', 'voice') else file.name}]" for kind, file in self.files.items())
        return " ".join(filter(None, (*marks, self.text)))

    @property
    def history(self) -> list[str]:
        """All texts of the message, oldest first."""
        return [self.first_text, *(edit.text for edit in self.edits)]

    def button(self, text: str | None = None, data: str | None = None) -> Button | None:
        for each in itertools.chain.from_iterable(self.buttons):
            if (text is None or each.text == text) and (data is None or each.data == data):
                return each
        return None

    def to_json(self, chat: Json, *, inner: bool = False) -> Json:
        """Return the message as in the Bot API; an `inner` one (replied to) contains no reply of its own."""
        about: Json = {"message_id": self.message_id, "from": self.sender.to_json(), "chat": chat, "date": self.date}
        about.update(self.service | self.content)
        self._add_content(about)
        if self.thread is not None:
            about["message_thread_id"] = self.thread
        if self.in_topic:
            about["is_topic_message"] = True
        if self.edit_date is not None:
            about["edit_date"] = self.edit_date
        if self.album is not None:
            about["media_group_id"] = self.album
        if self.reply_to is not None and not inner:
            about["reply_to_message"] = self.reply_to.to_json(chat, inner=True)
        if self.quote is not None and self.reply_to is not None:
            position = len(self.reply_to.text.partition(self.quote)[0].encode("utf-16-le")) // 2
            about["quote"] = {"text": self.quote, "position": position, "is_manual": True}
        if self.forwarded is not None:
            origin: Json = {"type": "user", "sender_user": self.forwarded.sender.to_json(), "date": self.forwarded.date}
            about["forward_origin"] = origin
        if self.buttons:
            about["reply_markup"] = {"inline_keyboard": [[each.to_json() for each in row] for row in self.buttons]}
        return about

    def _add_content(self, about: Json) -> None:
        for kind, file in self.files.items():
            about[kind] = file.photo_json() if kind == "photo" else file.document_json()
            if kind in ("voice", "audio"):
                about[kind] = {**file.document_json(), "duration": 1}
        if self.rich:
            about["rich_message"] = {"blocks": [{"type": "paragraph", "text": self.text}]}
        elif self.text:
            about["caption" if self.files else "text"] = self.text
        if self.entities:
            about["caption_entities" if self.files else "entities"] = [entity.to_json() for entity in self.entities]


@dataclass(frozen=True)
class Action:
    """A chat action such as typing; `at` in seconds of the emulator's clock."""

    action: str
    at: float
    thread: int | None = None


@dataclass(frozen=True)
class Draft:
    """A preview streamed into a private chat."""

    draft_id: int
    text: str
    at: float
    thread: int | None = None
    entities: list[Entity] = field(default_factory=list)


@dataclass
class Press:
    """A button press, which the bot must answer within 150 seconds."""

    id: str
    person: Person
    room_id: int
    message: Message
    data: str
    at: float
    answered: bool = False
    answer: str = ""
    alert: bool = False


@dataclass
class Room:
    """A chat with all its messages."""

    id: int
    kind: str
    title: str
    people: list[Person]
    forum: bool = False
    closed: str | None = None
    """Reason why the bot cannot write here, as in the text of the 403."""
    moved_to: int | None = None
    voice_forbidden: bool = False
    """True if the person's privacy settings allow no voice messages."""
    reactions_off: bool = False
    """True if the chat's settings allow no reactions."""
    messages: dict[int, Message] = field(default_factory=dict)
    topics: dict[int, str] = field(default_factory=dict)
    actions: list[Action] = field(default_factory=list)
    drafts: list[Draft] = field(default_factory=list)
    changes: Changes = field(default_factory=Changes)
    left: list[Person] = field(default_factory=list)
    first_id: int = 1

    def __post_init__(self) -> None:
        self._ids = itertools.count(self.first_id)

    @property
    def private(self) -> bool:
        return self.kind == "private"

    def next_id(self) -> int:
        """Return the next message id. Each chat counts from the same number, which reveals code that takes message ids
        for globally unique."""
        return next(self._ids)

    def to_json(self) -> Json:
        about: Json = {"id": self.id, "type": self.kind}
        if self.private:
            person = self.people[0]
            about["first_name"] = person.name
            if person.username:
                about["username"] = person.username
        else:
            about["title"] = self.title
        if self.forum and not self.private:
            about["is_forum"] = True
        return about


@dataclass
class World:
    """The state of Telegram, as far as one bot sees it."""

    bot: Person
    updates: UpdateQueue
    changes: Changes
    clock: Callable[[], float]
    privacy: bool = False
    """True for Telegram's privacy mode, in which bots in groups receive only messages meant for them."""
    rooms: dict[int, Room] = field(default_factory=dict)
    files: dict[str, StoredFile] = field(default_factory=dict)
    presses: dict[str, Press] = field(default_factory=dict)
    profile: dict[str, str] = field(default_factory=dict)
    command_menus: dict[tuple[str, str], dict[str, str]] = field(default_factory=dict)
    """Menus by scope ("default", "all_private_chats", "chat:42", "chat_member:-100:42") and language ("" for any)."""
    first_id: int = 1
    now: Callable[[], float] = time.time
    """Telegram's clock."""

    def __post_init__(self) -> None:
        self._ids = itertools.count(self.first_id)

    def next_id(self) -> int:
        return next(self._ids)

    def date(self) -> int:
        """Return the date of a message; Telegram's dates have whole seconds."""
        return int(self.now())

    def store(self, name: str, mime: str, content: bytes) -> StoredFile:
        file = StoredFile(f"file{self.next_id()}", name, mime, content)
        self.files[file.file_id] = file
        return file

    def file(self, file_id: str) -> StoredFile | None:
        return self.files.get(file_id.removesuffix("-small"))

    def touch(self, room: Room) -> None:
        """Wake those who wait for a change in this chat."""
        room.changes.notify()
        self.changes.notify()
