"""Messages of the bot: the rules for their content, whichever call contains it."""

import base64
import mimetypes
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from pydantic import JsonValue

from parley.testing.emulators.discord_components import (
    BUTTON,
    FILE,
    ROW,
    SELECT,
    TEXT,
    ButtonFields,
    SelectFields,
    Where,
    check_message,
    refusal,
    walk,
)
from parley.testing.emulators.discord_events import Events
from parley.testing.emulators.discord_params import DiscordError, MessageParams, Upload, invalid
from parley.testing.emulators.discord_state import (
    COMPONENTS_V2,
    DM,
    EPHEMERAL,
    SILENT,
    SUPPRESS_EMBEDS,
    THREAD,
    VOICE,
    Button,
    Channel,
    Json,
    Menu,
    Message,
    StoredFile,
    World,
)

MAX_CONTENT = 2000
MAX_EMBEDS = 6000
SETTABLE = SILENT | SUPPRESS_EMBEDS | EPHEMERAL | COMPONENTS_V2 | VOICE
NO_VOICE = "You cannot send voice messages in this channel"
MAX_WAVEFORM = 256
ATTACHED = "attachment://"
PLAIN_NAME = re.compile(r"[\w.-]+", re.ASCII)
"""Discord changes other names, so that components cannot name those files."""
MISSING_ACCESS = DiscordError(403, 50001, "Missing Access")
MISSING_PERMISSIONS = DiscordError(403, 50013, "Missing Permissions")
CANNOT_REPLY = DiscordError(403, 160002, "Cannot reply without permission to read message history")
UNKNOWN_CHANNEL = DiscordError(404, 10003, "Unknown Channel")
UNKNOWN_MESSAGE = DiscordError(404, 10008, "Unknown Message")


