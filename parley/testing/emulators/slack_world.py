"""The workspace as one app sees it, and the creation of messages in it."""

import itertools
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import quote

from pydantic import JsonValue

from parley.testing.emulators.control import Changes
from parley.testing.emulators.slack_line import Delivery, DeliveryKind, EventLine, counted
from parley.testing.emulators.slack_state import TEAM, Action, Edit, Kind, Message, Person, Room, StoredFile, View
from parley.testing.emulators.slack_stream import IDLE_SECONDS, TOTAL_SECONDS
from parley.testing.emulators.slack_text import block_words, mrkdwn_words
from parley.testing.emulators.slack_wire import Json

SCOPE_OF_EVENT = {
    "message.im": "im:history",
    "message.channels": "channels:history",
    "message.groups": "groups:history",
    "message.mpim": "mpim:history",
    "app_mention": "app_mentions:read",
    "reaction_added": "reactions:read",
    "reaction_removed": "reactions:read",
    "assistant_thread_started": "assistant:write",
    "assistant_thread_context_changed": "assistant:write",
    "agent_session_stopped": "assistant:write",
    "member_joined_channel": "channels:read",
    "member_left_channel": "channels:read",
    "channel_archive": "channels:read",
    "channel_deleted": "channels:read",
    "channel_id_changed": "channels:read",
}
SCOPE_WORD: dict[Kind, str] = {"im": "im", "channel": "channels", "group": "groups", "mpim": "mpim"}
TRIGGER_SECONDS = 3.0
RESPONSE_SECONDS = 1800.0
RESPONSE_USES = 5


@dataclass(eq=False)
class ResponseUrl:
    """Address at which an app may answer a command or a press for half an hour."""

    room: Room
    person: Person
    until: float
    message: Message | None = None
    uses: int = RESPONSE_USES


