"""The parts of Slack's payloads that matter here, as Slack sends them. Everything else is left out unread."""

from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, JsonValue, StringConstraints, ValidationError

from channels.base import Text

Ts = Annotated[str, StringConstraints(pattern=r"^\d{1,12}\.\d{1,9}$")]
"""A message's time, which is its id in its conversation: `1700000000.000100`."""


def _or_empty(value: object) -> object:
    """Slack sends null for words that are not there."""
    return "" if value is None else value


def _or_none(value: object) -> object:
    return () if value is None else value


Words = Annotated[Text, BeforeValidator(_or_empty)]
Blocks = Annotated[tuple[dict[str, JsonValue], ...], BeforeValidator(_or_none)]


class _Wire(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class File(_Wire):
    id: str = ""
    name: Words = ""
    title: Words = ""
    mimetype: Words = ""
    size: int | None = None
    mode: Words = ""
    """"tombstone" for one that was deleted, "external" for one that Slack only links to."""
    is_external: bool = False
    permalink: Words = ""
    external_url: Words = ""
    url_private: Words = ""
    url_private_download: Words = ""


class Field(_Wire):
    title: Words = ""
    value: Words = ""


class Attachment(_Wire):
    """What stands below a message: an app's card, a link's preview, or a message that was shared."""

    fallback: Words = ""
    pretext: Words = ""
    author_name: Words = ""
    title: Words = ""
    title_link: Words = ""
    text: Words = ""
    from_url: Words = ""
    fields: Annotated[tuple[Field, ...], BeforeValidator(_or_none)] = ()
    blocks: Blocks = ()
    files: Annotated[tuple[File, ...], BeforeValidator(_or_none)] = ()


class Edited(_Wire):
    ts: Ts


class Profile(_Wire):
    display_name: Words = ""
    real_name: Words = ""
    name: Words = ""

    @property
    def shown(self) -> str:
        return self.display_name or self.real_name or self.name


class Metadata(_Wire):
    event_type: str = ""
    event_payload: dict[str, JsonValue] = {}


class Message(_Wire):
    """A post, or what became of one (`subtype`): then `message` and `previous_message` are the post itself."""

    type: str = "message"
    subtype: Words = ""
    channel: str = ""
    user: Words = ""
    bot_id: Words = ""
    username: Words = ""
    user_profile: Profile | None = None
    bot_profile: Profile | None = None
    text: Words = ""
    ts: Ts
    thread_ts: Ts | None = None
    parent_user_id: Words = ""
    edited: Edited | None = None
    blocks: Blocks = ()
    attachments: Annotated[tuple[Attachment, ...], BeforeValidator(_or_none)] = ()
    files: Annotated[tuple[File, ...], BeforeValidator(_or_none)] = ()
    metadata: Metadata | None = None
    message: "Message | None" = None
    previous_message: "Message | None" = None
    deleted_ts: Ts | None = None

    @property
    def thread(self) -> str | None:
        """The root's time, for a reply only: a root with replies names itself."""
        return None if self.thread_ts == self.ts else self.thread_ts


class Named(_Wire):
    """Somebody or something with an id."""

    id: str
    name: Words = ""
    username: Words = ""


class Action(_Wire):
    type: str = ""
    value: Words = ""
    action_ts: Ts


class Container(_Wire):
    message_ts: Ts | None = None
    channel_id: str = ""
    thread_ts: Ts | None = None
    is_ephemeral: bool = False


class Input(_Wire):
    value: Words = ""


class State(_Wire):
    values: dict[str, dict[str, Input]] = {}


class View(_Wire):
    id: str
    callback_id: Words = ""
    private_metadata: Words = ""
    state: State = State()


class Interaction(_Wire):
    """A press, a shortcut or a submitted view."""

    type: str
    user: Named
    channel: Named | None = None
    container: Container = Container()
    message: Message | None = None
    message_ts: Ts | None = None
    actions: tuple[Action, ...] = ()
    callback_id: Words = ""
    trigger_id: Words = ""
    response_url: Words = ""
    view: View | None = None


class SlashCommand(_Wire):
    command: str
    text: Words = ""
    user_id: str
    user_name: Words = ""
    channel_id: str
    trigger_id: str
    response_url: Words = ""


class AssistantThread(_Wire):
    """The pane that an app is talked to in."""

    user_id: str = ""
    channel_id: str
    thread_ts: Ts


def read_message(raw: object) -> Message | None:
    """None for what is not shaped as Slack documents it; so for all of these."""
    try:
        return Message.model_validate(raw)
    except ValidationError:
        return None


def read_interaction(raw: object) -> Interaction | None:
    try:
        return Interaction.model_validate(raw)
    except ValidationError:
        return None


def read_command(raw: object) -> SlashCommand | None:
    try:
        return SlashCommand.model_validate(raw)
    except ValidationError:
        return None


def read_assistant_thread(raw: object) -> AssistantThread | None:
    try:
        return AssistantThread.model_validate(raw)
    except ValidationError:
        return None