@dataclass
class Pen:
    """Validates and writes messages of the bot."""

    world: World
    events: Events

    def channel(self, number: str) -> Channel:
        """Return a channel that the bot can see. Raises DiscordError."""
        found = self.world.channels.get(number)
        if found is None or found.deleted:
            raise UNKNOWN_CHANNEL
        if found.guild is not None and found.guild.kicked:
            raise MISSING_ACCESS
        self.need(found, "VIEW_CHANNEL")
        return found

    def message(self, channel: Channel, number: str) -> Message:
        found = channel.messages.get(number)
        if found is None or found.deleted or found.ephemeral:
            raise UNKNOWN_MESSAGE
        return found

    def need(self, channel: Channel, *permissions: str, refusal: DiscordError | None = None) -> None:
        """Record the permissions of a call, and refuse it if one was removed. Private chats need none."""
        if channel.guild is None:
            return
        self.world.permissions_used.update(permissions)
        denied = channel.denied | (channel.parent.denied if channel.parent is not None else set())
        if "VIEW_CHANNEL" in denied:
            raise MISSING_ACCESS
        if denied & set(permissions):
            raise refusal or MISSING_PERMISSIONS

    def may_write(self, channel: Channel, asked: MessageParams, uploads: dict[int, Upload]) -> None:
        """Check the permissions for a new message, and that the channel is open."""
        if channel.kind == DM and channel.blocked:
            raise DiscordError(403, 50007, "Cannot send messages to this user")
        self.need(channel, "SEND_MESSAGES_IN_THREADS" if channel.kind == THREAD else "SEND_MESSAGES")
        if asked.embeds:
            self.need(channel, "EMBED_LINKS")
        if uploads:
            self.need(channel, "ATTACH_FILES")
        if (asked.flags or 0) & VOICE:
            self.need(channel, "SEND_VOICE_MESSAGES", refusal=DiscordError(403, 50173, NO_VOICE))
        if channel.locked:
            raise DiscordError(400, 160005, "Thread is locked")
        if channel.archived:
            channel.archived = False
            self.events.channel("UPDATE", channel, own=True)

    def check(
        self, channel: Channel, asked: MessageParams, uploads: dict[int, Upload], edited: Message | None = None
    ) -> None:
        """Check the rules for all messages, and those for an edit."""
        _check_legacy_fields(asked, edited)
        _check_voice(asked, uploads, edited)
        if len(asked.content or "") > MAX_CONTENT:
            raise invalid("content", "BASE_TYPE_MAX_LENGTH", f"Must be {MAX_CONTENT} or fewer in length.")
        if sum(len(each.title or "") + len(each.description or "") for each in asked.embeds or []) > MAX_EMBEDS:
            raise invalid("embeds", "MAX_EMBED_SIZE_EXCEEDED", f"Embed size exceeds maximum size of {MAX_EMBEDS}")
        kept = edited.flags if edited is not None and asked.flags is None else 0
        check_message(asked.components or [], (asked.flags or 0) | kept)
        if sum(len(each.content) for each in uploads.values()) > 25 * 2**20 or any(
            len(each.content) > channel.file_limit for each in uploads.values()
        ):
            raise DiscordError(413, 40005, "Request entity too large")

    def check_not_empty(self, asked: MessageParams, uploads: dict[int, Upload]) -> None:
        if not ((asked.content or "").strip() or asked.embeds or uploads or asked.attachments or asked.components):
            raise DiscordError(400, 50006, "Cannot send an empty message")

    def fill(self, message: Message, asked: MessageParams, uploads: dict[int, Upload]) -> None:
        """Set everything but the content, as far as the call names it."""
        if asked.embeds is not None:
            message.embeds = [each.model_dump(exclude_none=True) for each in asked.embeds]
        if asked.flags is not None:
            message.flags = (message.flags & ~SUPPRESS_EMBEDS) | (asked.flags & SETTABLE)
        if asked.attachments is not None or uploads or (message.has_layout and asked.components is not None):
            self._put_files(message, asked, uploads)
        if asked.components is not None:
            self._put_components(message, asked.components)

    def new(self, channel: Channel, asked: MessageParams, uploads: dict[int, Upload]) -> Message:
        """Write a message of the bot without announcing it."""
        message = self.world.write(channel, self.world.bot, _words(asked))
        try:
            self.fill(message, asked, uploads)
        except DiscordError:
            del channel.messages[message.id]
            raise
        return message

    def change(self, message: Message, asked: MessageParams, uploads: dict[int, Upload]) -> None:
        """Edit a message and announce it."""
        self.check(message.channel, asked, uploads, message)
        before = {**vars(message)}
        try:
            self.fill(message, asked, uploads)
        except DiscordError:
            vars(message).update(before)
            raise
        names_words = "content" in asked.model_fields_set or (message.has_layout and asked.components is not None)
        content = _words(asked) if names_words else message.content
        if not (content or message.embeds or message.files or message.components):
            raise DiscordError(400, 50006, "Cannot send an empty message")
        self.world.rewrite(message, content)
        self.events.message_changed(message)
        self.world.touch(message.channel)

    def remove(self, message: Message) -> None:
        message.deleted = True
        if not message.ephemeral:
            self.events.message_gone(message)
        self.world.touch(message.channel)

    def _put_components(self, message: Message, components: list[JsonValue]) -> None:
        plain = [each for each in message.files if PLAIN_NAME.fullmatch(each.name)]
        there = {each.name: each for each in plain} if message.has_layout else {}
        message.components = [
            _resolved(each, ("components", number), there, self.world.url) for number, each in enumerate(components)
        ]
        if message.has_layout:
            shown = _shown_files(message.components)
            message.files = [each for each in message.files if each.file_id in shown]
        rows = [[*walk([each])] for each in walk(components) if each["type"] == ROW or "accessory" in each]
        pressed = [[_button(each) for each in row if each["type"] == BUTTON] for row in rows]
        message.buttons = [row for row in pressed if row]
        message.menus = [_menu(each) for each in walk(components) if each["type"] == SELECT]

    def _put_files(self, message: Message, asked: MessageParams, uploads: dict[int, Upload]) -> None:
        """Set the files: `attachments` names those that stay and, by the number of the part, new ones."""
        there = {each.file_id: each for each in message.files}
        if asked.attachments is None:
            named = {index: upload.name for index, upload in uploads.items()}
            kept: list[StoredFile] = []
        else:
            kept = [there[str(each.id)] for each in asked.attachments if str(each.id) in there]
            named = {int(each.id): each.filename or "" for each in asked.attachments if str(each.id) not in there}
        for index, name in named.items():
            if index not in uploads:
                raise invalid("attachments", "ATTACHMENT_NOT_FOUND", f"there is no files[{index}]")
            upload = uploads[index]
            said = name or upload.name
            mime = mimetypes.guess_type(said)[0] or upload.mime
            file = self.world.store(message.channel, said, mime, upload.content)
            told = next((each for each in asked.attachments or [] if str(each.id) == str(index)), None)
            if told is not None and told.waveform is not None:
                file = replace(file, seconds=told.duration_secs, waveform=told.waveform)
                self.world.files[file.file_id] = file
            kept.append(file)
        message.files = kept