@dataclass(eq=False)
class World:
    bot: Person
    line: EventLine
    changes: Changes
    clock: Callable[[], float]
    scopes: set[str]
    address: Callable[[], str]
    """Returns the address of the emulator."""
    scopes_used: set[str] = field(default_factory=set)
    events_used: set[str] = field(default_factory=set)
    rooms: dict[str, Room] = field(default_factory=dict)
    people: dict[str, Person] = field(default_factory=dict)
    private_rooms: dict[str, Room] = field(default_factory=dict)
    """Private chats with the bot by user id."""
    files: dict[str, StoredFile] = field(default_factory=dict)
    triggers: dict[str, tuple[float, Person]] = field(default_factory=dict)
    response_urls: dict[str, ResponseUrl] = field(default_factory=dict)
    views: dict[str, View] = field(default_factory=dict)
    homes: dict[str, View] = field(default_factory=dict)
    """The app's home by user id."""
    now: Callable[[], float] = time.time
    """Slack's clock."""
    assistant_allowed: bool = True
    stream_seconds: float = IDLE_SECONDS
    """Seconds without a part after which a stream is closed."""
    stream_lifetime: float = TOTAL_SECONDS
    """Seconds after its begin at which a stream is closed."""
    streams_refused: str = ""
    """Error with which streams are refused at their begin."""
    numbers: "itertools.count[int]" = field(default_factory=lambda: itertools.count(1))
    _last_ts: int = 0
    _next_event: Callable[[], str] = field(default_factory=lambda: counted("Ev"))

    def ts(self) -> str:
        """Return a new message timestamp, unique and increasing whatever the clock does."""
        self._last_ts = max(self._last_ts + 1, int(self.now() * 1_000_000))
        return f"{self._last_ts // 1_000_000}.{self._last_ts % 1_000_000:06d}"

    def name(self, of: str) -> str:
        if of in self.people:
            return self.people[of].username
        return self.rooms[of].title if of in self.rooms else of

    def open_private(self, person: Person) -> Room:
        """Return the private chat of this user with the bot."""
        room = self.private_rooms.get(person.id)
        if room is None:
            room = Room(f"D{person.id[1:]}", "im", "", [person])
            self.private_rooms[person.id] = self.rooms[room.id] = room
        return room

    def touch(self, room: Room) -> None:
        """Wake those who wait for a change in this conversation."""
        room.changes.notify()
        self.changes.notify()

    # Messages

    def compose(self, message: Message) -> None:
        """Compute the readable text of a message. A plan is read with it only while it is open."""
        words = block_words(message.blocks, self.name) if message.blocks else mrkdwn_words(message.source, self.name)
        extra = [str(each.get("text") or each.get("fallback") or "") for each in message.attachments]
        is_streamed = message.stream is not None and not message.stream.ended and message.edited is None
        plan = message.plan.words if message.plan is not None and (message.plan.is_open or is_streamed) else ""
        message.text = "\n".join(filter(None, [plan, words, *extra]))

    def post(self, room: Room, message: Message) -> Message:
        """Add a message and announce it."""
        self.compose(message)
        message.first_text = message.text
        room.add(message)
        if message.sender == self.bot:
            self.clear_status(room, message)
        if message.ephemeral_to is None:
            self.tell_message(room, message)
        self.touch(room)
        return message

    def clear_status(self, room: Room, message: Message) -> None:
        """Clear the assistant's status, as Slack does when the app replies."""
        room.statuses.pop(message.reply_to.ts if message.reply_to is not None else message.ts, None)

    def change(self, room: Room, message: Message, before: Json) -> None:
        """Announce a message whose text was changed."""
        self.compose(message)
        message.edits.append(Edit(message.text, self.clock()))
        if message.ephemeral_to is None:
            self.tell_change(room, message, before)
        self.touch(room)

    def delete(self, room: Room, message: Message) -> None:
        before = message.to_json(with_metadata=True)
        message.deleted = True
        if message.ephemeral_to is None:
            ts = self.ts()
            about: Json = {"type": "message", "subtype": "message_deleted", "hidden": True, "deleted_ts": message.ts}
            self.tell_in(room, {**about, "previous_message": before, "ts": ts, "event_ts": ts})
        self.touch(room)

    def act(self, room: Room, action: str, thread: str | None, text: str) -> None:
        room.actions.append(Action(action, self.clock(), thread, text))
        self.touch(room)

    # Events

    def tell_message(self, room: Room, message: Message) -> None:
        about = {**message.to_json(with_metadata=True), "event_ts": message.ts}
        self.tell_in(room, dict(about))
        if room.kind != "im" and f"<@{self.bot.id}>" in message.source and message.sender != self.bot:
            about.pop("subtype", None)
            self.tell("app_mention", {**about, "type": "app_mention", "channel": room.id}, room)

    def tell_change(self, room: Room, message: Message, before: Json) -> None:
        ts = self.ts()
        about: Json = {"type": "message", "subtype": "message_changed", "hidden": True, "ts": ts, "event_ts": ts}
        self.tell_in(room, {**about, "message": message.to_json(with_metadata=True), "previous_message": before})

    def tell_in(self, room: Room, event: Json) -> None:
        """Send a `message` event of a conversation."""
        self.tell(f"message.{SCOPE_WORD[room.kind]}", {**event, "channel": room.id, "channel_type": room.kind}, room)

    def tell(self, name: str, event: Json, room: Room | None = None) -> None:
        """Send an event by its subscription name, if the app may receive it."""
        scope = SCOPE_OF_EVENT.get(name)
        if (scope is not None and scope not in self.scopes) or (room is not None and not room.bot_in):
            return
        self.events_used.add(name)
        if scope is not None:
            self.scopes_used.add(scope)
        self.line.push(Delivery("events_api", self.wrap(event)))

    def wrap(self, event: JsonValue) -> Json:
        """Wrap an event in Slack's envelope."""
        event_id = self._next_event()
        authorization: Json = {
            "enterprise_id": None,
            "team_id": TEAM,
            "user_id": self.bot.id,
            "is_bot": True,
            "is_enterprise_install": False,
        }
        return {
            "token": "emulated-verification",
            "team_id": TEAM,
            "context_team_id": TEAM,
            "context_enterprise_id": None,
            "api_app_id": self.bot.app_id,
            "event": event,
            "type": "event_callback",
            "event_id": event_id,
            "event_time": int(self.now()),
            "authorizations": [authorization],
            "is_ext_shared_channel": False,
            "event_context": f"4-{event_id}",
        }

    # Interactions

    def trigger(self, person: Person) -> str:
        """Return a trigger id, valid for one modal within three seconds."""
        trigger = f"{next(self.numbers)}.{TEAM}.emulated"
        self.triggers[trigger] = (self.clock() + TRIGGER_SECONDS, person)
        return trigger

    def response_url(self, room: Room, person: Person, message: Message | None = None) -> str:
        key = f"{TEAM}/{next(self.numbers)}/emulated"
        self.response_urls[key] = ResponseUrl(room, person, self.clock() + RESPONSE_SECONDS, message)
        return f"{self.address()}/actions/{key}"

    def deliver(
        self, kind: DeliveryKind, payload: Json, on_ack: Callable[[Json], None], on_loss: Callable[[str], None]
    ) -> None:
        """Deliver a command, press or modal: once, or not at all."""
        self.line.push(Delivery(kind, payload, on_ack, on_loss))

    def store(self, name: str, mime: str, content: bytes, owner: Person, file_id: str | None = None) -> StoredFile:
        file_id = file_id or f"F{next(self.numbers):010d}"
        url = f"{self.address()}/files-pri/{TEAM}-{file_id}/{quote(name, safe='')}"
        file = StoredFile(file_id, name, mime, content, owner.id, url)
        self.files[file_id] = file
        return file
