"""State of the Slack emulator: users, conversations, messages, files, button presses."""

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from pydantic import JsonValue

from parley.testing.emulators.control import Changes
from parley.testing.emulators.slack_plan import Plan, plan_of
from parley.testing.emulators.slack_session import Session
from parley.testing.emulators.slack_stream import Stream
from parley.testing.emulators.slack_wire import Json, micros

TEAM = "T0PARLEY"
Kind = Literal["im", "channel", "group", "mpim"]
"""Value of `channel_type` in events; "group" is a private channel."""


Belongs = Literal["member", "guest", "stranger"]
"""A user's relation to the workspace; strangers belong to another organisation."""


@dataclass(frozen=True)
class Person:
    """A user, the bot itself, or another app."""

    id: str
    name: str
    username: str
    language: str | None = None
    is_bot: bool = False
    timezone: str = "Europe/Paris"
    belongs: Belongs = "member"

    @property
    def bot_id(self) -> str:
        """Bot id of an app, which has three ids; only the one with U can be mentioned."""
        return f"B{self.id[1:]}"

    @property
    def app_id(self) -> str:
        return f"A{self.id[1:]}"

    @property
    def bot_profile(self) -> Json:
        return {"id": self.bot_id, "app_id": self.app_id, "name": self.name, "team_id": TEAM, "deleted": False}


@dataclass(frozen=True)
class StoredFile:
    """A file stored by Slack; `url` requires the bot token."""

    id: str
    name: str
    mime: str
    content: bytes = field(repr=False)
    owner: str
    url: str
    title: str = ""
    is_connected: bool = False
    """True for a file of another workspace, of which events tell only the id."""

    def to_json(self) -> Json:
        kind = self.name.rpartition(".")[2] if "." in self.name else "binary"
        return {
            "id": self.id,
            "created": int(time.time()),
            "timestamp": int(time.time()),
            "name": self.name,
            "title": self.title or self.name,
            "mimetype": self.mime,
            "filetype": kind,
            "pretty_type": kind.upper(),
            "user": self.owner,
            "user_team": TEAM,
            "editable": False,
            "size": len(self.content),
            "mode": "hosted",
            "is_external": False,
            "is_public": True,
            "url_private": self.url,
            "url_private_download": self.url.replace("/files-pri/", "/files-pri-download/"),
            "has_rich_preview": False,
            "file_access": "visible",
        }

    def untold(self) -> Json:
        """Return what events tell of a file that another workspace shares through Slack Connect."""
        return {
            "id": self.id,
            "created": None,
            "timestamp": None,
            "mode": "file_access",
            "file_access": "check_file_info",
        }


@dataclass(frozen=True)
class Button:
    text: str
    data: str | None = None
    """Value of the button."""
    action_id: str = ""
    block_id: str = ""
    url: str | None = None
    style: str = ""
    kind: str = "button"


@dataclass(frozen=True)
class Edit:
    """One edit with the text after it; `at` in seconds of the emulator's clock."""

    text: str
    at: float


