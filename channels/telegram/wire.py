"""The used parts of the Bot API's updates, as Telegram sends them. All other fields are ignored."""

from collections.abc import Mapping
from typing import Annotated, ClassVar

from pydantic import ConfigDict, Field, JsonValue

from channels.values import Forgiving, Text, Wire, parse


class User(Forgiving):
    decides: ClassVar[frozenset[str]] = frozenset(("is_bot",))

    id: int
    is_bot: bool = False
    first_name: Text = ""
    last_name: Text = ""
    username: str = ""
    language_code: str | None = None

    @property
    def name(self) -> str:
        return f"{self.first_name} {self.last_name}".strip() or self.username or str(self.id)


class Chat(Forgiving):
    decides: ClassVar[frozenset[str]] = frozenset(("type",))

    id: int
    type: str = "private"
    title: Text = ""
    username: str = ""
    first_name: Text = ""


class Entity(Forgiving):
    type: str = ""
    offset: int = -1
    """The place at which the text begins, in UTF-16 units; -1 if Telegram does not tell it."""
    length: int = 0
    user: User | None = None
    url: Text = ""
    """The address behind a `text_link`."""
    unix_time: int | None = None
    """The moment behind a `date_time`."""


class File(Forgiving):
    """A photo size, document, voice, audio, video, animation, video note or sticker."""

    file_id: str
    file_unique_id: str = ""
    file_name: Text = ""
    mime_type: str = ""
    file_size: int | None = None
    width: int = 0
    height: int = 0
    emoji: str = ""
    title: Text = ""
    duration: float | None = None
    """Seconds of audio and videos."""


class Quote(Forgiving):
    text: Text
    position: int = 0
    """Offset in the message that is quoted, in UTF-16 units."""
    entities: tuple[Entity, ...] = ()


class Origin(Forgiving):
    """Origin of a forwarded message."""

    sender_user: User | None = None
    sender_user_name: Text = ""
    sender_chat: Chat | None = None
    chat: Chat | None = None


class Location(Forgiving):
    latitude: float
    longitude: float
    live_period: int = 0
    """Seconds for which it follows the sender; 0 for one that does not."""


class Venue(Forgiving):
    title: Text = ""
    address: Text = ""


class Contact(Forgiving):
    first_name: Text = ""
    last_name: Text = ""
    phone_number: str = ""
    vcard: Text = ""
    """All that the sender's address book has on the contact, as a vCard."""


class Option(Forgiving):
    text: Text
    voter_count: int = 0
    persistent_id: str = ""


class Poll(Forgiving):
    question: Text
    options: tuple[Option, ...] = ()
    description: Text = ""
    """The text of the message that the poll is in."""
    description_entities: "tuple[Entity, ...]" = ()
    media: dict[str, JsonValue] | None = None
    """A picture or file above the question, in the field of its kind."""


class Dice(Forgiving):
    emoji: str
    value: int


class Task(Forgiving):
    id: int = 0
    text: Text
    text_entities: "tuple[Entity, ...]" = ()
    completion_date: int = 0
    """0 while it is open."""


class Checklist(Forgiving):
    title: Text
    title_entities: "tuple[Entity, ...]" = ()
    tasks: tuple[Task, ...] = ()


class ChecklistChange(Forgiving):
    """Tasks were added to a list or marked."""

    checklist_message: "Message | None" = None
    """The list as it is now."""


class Game(Forgiving):
    title: Text
    description: Text = ""


class Invoice(Forgiving):
    title: Text
    description: Text = ""
    currency: str
    total_amount: int
    """In the currency's smallest unit."""


class PaidItem(Forgiving):
    """A photo or a video that must be paid for; neither is told before."""

    photo: tuple[File, ...] = ()
    video: File | None = None


class PaidMedia(Forgiving):
    star_count: int = 0
    paid_media: tuple[PaidItem, ...] = ()


class RichMessage(Forgiving):
    blocks: tuple[JsonValue, ...] = ()


class Address(Forgiving):
    """A page that a button opens, as an app or with a login."""

    url: Text = ""


class Copied(Forgiving):
    text: Text = ""


