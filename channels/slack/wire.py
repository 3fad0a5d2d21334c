"""The used parts of Slack's payloads, as Slack sends them. All other fields are ignored."""

from typing import Annotated, ClassVar

import pydantic
from pydantic import BeforeValidator, JsonValue, StringConstraints

from channels.values import Forgiving, Text, Wire

Ts = Annotated[str, StringConstraints(pattern=r"^\d{1,12}\.\d{1,9}$")]
"""Timestamp of a message, which is its id within the conversation: `1700000000.000100`."""


def _or_empty(value: object) -> object:
    """Replace the null that Slack sends for missing texts."""
    return "" if value is None else value


def _or_none(value: object) -> object:
    return () if value is None else value


TextOrEmpty = Annotated[Text, BeforeValidator(_or_empty)]
Blocks = Annotated[tuple[dict[str, JsonValue], ...], BeforeValidator(_or_none)]


UNTOLD = "slack-file:"
"""Begins the reference of a file of which a message tells only the id."""


class File(Forgiving):
    id: str = ""
    user: str | None = None
    """Uploader, who may have uploaded the file long before it was shared here."""
    name: TextOrEmpty = ""
    title: TextOrEmpty = ""
    mimetype: TextOrEmpty = ""
    alt_txt: TextOrEmpty = ""
    """The description of a picture by its uploader."""
    size: int | None = None
    mode: TextOrEmpty = ""
    """"tombstone" for a deleted file, "external" for one that is only linked, "file_access" for one of which only the
    id is told."""
    file_access: TextOrEmpty = ""
    """"check_file_info" for one of which only the id is told."""
    subtype: TextOrEmpty = ""
    """`slack_audio` for a recorded clip."""
    duration_ms: float | None = None
    is_external: bool = False
    permalink: TextOrEmpty = ""
    external_url: TextOrEmpty = ""
    url_private: TextOrEmpty = ""
    url_private_download: TextOrEmpty = ""

    @property
    def address(self) -> str:
        """The address at which it can be fetched or, if it is only linked, seen."""
        return self.url_private_download or self.url_private or self.external_url or self.permalink

    attachments: Annotated["tuple[Enclosed, ...]", BeforeValidator(_or_none)] = ()
    """The files of an e-mail."""

    @property
    def is_page(self) -> bool:
        """True for a canvas, a post or an e-mail, which is downloaded as a page."""
        return self.mimetype == "application/vnd.slack-docs" or self.mode in ("canvas", "quip", "email")

    @property
    def is_told(self) -> bool:
        """True if anything tells which file it is."""
        return bool(self.address or self.id or self.mode)


class Enclosed(Forgiving):
    """A file of an e-mail that was sent to Slack."""

    filename: TextOrEmpty = ""
    mimetype: TextOrEmpty = ""
    size: int | None = None
    url: TextOrEmpty = ""


class Field(Forgiving):
    title: TextOrEmpty = ""
    value: TextOrEmpty = ""


class QuotedMessage(Forgiving):
    """A shared message inside an attachment."""

    message: "QuotedContent | None" = None


class QuotedContent(Forgiving):
    text: TextOrEmpty = ""
    blocks: Blocks = ()
    attachments: "Annotated[tuple[LegacyAttachment, ...], BeforeValidator(_or_none)]" = ()
    files: Annotated[tuple[File, ...], BeforeValidator(_or_none)] = ()


class LegacyAction(Forgiving):
    """A button or a menu; of use is only the address of a button."""

    text: TextOrEmpty = ""
    url: TextOrEmpty = ""


class LegacyAttachment(Forgiving):
    """Attachment of a message: an app's card, a link preview or a shared message."""

    fallback: TextOrEmpty = ""
    pretext: TextOrEmpty = ""
    author_name: TextOrEmpty = ""
    author_link: TextOrEmpty = ""
    title: TextOrEmpty = ""
    title_link: TextOrEmpty = ""
    text: TextOrEmpty = ""
    from_url: TextOrEmpty = ""
    fields: Annotated[tuple[Field, ...], BeforeValidator(_or_none)] = ()
    image_url: TextOrEmpty = ""
    thumb_url: TextOrEmpty = ""
    footer: TextOrEmpty = ""
    actions: Annotated[tuple[LegacyAction, ...], BeforeValidator(_or_none)] = ()
    blocks: Blocks = ()
    message_blocks: Annotated[tuple[QuotedMessage, ...], BeforeValidator(_or_none)] = ()
    files: Annotated[tuple[File, ...], BeforeValidator(_or_none)] = ()

    @property
    def quoted(self) -> tuple[QuotedContent, ...]:
        """Return the messages that it shows."""
        return tuple(each.message for each in self.message_blocks if each.message)

    @property
    def all_blocks(self) -> Blocks:
        """Return its own blocks, or those of the messages that it shows."""
        return self.blocks or tuple(block for each in self.quoted for block in each.blocks)

    @property
    def all_files(self) -> tuple[File, ...]:
        """Return its own files and those of the messages that it shows, each once."""
        files = (*self.files, *(file for each in self.quoted for file in each.files))
        return tuple({file.id or file.address: file for file in reversed(files)}.values())[::-1]

    @property
    def inner(self) -> "tuple[LegacyAttachment, ...]":
        """Return the attachments of the messages that it shows."""
        return tuple(inner for each in self.quoted for inner in each.attachments)

    @property
    def all(self) -> "tuple[LegacyAttachment, ...]":
        """Return itself and all attachments inside."""
        return (self, *(each for inner in self.inner for each in inner.all))