@dataclass(eq=False)
class Message:
    """A message in its current state, with its `edits`."""

    ts: str
    sender: Person
    room_id: str
    at: float
    text: str = ""
    """Readable text."""
    first_text: str = ""
    source: str = ""
    """Text as stored by Slack, with `<@U…>`, `&amp;` and mrkdwn; only a fallback if there are blocks."""
    blocks: list[Json] = field(default_factory=list)
    attachments: list[Json] = field(default_factory=list)
    reply_to: "Message | None" = None
    """The root of its thread."""
    replies: "list[Message]" = field(default_factory=list)
    broadcast: bool = False
    files: list[StoredFile] = field(default_factory=list)
    subtype: str = ""
    client_msg_id: str = ""
    metadata: Json | None = None
    edited: Json | None = None
    edits: list[Edit] = field(default_factory=list)
    reactions: dict[str, list[str]] = field(default_factory=dict)
    deleted: bool = False
    ephemeral_to: str | None = None
    """The only user who sees it; such a message is in no history."""
    stream: Stream | None = None
    """Set for a message that is or was streamed."""
    silent: bool = False

    @property
    def id(self) -> str:
        return self.ts

    @property
    def thread_ts(self) -> str | None:
        """Timestamp of the thread; a root has its own once there are replies."""
        if self.reply_to is not None:
            return self.reply_to.ts
        return self.ts if self.replies else None

    @property
    def document(self) -> StoredFile | None:
        return self.files[0] if self.files else None

    @property
    def photo(self) -> StoredFile | None:
        return next((each for each in self.files if each.mime.startswith("image/")), None)

    @property
    def shown(self) -> str:
        """Visible content of the message."""
        marks = " ".join(f"[{each.name}]" for each in self.files)
        return f"{marks} {self.text}".strip()

    @property
    def history(self) -> list[str]:
        """All texts of the message, oldest first."""
        return [self.first_text, *(edit.text for edit in self.edits)]

    @property
    def plan(self) -> Plan | None:
        """Tool calls shown above the text; folded, unless the message is being streamed."""
        return plan_of(self.blocks)

    @property
    def buttons(self) -> list[list[Button]]:
        """Buttons, one row per actions block."""
        return [row for row in (_row(block) for block in self.blocks) if row]

    @property
    def ratings(self) -> list[Button]:
        """Buttons that say if the message is good, the good one first."""
        pairs = (each for block in self.blocks if block.get("type") == "context_actions" for each in _ratings(block))
        return [*pairs]

    def button(self, text: str | None = None, data: str | None = None) -> Button | None:
        for row in self.buttons:
            for each in row:
                if (text is None or each.text == text) and (data is None or each.data == data):
                    return each
        return None

    def to_json(self, *, with_metadata: bool = False) -> Json:
        """Return the message as in events and `conversations.history`."""
        if self.deleted:
            return self._tombstone()
        about: Json = {"type": "message", "ts": self.ts, "text": self.source, "team": TEAM}
        about.update(self._author())
        if self.subtype:
            about["subtype"] = self.subtype
        if self.client_msg_id:
            about["client_msg_id"] = self.client_msg_id
        if self.blocks:
            about["blocks"] = list(self.blocks)
        if self.attachments:
            about["attachments"] = list(self.attachments)
        if self.files:
            about["files"] = [each.untold() if each.is_connected else each.to_json() for each in self.files]
            about.update({"upload": False, "display_as_bot": False})
        if self.edited is not None:
            about["edited"] = self.edited
        if self.metadata is not None and with_metadata:
            about["metadata"] = self.metadata
        if self.reactions:
            about["reactions"] = [_reaction(name, users) for name, users in self.reactions.items()]
        about.update(self._threading())
        return about

    def _author(self) -> Json:
        if self.subtype == "bot_message":
            return {"bot_id": self.sender.bot_id, "username": self.sender.name}
        about: Json = {"user": self.sender.id}
        if self.sender.is_bot:
            about.update(
                bot_id=self.sender.bot_id, app_id=self.sender.app_id, bot_profile=dict(self.sender.bot_profile)
            )
        return about

    def _threading(self) -> Json:
        if self.reply_to is not None:
            return {"thread_ts": self.reply_to.ts, "parent_user_id": self.reply_to.sender.id}
        living = [each for each in self.replies if not each.deleted]
        if not living:
            return {}
        users: list[JsonValue] = [*dict.fromkeys(each.sender.id for each in living)]
        return {
            "thread_ts": self.ts,
            "reply_count": len(living),
            "reply_users_count": len(users),
            "reply_users": users,
            "latest_reply": living[-1].ts,
            "is_locked": False,
            "subscribed": False,
        }

    def _tombstone(self) -> Json:
        about: Json = {"type": "message", "subtype": "tombstone", "user": "USLACKBOT", "hidden": True, "ts": self.ts}
        return {**about, "text": "This message was deleted.", **self._threading()}


def _reaction(name: str, users: list[str]) -> Json:
    listed: list[JsonValue] = [*users]
    return {"name": name, "users": listed, "count": len(users)}


