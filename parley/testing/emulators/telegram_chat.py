"""A chat as its users see and use it: the control functions of the Telegram emulator."""

import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Literal

from pydantic import JsonValue

from parley.testing.emulators.telegram_state import Action, Draft, Message, Person, Press, Room, World
from parley.testing.emulators.telegram_text import Entity, entity_problem, found_entities, trim
from parley.testing.emulators.telegram_updates import Json

NOBODY = Person(0, "nobody")
DRAFT_SECONDS = 30.0
ANONYMOUS = Person(1087968824, "Group", username="GroupAnonymousBot", is_bot=True)
"""As whom Telegram writes in the name of a group."""


class Chat:
    """A chat, or one topic of a forum, from its users' side. Their actions reach the bot as updates."""

    def __init__(self, world: World, room: Room, thread: int | None = None) -> None:
        self._world = world
        self._room = room
        self.thread = thread

    @property
    def id(self) -> int:
        return self._room.id

    def skip_ids(self, count: int) -> None:
        """Use up message ids, as if so many messages had been written before this chat was emulated."""
        for _ in range(count):
            self._room.next_id()

    # What users see

    @property
    def messages(self) -> list[Message]:
        """All messages that still exist, oldest first, without service messages."""
        return [each for each in self._all() if not each.deleted and not each.service]

    @property
    def bot_messages(self) -> list[Message]:
        return [each for each in self.messages if each.sender == self._world.bot]

    @property
    def screen(self) -> list[str]:
        """Current texts of the bot's messages, oldest first."""
        return [each.shown for each in self.bot_messages]

    @property
    def everything(self) -> list[Message]:
        """All messages ever written, including deleted and service ones."""
        return self._all()

    @property
    def actions(self) -> list[Action]:
        """Chat actions of the bot, such as typing."""
        return [each for each in self._room.actions if each.thread == self.thread]

    @property
    def draft(self) -> Draft | None:
        """The draft on the screen: it goes with the bot's next message, or 30 s after it was last sent."""
        newest = self.drafts[-1] if self.drafts else None
        if newest is None or self._world.clock() - newest.at > DRAFT_SECONDS:
            return None
        said = self.bot_messages
        return None if said and said[-1].at >= newest.at else newest

    @property
    def drafts(self) -> list[Draft]:
        """All drafts ever sent, oldest first."""
        return [each for each in self._room.drafts if each.thread == self.thread]

    def until(self, condition: "Callable[[Chat], bool]", timeout: float = 30.0) -> Awaitable[None]:
        """Wait until the condition holds; an IndexError in it, as from `chat.screen[-1]`, counts as "not yet"."""
        return self._room.changes.until(lambda: condition(self), timeout, lambda: f"the screen shows {self.screen}")

    def forbid_reactions(self) -> None:
        """Switch reactions off in the chat's settings."""
        self._room.reactions_off = True

    def forbid_voice_messages(self) -> None:
        """Let the user of a private chat take no voice messages, as people with Premium can."""
        self._room.voice_forbidden = True

    # What users do

    async def says(
        self,
        person: Person,
        text: str = "",
        *,
        reply_to: Message | None = None,
        quote: str | None = None,
        photo: bytes | None = None,
        document: tuple[str, bytes, str] | None = None,
        album: str | None = None,
    ) -> Message:
        """Write a message. `document` is (name, content, MIME type); `album` groups several media messages."""
        message = self._write(person, text, found_entities(text), reply_to)
        message.quote, message.album = quote, album
        if photo is not None:
            message.files["photo"] = self._world.store("photo.jpg", "image/jpeg", photo)
        if document is not None:
            name, content, mime = document
            message.files["document"] = self._world.store(name, mime, content)
        self._show(message, "message")
        return message

    async def marks(self, person: Person, text: str, entities: Sequence[Entity]) -> Message:
        """Write a text in which the client marks more than Telegram finds, such as links behind words."""
        if problem := entity_problem(text, entities):
            raise AssertionError(problem)
        message = self._write(person, text, [*found_entities(text), *entities], None)
        self._show(message, "message")
        return message

    async def shows(self, person: Person, content: Json) -> Message:
        """Send content of another kind, such as a story, with the fields that the Bot API has for it."""
        message = self._write(person, "", [], None)
        message.content = content
        self._show(message, "message")
        return message

    async def forwards(self, person: Person, passed_on: Message) -> Message:
        """Forward a message from another chat."""
        message = self._write(person, passed_on.text, passed_on.entities, None)
        message.forwarded = passed_on
        message.files, message.content = passed_on.files, passed_on.content
        self._show(message, "message")
        return message

    async def edits(self, message: Message, text: str, entities: Sequence[Entity] = ()) -> None:
        """Edit one's own message."""
        message.text, message.entities = trim(text, [*found_entities(text), *entities])
        message.edit_date = self._world.date()
        self._show(message, "edited_message")

    async def presses(
        self, person: Person, button: str | None = None, *, data: str | None = None, message: Message | None = None
    ) -> Press:
        """Press the newest button with this label or data, and wait for one if there is none.

        Raises AssertionError if none comes.
        """

        def find() -> tuple[Message, str] | None:
            for each in [message] if message is not None else self.bot_messages[::-1]:
                found = each.button(button, data)
                if found is not None and found.data is not None:
                    return each, found.data
            return None

        seen = await self._room.changes.found(find, lambda: f"no button {button or data!r} on {self.screen}")
        return self._press(person, *seen)

    async def reacts(self, person: Person, message: Message, *emoji: str, before: Sequence[str] = ()) -> None:
        """React to a message, instead of the reactions `before`; the bot is notified only if it asked for
        `message_reaction`."""
        self._push(
            "message_reaction",
            {
                "chat": self._room.to_json(),
                "message_id": message.message_id,
                "user": person.to_json(),
                "date": self._world.date(),
                "old_reaction": [{"type": "emoji", "emoji": each} for each in before],
                "new_reaction": [{"type": "emoji", "emoji": each} for each in emoji],
            },
        )

    async def deletes(self, message: Message) -> None:
        """Delete a message, of which Telegram does not notify bots."""
        message.deleted = True
        self._world.touch(self._room)

    async def joins(self, person: Person) -> None:
        self._room.people.append(person)
        self._serve(person, {"new_chat_members": [person.to_json()]})

    async def leaves(self, person: Person) -> None:
        self._room.people.remove(person)
        self._room.left.append(person)
        self._serve(person, {"left_chat_member": person.to_json()})

    async def blocks(self) -> None:
        """Let the user of a private chat block the bot."""
        self._room.closed = "bot was blocked by the user"
        self._tell_membership(self._room.people[0], "member", "kicked")

    async def unblocks(self) -> None:
        self._room.closed = None
        self._tell_membership(self._room.people[0], "kicked", "member")

    async def migrate(self, *, tells: Sequence[Literal["old", "new"]] = ("old", "new")) -> "Chat":
        """Turn the group into a supergroup: a new chat id, which both chats announce, and where message ids begin anew.

        `tells` are the chats whose announcement reaches the bot, in this order: Telegram keeps updates for a day.
        """
        old = self._room
        new = Room(-1_000_000_000_000 + old.id, "supergroup", old.title, old.people)
        self._world.rooms[new.id] = new
        old.moved_to = new.id
        by = old.people[0] if old.people else NOBODY
        moved = Chat(self._world, new)
        for each in tells:
            if each == "old":
                self._serve(by, {"migrate_to_chat_id": new.id})
            else:
                moved._serve(ANONYMOUS, {"migrate_from_chat_id": old.id})
        return moved

    def topic(self, name: str) -> "Chat":
        """Open a topic of a forum, or of a private chat that has topics."""
        if not self._room.forum:
            raise AssertionError(f"{self._room.title or 'the chat'} is no forum")
        by = self._room.people[0] if self._room.people else NOBODY
        opened = Message(self._room.next_id(), by, self._world.date(), self._world.clock(), in_topic=True)
        opened.thread = opened.message_id
        opened.service = {"forum_topic_created": {"name": name, "icon_color": 0x6FB9F0}}
        self._room.topics[opened.message_id] = name
        self._room.messages[opened.message_id] = opened
        self._show(opened, "message")
        return Chat(self._world, self._room, opened.message_id)

    async def deletes_topic(self) -> None:
        """Delete the topic that this is, of which Telegram does not notify bots."""
        del self._room.topics[self.thread or 0]
        self._world.touch(self._room)

    async def ticks(self, person: Person, message: Message, *tasks: int) -> None:
        """Mark tasks of a checklist as done, and the others as open."""
        checklist = message.content["checklist"]
        assert isinstance(checklist, dict)
        assert isinstance(checklist["tasks"], list)
        changed: list[Json] = []
        for task in checklist["tasks"]:
            assert isinstance(task, dict)
            done: Json = {"completed_by_user": person.to_json(), "completion_date": self._world.date()}
            is_done = task["id"] in tasks
            changed.append({"id": task["id"], "text": task["text"], **(done if is_done else {})})
        message.content = {"checklist": {**checklist, "tasks": [*changed]}}
        told = message.to_json(self._room.to_json(), inner=True)
        self._serve(person, {"checklist_tasks_done": {"checklist_message": told, "marked_as_done_task_ids": [*tasks]}})

    # Implementation

    def _all(self) -> list[Message]:
        in_topic = self.thread is not None
        return [
            each
            for each in self._room.messages.values()
            if each.in_topic == in_topic and (not in_topic or each.thread == self.thread)
        ]

    def _write(self, person: Person, text: str, entities: Sequence[Entity], reply_to: Message | None) -> Message:
        room, kept = self._room, trim(text, entities)
        message = Message(room.next_id(), person, self._world.date(), self._world.clock(), kept[0], kept[0], kept[1])
        message.reply_to = reply_to
        if self.thread is not None:
            message.thread, message.in_topic = self.thread, True
            # In a topic, other messages are replies to the one that opened it.
            message.reply_to = reply_to or room.messages[self.thread]
        elif reply_to is not None and room.kind == "supergroup":
            # Telegram uses the same field for reply threads, which are no topics.
            message.thread = reply_to.thread or reply_to.message_id
        room.messages[message.message_id] = message
        return message

    def _serve(self, person: Person, service: Json) -> None:
        message = self._write(person, "", [], None)
        message.service = service
        self._show(message, "message")

    def _show(self, message: Message, kind: Literal["message", "edited_message"]) -> None:
        if not self._hidden(message):
            self._push(kind, message.to_json(self._room.to_json()))
        self._world.touch(self._room)

    def _hidden(self, message: Message) -> bool:
        if self._room.closed is not None:
            return True
        if not self._world.privacy or self._room.private or message.service:
            return False
        answered = message.reply_to is not None and message.reply_to.sender == self._world.bot
        meant = rf"^/|@{re.escape(self._world.bot.username or '')}\b"
        return not answered and re.search(meant, message.text) is None

    def _press(self, person: Person, message: Message, data: str) -> Press:
        press = Press(f"{self._world.next_id()}77", person, self.id, message, data, self._world.clock())
        self._world.presses[press.id] = press
        self._push(
            "callback_query",
            {
                "id": press.id,
                "from": person.to_json(),
                "message": message.to_json(self._room.to_json()),
                "chat_instance": str(self._room.id),
                "data": data,
            },
        )
        return press

    def _tell_membership(self, by: Person, old: str, new: str) -> None:
        bot = self._world.bot.to_json()
        gone: dict[str, JsonValue] = {"until_date": 0}
        self._push(
            "my_chat_member",
            {
                "chat": self._room.to_json(),
                "from": by.to_json(),
                "date": self._world.date(),
                "old_chat_member": {"user": bot, "status": old, **(gone if old == "kicked" else {})},
                "new_chat_member": {"user": bot, "status": new, **(gone if new == "kicked" else {})},
            },
        )
        self._world.touch(self._room)

    def _push(self, kind: str, content: Json) -> None:
        self._world.updates.push({kind: content})
