"""A conversation as its users see and use it: the control functions of the Slack emulator."""

import uuid
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from pydantic import JsonValue

from parley.testing.emulators.slack_answers import answers_of
from parley.testing.emulators.slack_press import block_actions, message_action, slash_command
from parley.testing.emulators.slack_session import Session
from parley.testing.emulators.slack_state import Action, Button, Message, Person, Press, Room
from parley.testing.emulators.slack_text import rich_text, typed
from parley.testing.emulators.slack_wire import Json
from parley.testing.emulators.slack_world import World

COMMAND = "/parley"
PANE = "assistant_app_thread"
"""Subtype of the message that begins a thread of the assistant's pane, which clients show as its head."""
EMOJI = {
    "👍": "+1", "👎": "-1", "👀": "eyes", "❤": "heart", "❤️": "heart", "🎉": "tada", "✅": "white_check_mark",
    "🔥": "fire", "⏳": "hourglass_flowing_sand", "😂": "joy", "🤔": "thinking_face", "🙏": "pray", "❌": "x",
}  # fmt: skip


class Chat:
    """A conversation, or one thread of it, from its users' side. Their actions reach the app as events."""

    def __init__(self, world: World, room: Room, root: Message | None = None) -> None:
        self._world = world
        self._room = room
        self._root = root

    @property
    def id(self) -> str:
        return self._room.id

    # What users see

    @property
    def messages(self) -> list[Message]:
        """All messages that still exist, oldest first, including those visible to one user."""
        return [each for each in self.everything if not each.deleted]

    @property
    def everything(self) -> list[Message]:
        """All messages ever written, including deleted ones."""
        root = self._root
        return [each for each in self._room.seen if root is None or root in (each, each.reply_to)]

    @property
    def bot_messages(self) -> list[Message]:
        ours = (each for each in self.messages if each.sender == self._world.bot)
        return [each for each in ours if each.subtype != PANE]

    @property
    def screen(self) -> list[str]:
        """Current texts of the bot's messages, oldest first."""
        return [each.shown for each in self.bot_messages]

    @property
    def streaming(self) -> list[Message]:
        """The bot's messages whose streams are open."""
        now = self._world.clock()
        return [each for each in self.bot_messages if each.stream is not None and each.stream.is_open(now)]

    @property
    def broken(self) -> list[Message]:
        """The bot's messages that have an error mark for good, as Slack had to end their streams."""
        now = self._world.clock()
        return [each for each in self.bot_messages if each.stream is not None and each.stream.is_broken(now)]

    @property
    def actions(self) -> list[Action]:
        """Statuses and reactions of the bot, oldest first."""
        root = self._root
        return [each for each in self._room.actions if root is None or each.thread == root.ts]

    @property
    def status(self) -> str:
        """Current status of the thread, such as "is thinking…", or ""."""
        shown = self._room.statuses
        return shown.get(self._root.ts, "") if self._root is not None else next(iter(shown.values()), "")

    @property
    def session(self) -> Session | None:
        """The agent session of the thread, if there is one."""
        return self._room.sessions.get(self._root.ts) if self._root is not None else None

    @property
    def notices(self) -> list[str]:
        """Slack's own messages to the users, such as for a command that the app did not acknowledge in time."""
        return self._room.notices

    def until(self, condition: "Callable[[Chat], bool]", timeout: float = 30.0) -> Awaitable[None]:
        """Wait until the condition holds; an IndexError in it, as from `chat.screen[-1]`, counts as "not yet"."""
        return self._room.changes.until(lambda: condition(self), timeout, self._described)

    def _described(self) -> str:
        plans = [each.plan.rows for each in self.bot_messages if each.plan is not None]
        return f"the screen shows {self.screen}, with the plans {plans}, Slack says {self.notices}"

    def thread(self, message: Message) -> "Chat":
        """Return the thread of this message."""
        return Chat(self._world, self._room, message.reply_to or message)

    # What users do

    async def says(
        self,
        person: Person,
        text: str = "",
        *,
        reply_to: Message | None = None,
        photo: bytes | None = None,
        document: tuple[str, bytes, str] | None = None,
    ) -> Message:
        """Write a message. Text with a slash becomes the slash command or, in threads, which have none, `!…`.

        `document` is (name, content, MIME type).
        """
        root = self._root if reply_to is None else reply_to.reply_to or reply_to
        if text.startswith("/"):
            if root is None:
                return self._command(person, text)
            text = f"!{text.removeprefix(COMMAND).strip().removeprefix('/')}"
        message = self._new(person, text, root)
        if photo is not None:
            message.files.append(self._world.store("photo.jpg", "image/jpeg", photo, person))
        if document is not None:
            name, content, mime = document
            message.files.append(self._world.store(name, mime, content, person))
        if message.files:
            message.subtype = "file_share"
        return self._world.post(self._room, message)

    async def posts(
        self, app: Person, text: str = "", *, attachments: Sequence[Json] = (), blocks: Sequence[Json] = ()
    ) -> Message:
        """Post a message of another app, as through the Web API."""
        return self._world.post(self._room, self._foreign(app, text, attachments, blocks))

    async def hooks(
        self, app: Person, text: str = "", *, attachments: Sequence[Json] = (), blocks: Sequence[Json] = ()
    ) -> Message:
        """Post a message of another app, as through an old incoming webhook: subtype `bot_message`, no user."""
        message = self._foreign(app, text, attachments, blocks)
        message.subtype = "bot_message"
        return self._world.post(self._room, message)

    async def shows(self, person: Person, *blocks: Json) -> Message:
        """Post blocks without a text, as an app does on behalf of a person."""
        message = self._new(person, "", self._root)
        message.blocks = [*blocks]
        return self._world.post(self._room, message)

    async def shares(self, person: Person, passed_on: Message, text: str = "") -> Message:
        """Share a message from another conversation, with a text of one's own."""
        message = self._new(person, text, self._root)
        by = passed_on.sender
        message.attachments = [
            {
                "ts": passed_on.ts,
                "channel_id": passed_on.room_id,
                "is_msg_unfurl": True,
                "is_share": True,
                "author_id": by.id,
                "author_name": by.name,
                "fallback": f"[now] {by.name}: {passed_on.source}",
                "text": passed_on.source,
                "files": [each.to_json() for each in passed_on.files],
            }
        ]
        return self._world.post(self._room, message)

    async def shares_file(self, person: Person, passed_on: Message, text: str = "") -> Message:
        """Share the files of another message alone; they keep their owner."""
        message = self._new(person, text, self._root)
        message.files, message.subtype = [*passed_on.files], "file_share"
        return self._world.post(self._room, message)

    async def connects(
        self,
        person: Person,
        text: str,
        document: tuple[str, bytes, str],
        *,
        uploader: Person | None = None,
        is_kept_back: bool = False,
    ) -> Message:
        """Share a file from another workspace through Slack Connect; `document` is (name, content, MIME type).

        Where it is kept back, Slack says that there is no such file. `uploader` is somebody else who uploaded it.
        """
        message = self._new(person, text, self._root)
        name, content, mime = document
        file = replace(self._world.store(name, mime, content, uploader or person), is_connected=True)
        self._world.files[file.id] = file
        if is_kept_back:
            del self._world.files[file.id]
        message.files, message.subtype = [file], "file_share"
        return self._world.post(self._room, message)

    async def edits(self, message: Message, text: str) -> None:
        """Edit one's own message."""
        before = message.to_json(with_metadata=True)
        message.source = typed(text, (self._world.bot.username, self._world.bot.id))
        message.blocks = [] if message.sender.is_bot or not text else [rich_text(message.source)]
        message.edited = {"user": message.sender.id, "ts": self._world.ts()}
        self._world.change(self._room, message, before)

    async def unfurls(self, message: Message, attachment: Json) -> None:
        """Add the preview of a link, which changes the message without an edit."""
        before = message.to_json(with_metadata=True)
        message.attachments = [*message.attachments, attachment]
        self._world.tell_change(self._room, message, before)

    async def deletes(self, message: Message) -> None:
        self._world.delete(self._room, message)

    async def reacts(self, person: Person, message: Message, emoji: str) -> None:
        """React with an emoji, given as a character or by Slack's name."""
        name = EMOJI.get(emoji, emoji.strip(":"))
        message.reactions.setdefault(name, []).append(person.id)
        item: Json = {"type": "message", "channel": self._room.id, "ts": message.ts}
        event: Json = {"type": "reaction_added", "user": person.id, "reaction": name, "item": item}
        event.update(item_user=message.sender.id, event_ts=self._world.ts())
        self._world.tell("reaction_added", event, self._room)
        self._world.touch(self._room)

    async def presses(
        self, person: Person, button: str | None = None, *, data: str | None = None, message: Message | None = None
    ) -> Press:
        """Press the newest button with this label or value, and wait for one if there is none.

        Raises AssertionError if none comes.
        """

        def find() -> tuple[Message, Button] | None:
            for each in [message] if message is not None else self.bot_messages[::-1]:
                found = each.button(button, data)
                if found is not None:
                    return each, found
            return None

        seen = await self._room.changes.found(find, lambda: f"no button {button or data!r} on {self.screen}")
        return self._press(person, *seen)

    async def rates(self, person: Person, message: Message, *, good: bool) -> Press:
        """Press one of the two buttons that say if a message is good."""
        praise, blame = message.ratings
        return self._press(person, message, praise if good else blame)

    async def shortcut(self, person: Person, message: Message, callback_id: str) -> None:
        """Use the app's shortcut in the menu of a message."""
        self._deliver(message_action(self._world, self._room, person, message, callback_id), lambda _answer: None)

    async def stops(self, person: Person) -> None:
        """Press Slack's own Stop, which ends the bot's open streams in this thread and tells the app."""
        open_ones = self.streaming
        for each in open_ones:
            if each.stream is not None:
                each.stream.stopped_by_user = True
        root = self._root.ts if self._root is not None else ""
        stopped: list[JsonValue] = [each.ts for each in open_ones]
        event: Json = {"type": "agent_session_stopped", "channel": self._room.id, "user": person.id}
        event.update(thread_ts=root, streaming_message_ts=stopped, event_ts=self._world.ts())
        self._world.tell("agent_session_stopped", event, self._room)
        self._world.touch(self._room)

    async def joins(self, person: Person) -> None:
        self._room.people.append(person)
        self._tell_joined(person)

    async def leaves(self, person: Person) -> None:
        self._room.people.remove(person)

    async def archive(self) -> None:
        self._tell_channel("channel_archive")
        self._room.archived = True

    async def changes_id(self, new: str) -> None:
        """Give the channel another id, as Slack may when it is shared. Its messages and threads stay as they are."""
        old, self._room.id = self._room.id, new
        self._world.rooms[new] = self._world.rooms.pop(old)
        event: Json = {"type": "channel_id_changed", "old_channel_id": old, "new_channel_id": new}
        self._world.tell("channel_id_changed", {**event, "event_ts": self._world.ts()}, self._room)

    async def kick_bot(self) -> None:
        """Remove the bot from the channel, after which it receives nothing from it."""
        event: Json = {"type": "member_left_channel", "user": self._world.bot.id, "channel": self._room.id}
        self._world.tell("member_left_channel", {**event, "event_ts": self._world.ts()}, self._room)
        self._room.bot_in = False

    async def blocks(self) -> None:
        """Close the conversation to the app. Users of Slack cannot block an app."""
        self._room.bot_in = False

    async def invite_bot(self) -> None:
        self._room.bot_in = True
        self._tell_joined(self._world.bot)

    async def opens_assistant(self, person: Person) -> "Chat":
        """Open the assistant's pane in the private chat, which starts a new thread."""
        return self.pane(person)

    def pane(self, person: Person) -> "Chat":
        """Return a new thread of the assistant's pane in the private chat."""
        root = self._new(self._world.bot, "New Assistant Thread", None)
        root.subtype = PANE
        self._world.post(self._room, root)
        self._tell_assistant("assistant_thread_started", person, root, {})
        return Chat(self._world, self._room, root)

    async def looks_at(self, person: Person, channel: "Chat") -> None:
        """Switch to another channel while the assistant's pane is open."""
        if self._root is None:
            raise AssertionError("only in a thread of the assistant")
        context: Json = {"channel_id": channel.id, "team_id": "T0PARLEY", "enterprise_id": None}
        self._tell_assistant("assistant_thread_context_changed", person, self._root, context)

    # Implementation

    def _new(self, person: Person, text: str, root: Message | None) -> Message:
        world = self._world
        message = Message(world.ts(), person, self._room.id, world.clock(), reply_to=root)
        message.source = typed(text, (world.bot.username, world.bot.id))
        if text and not person.is_bot:
            message.blocks = [rich_text(message.source)]
            message.client_msg_id = str(uuid.uuid4())
        return message

    def _foreign(self, app: Person, text: str, attachments: Sequence[Json], blocks: Sequence[Json]) -> Message:
        message = self._new(app, "", self._root)
        message.source, message.attachments, message.blocks = text, [*attachments], [*blocks]
        return message

    def _command(self, person: Person, words: str) -> Message:
        """Send a slash command. The returned message is in no conversation, as commands leave none."""
        first, _, rest = words.partition(" ")
        sent = rest if first == COMMAND else words.removeprefix("/")
        message = self._new(person, "", None)
        message.text = message.first_text = words
        world, room = self._world, self._room
        if "commands" not in world.scopes:
            self._failed(f"{COMMAND} is not a valid command")
            return message
        world.scopes_used.add("commands")
        payload = slash_command(world, room, person, COMMAND, sent)
        world.deliver(
            "slash_commands",
            payload,
            answers_of(world, room, person),
            lambda why: self._failed(f'{COMMAND} failed with the error "{why}"'),
        )
        return message

    def _press(self, person: Person, message: Message, button: Button) -> Press:
        press = Press(person, message, button, self._world.clock())

        def heard(_: Json) -> None:
            press.answered = True
            self._world.touch(self._room)

        def failed(why: str) -> None:
            press.failed = why
            self._failed(f"the button failed: {why}")

        payload = block_actions(self._world, self._room, press)
        self._world.deliver("interactive", payload, heard, failed)
        return press

    def _deliver(self, payload: Json, heard: Callable[[Json], None]) -> None:
        self._world.deliver("interactive", payload, heard, lambda why: self._failed(f"the app failed: {why}"))

    def _failed(self, notice: str) -> None:
        self._room.notices.append(notice)
        self._world.touch(self._room)

    def _tell_joined(self, person: Person) -> None:
        kind = "C" if self._room.kind == "channel" else "G"
        event: Json = {"type": "member_joined_channel", "user": person.id, "channel": self._room.id}
        event.update(channel_type=kind, team="T0PARLEY", event_ts=self._world.ts())
        self._world.tell("member_joined_channel", event, self._room)

    def _tell_channel(self, name: str) -> None:
        by: JsonValue = self._room.people[0].id if self._room.people else "USLACKBOT"
        event: Json = {"type": name, "channel": self._room.id, "user": by, "event_ts": self._world.ts()}
        self._world.tell(name, event, self._room)

    def _tell_assistant(self, name: str, person: Person, root: Message, context: Json) -> None:
        thread: Json = {"user_id": person.id, "context": context, "channel_id": self._room.id, "thread_ts": root.ts}
        self._world.tell(name, {"type": name, "assistant_thread": thread, "event_ts": self._world.ts()})