class UrlButton(Forgiving):
    text: Text = ""
    url: Text = ""
    login_url: Address = Address()
    web_app: Address = Address()
    copy_text: Copied = Copied()
    """A text that the button copies."""

    @property
    def address(self) -> str:
        return self.url or self.login_url.url or self.web_app.url


class Keyboard(Forgiving):
    """Buttons below a message of a bot."""

    inline_keyboard: tuple[tuple[UrlButton, ...], ...] = ()


class LinkPreview(Forgiving):
    url: Text = ""


class ExternalReply(Forgiving):
    """A replied-to message in another chat, which has the content of a message but its text."""

    model_config = ConfigDict(frozen=True, extra="allow")
    __pydantic_extra__: dict[str, JsonValue]

    origin: Origin

    @property
    def message(self) -> "Message | None":
        """The content as a message; None if it has an unexpected shape."""
        return message_of(self.__pydantic_extra__)


def message_of(content: Mapping[str, JsonValue]) -> "Message | None":
    """Return content that is shown elsewhere as a message; None if it has an unexpected shape."""
    place = {"message_id": 0, "chat": {"id": 0, "type": "private"}, "date": 1}
    return parse(Message, {**content, **place})


_PLAIN = frozenset({"message_id", "chat", "date", "sender", "message_thread_id", "is_topic_message", "text"})
"""Fields of a message that is words alone."""


class Message(Forgiving):
    """A message; fields that are not read are kept, since they tell what kind of message it is."""

    decides: ClassVar[frozenset[str]] = frozenset(("from", "sender_chat", "message_thread_id", "is_topic_message"))
    model_config = ConfigDict(frozen=True, extra="allow")
    __pydantic_extra__: dict[str, JsonValue]

    message_id: int
    chat: Chat
    date: int = 0
    """Seconds since the epoch; 0 for a message that the bot can no longer read."""
    edit_date: int | None = None
    sender: Annotated[User | None, Field(alias="from")] = None
    sender_chat: Chat | None = None
    via_bot: User | None = None
    message_thread_id: int | None = None
    is_topic_message: bool = False
    media_group_id: str | None = None
    text: Text = ""
    caption: Text = ""
    entities: tuple[Entity, ...] = ()
    caption_entities: tuple[Entity, ...] = ()
    reply_to_message: "Message | None" = None
    external_reply: ExternalReply | None = None
    quote: Quote | None = None
    reply_to_checklist_task_id: int | None = None
    reply_to_poll_option_id: str | None = None
    migrate_to_chat_id: int | None = None
    """The group has become a supergroup with this id."""
    migrate_from_chat_id: int | None = None
    """The supergroup was the group with this id."""
    forward_origin: Origin | None = None
    photo: tuple[File, ...] = ()
    document: File | None = None
    voice: File | None = None
    audio: File | None = None
    video: File | None = None
    video_note: File | None = None
    animation: File | None = None
    sticker: File | None = None
    location: Location | None = None
    venue: Venue | None = None
    contact: Contact | None = None
    poll: Poll | None = None
    dice: Dice | None = None
    checklist: Checklist | None = None
    checklist_tasks_done: ChecklistChange | None = None
    checklist_tasks_added: ChecklistChange | None = None
    game: Game | None = None
    invoice: Invoice | None = None
    paid_media: PaidMedia | None = None
    rich_message: RichMessage | None = None
    reply_markup: Keyboard | None = None
    link_preview_options: LinkPreview | None = None
    forum_topic_created: dict[str, object] | None = None

    @property
    def is_plain(self) -> bool:
        """True for words alone, of which nothing was left out."""
        return self.model_fields_set <= _PLAIN and not self._odd


class CallbackQuery(Wire):
    id: str
    sender: Annotated[User, Field(alias="from")]
    message: Message | None = None
    data: Text | None = None


class ReactionType(Forgiving):
    type: str
    emoji: str = ""


class MessageReaction(Wire):
    chat: Chat
    message_id: int
    date: int
    user: User | None = None
    old_reaction: tuple[ReactionType, ...] = ()
    new_reaction: tuple[ReactionType, ...] = ()


class Update(Wire):
    update_id: int
    message: Message | None = None
    edited_message: Message | None = None
    callback_query: CallbackQuery | None = None
    message_reaction: MessageReaction | None = None