class Edited(Wire):
    ts: Ts


class Profile(Forgiving):
    display_name: TextOrEmpty = ""
    real_name: TextOrEmpty = ""
    name: TextOrEmpty = ""

    @property
    def shown(self) -> str:
        return self.display_name or self.real_name or self.name


class Metadata(Forgiving):
    event_type: str = ""
    event_payload: dict[str, JsonValue] = pydantic.Field(default_factory=dict)


class Message(Forgiving):
    """A post or, with a `subtype`, a change of one; then `message` and `previous_message` are the post itself."""

    decides: ClassVar[frozenset[str]] = frozenset(("subtype", "channel", "user", "bot_id", "thread_ts"))

    type: str = "message"
    subtype: TextOrEmpty = ""
    channel: str = ""
    user: TextOrEmpty = ""
    bot_id: TextOrEmpty = ""
    username: TextOrEmpty = ""
    user_profile: Profile | None = None
    bot_profile: Profile | None = None
    text: TextOrEmpty = ""
    ts: Ts
    thread_ts: Ts | None = None
    parent_user_id: TextOrEmpty = ""
    edited: Edited | None = None
    blocks: Blocks = ()
    attachments: Annotated[tuple[LegacyAttachment, ...], BeforeValidator(_or_none)] = ()
    files: Annotated[tuple[File, ...], BeforeValidator(_or_none)] = ()
    metadata: Metadata | None = None
    message: "Message | None" = None
    previous_message: "Message | None" = None
    deleted_ts: Ts | None = None

    @property
    def thread(self) -> str | None:
        """Return the root's timestamp for replies. A root with replies has its own, which does not count."""
        return None if self.thread_ts == self.ts else self.thread_ts


class Named(Wire):
    """A user, channel or app with an id."""

    id: str
    name: TextOrEmpty = ""
    username: TextOrEmpty = ""


class Action(Wire):
    type: str = ""
    value: TextOrEmpty = ""
    action_ts: Ts


class Container(Wire):
    message_ts: Ts | None = None
    channel_id: str = ""
    thread_ts: Ts | None = None
    is_ephemeral: bool = False


class Input(Wire):
    value: TextOrEmpty = ""


class State(Wire):
    values: dict[str, dict[str, Input]] = pydantic.Field(default_factory=dict)


class View(Wire):
    id: str
    callback_id: TextOrEmpty = ""
    private_metadata: TextOrEmpty = ""
    state: State = State()


class Interaction(Wire):
    """A button press, a shortcut or a submitted dialog."""

    type: str
    user: Named
    channel: Named | None = None
    container: Container = Container()
    message: Message | None = None
    message_ts: Ts | None = None
    actions: tuple[Action, ...] = ()
    callback_id: TextOrEmpty = ""
    trigger_id: TextOrEmpty = ""
    response_url: TextOrEmpty = ""
    view: View | None = None


class SlashCommand(Wire):
    command: str
    text: TextOrEmpty = ""
    user_id: str
    user_name: TextOrEmpty = ""
    channel_id: str
    channel_name: TextOrEmpty = ""
    trigger_id: str
    response_url: TextOrEmpty = ""


class SessionStopped(Wire):
    """A reader pressed Slack's own button to stop what goes on in a thread, and with it the streams there."""

    channel: str
    user: str
    thread_ts: Ts
    streaming_message_ts: Annotated[tuple[Ts, ...], BeforeValidator(_or_none)] = ()
    event_ts: Ts


class AssistantThread(Wire):
    """A thread in the assistant pane."""

    user_id: str = ""
    channel_id: str
    thread_ts: Ts
