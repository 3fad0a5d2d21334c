"""A chat as its users see and use it: the control functions of the Discord emulator."""

import heapq
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from pydantic import JsonValue

from parley.testing.emulators import discord_shapes as shapes
from parley.testing.emulators.discord_events import Events
from parley.testing.emulators.discord_form import Filled, submitted
from parley.testing.emulators.discord_options import FILE, file_option, filled_in
from parley.testing.emulators.discord_state import (
    COMPLETION,
    REPLY,
    SUBMISSION,
    THREAD,
    THREAD_STARTER,
    VOICE,
    Action,
    Channel,
    Form,
    Interaction,
    Json,
    Menu,
    Message,
    Person,
    Press,
    World,
    now_iso,
)
from parley.testing.emulators.discord_text import words

_COMMAND = re.compile(r"/([-\w]{1,32})(?:\s+(.*))?", re.DOTALL)
_BUTTON, _SLASH = 3, 2


class Chat:
    """A channel with its threads, a thread, or a private chat, from its users' side."""

    def __init__(self, world: World, events: Events, channel: Channel) -> None:
        self._world = world
        self._events = events
        self.channel = channel

    @property
    def id(self) -> str:
        return self.channel.id

    # What users see

    @property
    def everything(self) -> list[Message]:
        """All messages ever written, including threads, deleted messages and system messages."""
        return list(self._all())

    @property
    def messages(self) -> list[Message]:
        """All messages that still exist, oldest first."""
        return [each for each in self._all() if not (each.deleted or each.loading or each.kind == THREAD_STARTER)]

    @property
    def bot_messages(self) -> list[Message]:
        return [each for each in self.messages if each.sender.id == self._world.bot.id]

    @property
    def screen(self) -> list[str]:
        """Current texts of the bot's messages, oldest first."""
        return [each.shown for each in self.bot_messages]

    @property
    def actions(self) -> list[Action]:
        """Typing indicators, deferred answers and reactions of the bot."""
        found = [*self.channel.actions]
        for each in self.channel.threads.values():
            found.extend(each.actions)
        return sorted(found, key=lambda action: action.at)

    def until(self, condition: "Callable[[Chat], bool]", timeout: float = 30.0) -> Awaitable[None]:
        """Wait until the condition holds; an IndexError in it, as from `chat.screen[-1]`, counts as "not yet"."""
        return self.channel.changes.until(lambda: condition(self), timeout, lambda: f"the screen shows {self.screen}")

    # What administrators do

    def role(self, name: str, people: Sequence[Person] = ()) -> str:
        """Create a role on the chat's server, give it to these users, and return its id."""
        guild = self.channel.guild
        if guild is None:
            raise AssertionError("direct messages have no roles")
        role = self._world.snowflakes.next()
        guild.roles[role] = name
        for person in people:
            guild.roles_of.setdefault(person.id, []).append(role)
        self._events.role_made(guild, role)
        return role

    def take_role(self, person: Person, role: str) -> None:
        """Take a role from a user. Discord tells the bot with the user's next message."""
        guild = self.channel.guild
        if guild is None:
            raise AssertionError("direct messages have no roles")
        guild.roles_of[person.id].remove(role)

    # What users do

    async def says(
        self,
        person: Person,
        text: str = "",
        *,
        reply_to: Message | None = None,
        photo: bytes | None = None,
        document: tuple[str, bytes, str] | None = None,
        embeds: Sequence[Json] = (),
    ) -> Message:
        """Write a message, or invoke the command with which the text begins if the bot has it.

        `document` is (name, content, MIME type); only bots have `embeds`. An invoked command leaves no message in the
        chat; the returned one only represents the user's text.
        """
        command = _COMMAND.fullmatch(text)
        registered = command and self._registered(command[1])
        if command and registered:
            return self._invoke(person, text, registered, (command[2] or "").strip(), document)
        channel = self.channel if reply_to is None else reply_to.channel
        message = self._world.write(channel, person, self._with_mentions(text))
        message.embeds.extend(embeds)
        if reply_to is not None:
            message.reference, message.kind = reply_to, REPLY
        if photo is not None:
            message.files.append(self._world.store(channel, "photo.jpg", "image/jpeg", photo, is_photo=True))
        if document is not None:
            name, content, mime = document
            message.files.append(self._world.store(channel, name, mime, content))
        if channel.archived and not channel.locked:
            channel.archived = False
            self._events.channel("UPDATE", channel)
        self._events.message_made(message)
        self._world.touch(channel)
        return message

    async def speaks(self, person: Person, recording: bytes, seconds: float = 2.0) -> Message:
        """Send a voice message."""
        message = self._world.write(self.channel, person)
        stored = self._world.store(self.channel, "voice-message.ogg", "audio/ogg", recording)
        file = replace(stored, seconds=seconds, waveform="AP8A")
        self._world.files[file.file_id] = file
        message.files.append(file)
        message.flags |= VOICE
        self._events.message_made(message)
        self._world.touch(self.channel)
        return message

    async def shows(self, person: Person, content: Json) -> Message:
        """Send content of another kind, such as an invitation, with the fields that Discord has for it."""
        message = self._world.write(self.channel, person)
        message.more = content
        self._events.message_made(message)
        self._world.touch(self.channel)
        return message

    async def forwards(self, person: Person, passed_on: Message) -> Message:
        """Forward a message from another channel, without a text of one's own."""
        message = self._world.write(self.channel, person)
        message.forwarded = passed_on
        self._events.message_made(message)
        self._world.touch(self.channel)
        return message

    async def edits(self, message: Message, text: str) -> None:
        """Edit one's own message."""
        self._world.rewrite(message, self._with_mentions(text))
        self._events.message_changed(message)
        self._world.touch(message.channel)

    async def leaves(self, person: Person) -> None:
        """Leave the server, of which Discord tells only bots with the intent for members."""
        if self.channel.guild is not None:
            self.channel.guild.people.remove(person)

    async def deletes(self, message: Message) -> None:
        message.deleted = True
        self._events.message_gone(message)
        self._world.touch(message.channel)

    async def reacts(self, person: Person, message: Message, *emoji: str) -> None:
        for each in emoji:
            message.reactions.setdefault(each, []).append(person)
            self._events.reaction("MESSAGE_REACTION_ADD", message, person, each)
        self._world.touch(message.channel)

    async def takes_back(self, person: Person, message: Message, emoji: str) -> None:
        """Take a reaction back."""
        message.reactions[emoji].remove(person)
        self._events.reaction("MESSAGE_REACTION_REMOVE", message, person, emoji)
        self._world.touch(message.channel)

    async def presses(
        self, person: Person, button: str | None = None, *, data: str | None = None, message: Message | None = None
    ) -> Press:
        """Press the newest button with this label or data, and wait for one if there is none.

        Raises AssertionError if none comes.
        """

        def find() -> tuple[Message, str] | None:
            for each in [message] if message is not None else self.bot_messages[::-1]:
                found = each.button(button, data)
                if found is not None and found.data is not None and not found.disabled:
                    return each, found.data
            return None

        seen = await self.channel.changes.found(find, lambda: f"no button {button or data!r} on {self.screen}")
        return self._press(person, *seen)

    async def picks(self, person: Person, *labels: str, message: Message | None = None) -> Press:
        """Choose these entries in the newest menu that has them, and wait for one if there is none.

        Raises AssertionError if none comes.
        """

        def find() -> tuple[Message, Menu] | None:
            for each in [message] if message is not None else self.bot_messages[::-1]:
                for menu in each.menus:
                    is_whole = set(labels) <= menu.options.keys() and menu.least <= len(labels) <= menu.most
                    if is_whole and not menu.disabled:
                        return each, menu
            return None

        each, menu = await self.channel.changes.found(find, lambda: f"no menu with {labels} on {self.screen}")
        values: list[JsonValue] = [menu.options[label] for label in labels]
        return self._press(person, each, menu.data, {"component_type": 3, "values": values})

    def form(self, person: Person) -> Form:
        """Return the modal that is open on this user's client. Raises AssertionError if there is none."""
        found = next((each for each in self.channel.forms[::-1] if each.person == person and each.is_open), None)
        if found is None:
            raise AssertionError(f"{person.name} sees no modal")
        return found

    async def submits(self, person: Person, form: Form, filled: Mapping[str, Filled]) -> Interaction:
        """Submit a modal with these values by label. It stays open until the bot has answered."""
        interaction = self._interaction(SUBMISSION, person, self.channel)
        interaction.message = form.opened_by.message
        self._events.interaction(interaction, submitted(self._world, self.channel, form, filled))
        form.submission = interaction
        self._world.touch(self.channel)
        return interaction

    async def chooses(self, person: Person, message: Message, entry: str) -> None:
        """Choose an entry of the bot in the menu of a message, under "Apps". Raises AssertionError if there is none."""
        found = self._registered(on_messages(entry))
        if found is None:
            raise AssertionError(f"the client offers no {entry!r} on messages here")
        interaction = self._interaction(_SLASH, person, message.channel)
        interaction.name = entry
        resolved: Json = {"messages": {message.id: shapes.message(self._world, message)}}
        data: Json = {"id": found["id"], "name": entry, "type": 3, "target_id": message.id, "resolved": resolved}
        self._events.interaction(interaction, data)
        self._world.touch(message.channel)

    def thread(self, message: Message) -> "Chat":
        """Return the thread of this message, created by its sender if there is none."""
        if message.thread is None:
            open_thread(self._world, self._events, message, message.sender, (message.text or "Thread")[:100])
        return Chat(self._world, self._events, self._existing(message.thread))

    async def lock_thread(self) -> None:
        """Lock this thread, so that only moderators can write in it."""
        self.channel.locked = True
        self._events.channel("UPDATE", self.channel)
        self._world.touch(self.channel)

    async def archive_thread(self) -> None:
        """Archive this thread, as after a day without messages; a new message reopens it."""
        self.channel.archived = True
        self._events.channel("UPDATE", self.channel)
        self._world.touch(self.channel)

    async def delete_channel(self) -> None:
        """Delete this channel or thread with its messages."""
        for each in (*self.channel.threads.values(), self.channel):
            each.deleted = True
            if each.guild is not None:
                each.guild.channels.pop(each.id, None)
        self._events.channel("DELETE", self.channel)
        self._world.touch(self.channel)

    async def blocks(self) -> None:
        """Let the user of a private chat block the bot, of which Discord does not notify it."""
        self.channel.blocked = True

    def denies(self, *permissions: str) -> None:
        """Remove permissions, by Discord's names, from the bot in this channel."""
        self.channel.denied.update(permissions)

    # Implementation

    def _all(self) -> Iterator[Message]:
        if not self.channel.threads:
            return iter(self.channel.messages.values())
        rows = [self.channel.messages, *(each.messages for each in self.channel.threads.values())]
        return heapq.merge(*(each.values() for each in rows), key=lambda message: int(message.id))

    def _existing(self, thread: Channel | None) -> Channel:
        if thread is None:
            raise AssertionError("the thread was not made")
        return thread

    def _with_mentions(self, text: str) -> str:
        if "@" not in text:
            return text
        for each in (self._world.bot, *self.channel.people):
            for name in (each.username, each.name):
                text = re.sub(rf"@{re.escape(name)}\b", f"<@{each.id}>", text)
        return text

    def _registered(self, name: str) -> Json | None:
        """Return the command of this name that the client offers here; without the bot, one that its user installed."""
        guild = self.channel.guild
        found = (guild.commands.get(name) if guild else None) or self._world.commands.get(name)
        contexts = found.get("contexts") if found else None
        kinds = found.get("integration_types") if found else None
        here, kind = (1, 0) if guild is None else (0, int(guild.kicked))
        is_here = not isinstance(contexts, list) or here in contexts
        return found if is_here and (not isinstance(kinds, list) or kind in kinds) else None

    def _invoke(
        self, person: Person, text: str, command: Json, arguments: str, document: tuple[str, bytes, str] | None
    ) -> Message:
        data: Json = {"id": command["id"], "name": command["name"], "type": 1}
        given = filled_in(command, arguments)
        if document is not None:
            if (option := file_option(command)) is None:
                raise AssertionError(f"the client takes no file for /{command['name']}")
            name, content, mime = document
            file = self._world.store(self.channel, name, mime, content)
            given.append({"name": option, "type": FILE, "value": file.file_id})
            data["resolved"] = {"attachments": {file.file_id: shapes.attachment(self._world, file)}}
        if given:
            data["options"] = [*given]
        interaction = self._interaction(_SLASH, person, self.channel)
        interaction.name = str(command["name"])
        self._events.interaction(interaction, data)
        self._world.touch(self.channel)
        plain = words(text, self._world.names)
        return Message(interaction.id, person, self.channel, interaction.at, now_iso(), text, plain, plain)

    async def completions(
        self, person: Person, command: str, option: str, typed: str = "", filled: Mapping[str, str] | None = None
    ) -> list[str]:
        """Type into an option of a command, and return the values that the bot proposes. `filled` are other options."""
        registered = self._registered(command)
        if registered is None:
            raise AssertionError(f"the client offers no /{command} here")
        interaction = self._interaction(COMPLETION, person, self.channel)
        interaction.name = command
        focused: Json = {"name": option, "type": 3, "value": typed, "focused": True}
        others: list[Json] = [{"name": name, "type": 3, "value": value} for name, value in (filled or {}).items()]
        data: Json = {"id": registered["id"], "name": command, "type": 1, "options": [*others, focused]}
        self._events.interaction(interaction, data)
        await self.channel.changes.until(lambda: interaction.answered, 30.0, lambda: "no completion came")
        return [str(each["value"]) for each in interaction.choices]

    def _press(self, person: Person, message: Message, data: str, how: Json | None = None) -> Press:
        interaction = self._interaction(_BUTTON, person, message.channel)
        interaction.message = message
        self._events.interaction(interaction, {"custom_id": data, "id": 1, **(how or {"component_type": 2})})
        self._world.touch(message.channel)
        return Press(person, message, data, interaction.at, interaction)

    def _interaction(self, kind: int, person: Person, channel: Channel) -> Interaction:
        number = self._world.snowflakes.next()
        interaction = Interaction(number, f"aW50ZXJhY3Rpb246{number}", kind, person, channel, self._world.clock())
        self._world.interactions[interaction.token] = interaction
        return interaction


def on_messages(entry: str) -> str:
    """Return the key of an entry in the menu on messages, which no slash command can have."""
    return f"on messages: {entry}"


def open_thread(world: World, events: Events, message: Message, by: Person, name: str) -> Channel:
    """Open a public thread on this message, with the message's id."""
    parent = message.channel
    if parent.guild is None:
        raise AssertionError("direct messages have no threads")
    thread = Channel(message.id, THREAD, name, parent.people, parent.guild, parent, message, by)
    message.thread = world.channels[thread.id] = parent.threads[thread.id] = parent.guild.channels[thread.id] = thread
    own = by.id == world.bot.id
    events.channel("CREATE", thread, own=own)
    events.message_changed(message)
    starter = world.write(thread, by)
    starter.kind, starter.reference = THREAD_STARTER, message
    events.message_made(starter)
    world.touch(thread)
    return thread