def _row(block: Json) -> list[Button]:
    elements = block.get("elements") if block.get("type") == "actions" else [block.get("accessory")]
    if not isinstance(elements, list):
        return []
    return [_button(each, block) for each in elements if isinstance(each, dict) and each.get("type") == "button"]


def _ratings(block: Json) -> Iterator[Button]:
    elements = block.get("elements")
    for element in elements if isinstance(elements, list) else []:
        for name in ("positive_button", "negative_button"):
            button = element.get(name) if isinstance(element, dict) else None
            if isinstance(element, dict) and isinstance(button, dict):
                made = _button({**button, "action_id": element.get("action_id")}, block)
                yield replace(made, kind="feedback_buttons")


def _button(element: Json, block: Json) -> Button:
    label, value, url = element.get("text"), element.get("value"), element.get("url")
    return Button(
        str(label.get("text", "")) if isinstance(label, dict) else "",
        None if value is None else str(value),
        str(element.get("action_id", "")),
        str(block.get("block_id", "")),
        None if url is None else str(url),
        str(element.get("style", "")),
    )


@dataclass(frozen=True)
class Action:
    """An action of the bot: "status" (`text` is the status, or ""), "reaction" or "reaction removed" (`text` is the
    emoji's name); `at` in seconds of the emulator's clock."""

    action: str
    at: float
    thread: str | None = None
    text: str = ""


@dataclass(eq=False)
class Press:
    """A button press; `answered` if the app acknowledged it within 3 seconds."""

    person: Person
    message: Message
    button: Button
    at: float
    answered: bool = False
    failed: str = ""
    """Slack's error message to the user."""


@dataclass(eq=False)
class View:
    """A modal or a user's home of the app; `about` is the app's definition with Slack's additions."""

    id: str
    person: Person
    about: Json
    closed: bool = False

    @property
    def title(self) -> str:
        title = self.about.get("title")
        return str(title.get("text", "")) if isinstance(title, dict) else ""

    def filled(self, values: Mapping[str, str]) -> Json:
        """Return the view with the user's input, by `action_id` or `block_id` of the inputs."""
        state: Json = {}
        blocks = self.about.get("blocks")
        for block in blocks if isinstance(blocks, list) else []:
            element = block.get("element") if isinstance(block, dict) else None
            if isinstance(block, dict) and isinstance(element, dict):
                block_id, action_id = str(block.get("block_id", "")), str(element.get("action_id", ""))
                entered = values.get(action_id, values.get(block_id))
                state[block_id] = {action_id: {"type": element.get("type"), "value": entered}}
        return {**self.about, "state": {"values": state}}


@dataclass(eq=False)
class Submission:
    """A submitted modal; `answer` is the app's response (errors, an update), empty to just close it."""

    view: View
    answered: bool = False
    answer: JsonValue = None
    failed: str = ""


@dataclass(eq=False)
class Room:
    """A conversation with all its messages."""

    id: str
    kind: Kind
    title: str
    people: list[Person]
    bot_in: bool = True
    archived: bool = False
    messages: dict[str, Message] = field(default_factory=dict)
    """Messages by ts, including deleted ones but not ephemeral ones."""
    seen: list[Message] = field(default_factory=list)
    """All messages in the order of writing, including ephemeral ones."""
    timeline: list[Message] = field(default_factory=list)
    """Messages outside of threads, oldest first."""
    marks: list[int] = field(default_factory=list)
    """Times of `timeline`, for searching."""
    actions: list[Action] = field(default_factory=list)
    statuses: dict[str, str] = field(default_factory=dict)
    """Current status by thread."""
    sessions: dict[str, Session] = field(default_factory=dict)
    """Agent sessions by thread."""
    notices: list[str] = field(default_factory=list)
    """Slack's own messages to the users, such as for a failed command or button."""
    changes: Changes = field(default_factory=Changes)

    def add(self, message: Message) -> None:
        self.seen.append(message)
        if message.ephemeral_to is not None:
            return
        self.messages[message.ts] = message
        if message.reply_to is not None:
            message.reply_to.replies.append(message)
        if message.reply_to is None or message.broadcast:
            self.timeline.append(message)
            self.marks.append(micros(message.ts))
