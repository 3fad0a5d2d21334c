"""Messages of the bot: the rules for their content, whichever call contains it."""

import mimetypes
from dataclasses import dataclass

from parley.testing.emulators.discord_events import Events
from parley.testing.emulators.discord_params import DiscordError, MessageParams, Row, Upload, invalid
from parley.testing.emulators.discord_state import (
    DM,
    EPHEMERAL,
    SILENT,
    SUPPRESS_EMBEDS,
    THREAD,
    Button,
    Channel,
    Message,
    StoredFile,
    World,
)

MAX_CONTENT = 2000
MAX_EMBEDS = 6000
SETTABLE = SILENT | SUPPRESS_EMBEDS | EPHEMERAL
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
        if channel.locked:
            raise DiscordError(400, 160005, "Thread is locked")
        if channel.archived:
            channel.archived = False
            self.events.channel("UPDATE", channel, own=True)

    def check(self, channel: Channel, asked: MessageParams, uploads: dict[int, Upload]) -> None:
        """Check the rules for all messages."""
        if len(asked.content or "") > MAX_CONTENT:
            raise invalid("content", "BASE_TYPE_MAX_LENGTH", f"Must be {MAX_CONTENT} or fewer in length.")
        if sum(len(each.title or "") + len(each.description or "") for each in asked.embeds or []) > MAX_EMBEDS:
            raise invalid("embeds", "MAX_EMBED_SIZE_EXCEEDED", f"Embed size exceeds maximum size of {MAX_EMBEDS}")
        _check_rows(asked.components or [])
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
        if asked.components is not None:
            self._put_components(message, asked.components)
        if asked.attachments is not None or uploads:
            self._put_files(message, asked, uploads)
        if asked.flags is not None:
            message.flags = (message.flags & ~SUPPRESS_EMBEDS) | (asked.flags & SETTABLE)

    def new(self, channel: Channel, asked: MessageParams, uploads: dict[int, Upload]) -> Message:
        """Write a message of the bot without announcing it."""
        message = self.world.write(channel, self.world.bot, (asked.content or "").strip())
        self.fill(message, asked, uploads)
        return message

    def change(self, message: Message, asked: MessageParams, uploads: dict[int, Upload]) -> None:
        """Edit a message and announce it."""
        self.check(message.channel, asked, uploads)
        content = message.content if "content" not in asked.model_fields_set else (asked.content or "").strip()
        self.fill(message, asked, uploads)
        if not (content or message.embeds or message.files or message.buttons):
            raise DiscordError(400, 50006, "Cannot send an empty message")
        self.world.rewrite(message, content)
        self.events.message_changed(message)
        self.world.touch(message.channel)

    def remove(self, message: Message) -> None:
        message.deleted = True
        if not message.ephemeral:
            self.events.message_gone(message)
        self.world.touch(message.channel)

    def _put_components(self, message: Message, rows: list[Row]) -> None:
        message.components = [row.model_dump(exclude_none=True, exclude_defaults=False) for row in rows]
        message.buttons = [
            [Button(each.label, each.custom_id, each.url, each.disabled) for each in row.components] for row in rows
        ]

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
            kept.append(self.world.store(message.channel, said, mime, upload.content))
        message.files = kept


def _check_rows(rows: list[Row]) -> None:
    seen: set[str] = set()
    for button in (each for row in rows for each in row.components):
        if (button.url is None) == (button.custom_id is None) or (button.style == 5) != (button.url is not None):
            raise invalid("components", "BUTTON_COMPONENT_INVALID", "A button has a custom id or, with style 5, a url")
        if not button.label and button.emoji is None:
            raise invalid("components", "BUTTON_COMPONENT_INVALID_LABEL", "A button must have a label or an emoji")
        if button.custom_id is not None and button.custom_id in seen:
            raise invalid("components", "COMPONENT_CUSTOM_ID_DUPLICATED", "Component custom id cannot be duplicated")
        seen.add(button.custom_id or "")