def _check_voice(asked: MessageParams, uploads: dict[int, Upload], edited: Message | None) -> None:
    """Refuse whatever a voice message may not be."""
    if edited is not None and edited.is_voice:
        raise DiscordError(400, 50162, "Voice messages cannot be edited")
    if not (asked.flags or 0) & VOICE:
        return
    if asked.content or asked.embeds or asked.components:
        raise DiscordError(400, 50159, "Voice messages do not support additional content")
    told = asked.attachments or []
    if len(uploads) != 1 or len(told) != 1 or not uploads[0].content.startswith(b"OggS"):
        raise DiscordError(400, 50160, "Voice messages must have a single audio attachment")
    waveform = base64.b64decode(told[0].waveform or "")
    if not told[0].duration_secs or not 1 <= len(waveform) <= MAX_WAVEFORM:
        raise DiscordError(400, 50161, "Voice messages must have supporting metadata")


def _words(asked: MessageParams) -> str:
    """Return what people read: the content, or that of the text displays."""
    shown = [str(each["content"]) for each in walk(asked.components or []) if each.get("type") == TEXT]
    return "\n".join(shown) if shown else (asked.content or "").strip()


def _check_legacy_fields(asked: MessageParams, edited: Message | None) -> None:
    """Refuse content and embeds in a message of components, which an edit can become, but not cease to be."""
    if not ((asked.flags or 0) & COMPONENTS_V2 or (edited is not None and edited.has_layout)):
        return
    becomes = edited is not None and not edited.has_layout
    left_over = {
        "content": becomes and bool(edited and edited.content) and "content" not in asked.model_fields_set,
        "embeds": becomes and bool(edited and edited.embeds) and asked.embeds is None,
    }
    used = {"content": asked.content is not None, "embeds": bool(asked.embeds)}
    for name in ("content", "embeds"):
        if used[name] or left_over[name]:
            words = f"The '{name}' field cannot be used when using MessageFlags.IS_COMPONENTS_V2"
            raise refusal((name,), "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2", words)


def _resolved(value: JsonValue, where: Where, there: Mapping[str, StoredFile], url: str) -> JsonValue:
    """Replace the names of attached files by their addresses. Raises DiscordError for a file that is not there."""
    if isinstance(value, list):
        return [_resolved(each, (*where, number), there, url) for number, each in enumerate(value)]
    if not isinstance(value, dict):
        return value
    made: Json = {name: _resolved(each, (*where, name), there, url) for name, each in value.items()}
    address = made.get("url")
    if isinstance(address, str) and address.startswith(ATTACHED):
        file = there.get(address.removeprefix(ATTACHED))
        if file is None:
            raise refusal(
                (*where, "url"), "UNFURLED_MEDIA_ITEM_REFERENCED_ATTACHMENT_NOT_FOUND", f"{address} not found"
            )
        stored = f"{url}{file.path}?ex=7fffffff&is=70000000&hm=e0"
        made = {"url": stored, "proxy_url": stored, "attachment_id": file.file_id, "content_type": file.mime}
    if value.get("type") == FILE and isinstance(media := made.get("file"), dict):
        file = next((each for each in there.values() if each.file_id == media.get("attachment_id")), None)
        made.update({"name": file.name, "size": len(file.content)} if file else {})
    return made


def _shown_files(components: JsonValue) -> set[JsonValue]:
    """Return the ids of the files that the components show."""
    if isinstance(components, list):
        return set().union(*map(_shown_files, components))
    if not isinstance(components, dict):
        return set()
    own = {components["attachment_id"]} if "attachment_id" in components else set()
    return own.union(*map(_shown_files, components.values()))


def _button(fields: Json) -> Button:
    read = ButtonFields.model_validate(fields)
    return Button(read.label, read.custom_id, read.url, read.disabled)


def _menu(fields: Json) -> Menu:
    read = SelectFields.model_validate(fields)
    options = {each.label: each.value for each in read.options}
    return Menu(read.custom_id, options, read.min_values, read.max_values, read.placeholder or "", read.disabled)
