"""The used parts of the Bot API's updates, as Telegram sends them. All other fields are ignored."""

from typing import Annotated

from pydantic import ConfigDict, Field, JsonValue, ValidationError, ValidatorFunctionWrapHandler, WrapValidator

from channels.values import Text, Wire, parse


def _or_none(value: object, read: ValidatorFunctionWrapHandler) -> object:
    try:
        return read(value)
    except ValidationError:
        return None


_Forgiving = WrapValidator(_or_none)
"""Reads content of an unexpected shape as None: such a message is told to be unreadable instead of being lost."""


class User(Wire):
    id: int
    is_bot: bool = False
    first_name: Text = ""
    last_name: Text = ""
    username: str = ""
    language_code: str | None = None

    @property
    def name(self) -> str:
        return f"{self.first_name} {self.last_name}".strip() or self.username or str(self.id)


class Chat(Wire):
    id: int
    type: str = "private"
    title: Text = ""
    username: str = ""
    first_name: Text = ""


class Entity(Wire):
    type: str
    offset: int
    length: int
    user: User | None = None
    url: Text = ""
    """The address behind a `text_link`."""


class File(Wire):
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


class Quote(Wire):
    text: Text
    position: int = 0
    """Offset in the message that is quoted, in UTF-16 units."""
    entities: tuple[Entity, ...] = ()


class Origin(Wire):
    """Origin of a forwarded message."""

    sender_user: User | None = None
    sender_user_name: Text = ""
    sender_chat: Chat | None = None
    chat: Chat | None = None


class Location(Wire):
    latitude: float
    longitude: float


class Venue(Wire):
    title: Text = ""
    address: Text = ""


class Contact(Wire):
    first_name: Text = ""
    last_name: Text = ""
    phone_number: str = ""


class Option(Wire):
    text: Text


class Poll(Wire):
    question: Text
    options: tuple[Option, ...] = ()


class Dice(Wire):
    emoji: str
    value: int


class Task(Wire):
    text: Text
    completion_date: int = 0
    """0 while it is open."""


class Checklist(Wire):
    title: Text
    tasks: tuple[Task, ...] = ()


class Game(Wire):
    title: Text
    description: Text = ""


class Invoice(Wire):
    title: Text
    description: Text = ""
    currency: str
    total_amount: int
    """In the currency's smallest unit."""


class PaidItem(Wire):
    """A photo or a video that must be paid for; neither is told before."""

    photo: tuple[File, ...] = ()
    video: File | None = None


class PaidMedia(Wire):
    star_count: int = 0
    paid_media: tuple[PaidItem, ...] = ()


class UrlButton(Wire):
    text: Text = ""
    url: Text = ""


class Keyboard(Wire):
    """Buttons below a message of a bot."""

    inline_keyboard: tuple[tuple[UrlButton, ...], ...] = ()


class LinkPreview(Wire):
    url: Text = ""


class ExternalReply(Wire):
    """A replied-to message in another chat, which has the content of a message but its text."""

    model_config = ConfigDict(frozen=True, extra="allow")
    __pydantic_extra__: dict[str, JsonValue]

    origin: Origin

    @property
    def message(self) -> "Message | None":
        """The content as a message; None if it has an unexpected shape."""
        place = {"message_id": 0, "chat": {"id": 0, "type": "private"}, "date": 1}
        return parse(Message, {**self.__pydantic_extra__, **place})


class Message(Wire):
    """A message; fields that are not read are kept, since they tell what kind of message it is."""

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
    forward_origin: Origin | None = None
    photo: tuple[File, ...] = ()
    document: File | None = None
    voice: File | None = None
    audio: File | None = None
    video: File | None = None
    video_note: File | None = None
    animation: File | None = None
    sticker: File | None = None
    location: Annotated[Location | None, _Forgiving] = None
    venue: Annotated[Venue | None, _Forgiving] = None
    contact: Annotated[Contact | None, _Forgiving] = None
    poll: Annotated[Poll | None, _Forgiving] = None
    dice: Annotated[Dice | None, _Forgiving] = None
    checklist: Annotated[Checklist | None, _Forgiving] = None
    game: Annotated[Game | None, _Forgiving] = None
    invoice: Annotated[Invoice | None, _Forgiving] = None
    paid_media: Annotated[PaidMedia | None, _Forgiving] = None
    reply_markup: Annotated[Keyboard | None, _Forgiving] = None
    link_preview_options: Annotated[LinkPreview | None, _Forgiving] = None
    forum_topic_created: dict[str, object] | None = None


class CallbackQuery(Wire):
    id: str
    sender: Annotated[User, Field(alias="from")]
    message: Message | None = None
    data: Text | None = None


class ReactionType(Wire):
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


ALLOWED_UPDATES = ("message", "edited_message", "callback_query", "message_reaction")
