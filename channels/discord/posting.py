"""Sending, editing and deleting messages on Discord, with mentions disabled so that a model's text notifies no one.

The thread of a new conversation is created with the bot's first message there.
"""

import asyncio
import hashlib
import io
import logging

import discord
from pydantic import JsonValue

from channels.attachments import Attachment
from channels.base import ChannelError, ChatKey, MessageGone, OutboundMessage, Posted
from channels.discord.cache import LARGEST_LIMIT, RecentMessages, Servers
from channels.discord.client import Call, Endpoint, Rest
from channels.discord.config import Config
from channels.discord.errors import (
    BAD_INTERACTION_TOKEN,
    CANNOT_REPLY,
    ENOUGH_FOLLOW_UPS,
    INVALID_BODY,
    THREAD_EXISTS,
    UNKNOWN_INTERACTION,
    UNKNOWN_WEBHOOK,
    Refused,
)
from channels.discord.interactions import Interactions, follow_up, original
from channels.discord.layout import LAYOUT, as_layout, layout, split
from channels.discord.lookups import Lookups
from channels.discord.normalise import DIRECT, created_at
from channels.discord.render import render, rows_of
from channels.discord.respond import Address
from channels.discord.voice import VOICE_MESSAGE, may_be_voice, recording
from channels.discord.wire import Message
from channels.files import read_upload
from channels.text import visible
from channels.values import parse

log = logging.getLogger(__name__)

MAX_NAME = 100
NAMELESS = "Conversation"
ARCHIVE_MINUTES = 1440
"""Minutes of inactivity after which Discord archives a thread; a new message reopens it."""
SUPPRESS_EMBEDS, SILENT = 1 << 2, 1 << 12
NONCE_LENGTH = 25
_RUN_OUT = (UNKNOWN_INTERACTION, UNKNOWN_WEBHOOK, BAD_INTERACTION_TOKEN, ENOUGH_FOLLOW_UPS)
Body = dict[str, JsonValue]


class Threads:
    def __init__(self, rest: Rest, servers: Servers, recent: RecentMessages, config: Config) -> None:
        self._rest = rest
        self._servers = servers
        self._recent = recent
        self._config = config
        self._there: set[str] = set()
        """Threads that exist, as they were created or found by the bot."""

    async def channel_of(self, chat: ChatKey) -> str:
        """Return the id of the channel to write to. Raises ChannelError."""
        if chat.thread is None:
            return chat.chat
        known = self._servers.knows(chat.thread) or chat.thread in self._there
        if not known and self._config.has_threads(chat.chat):
            await self._make(chat.chat, chat.thread)
        return chat.thread

    async def _make(self, channel: str, message: str) -> None:
        """Create a thread from a message; it gets that message's id."""
        route = Endpoint(
            "POST",
            "/channels/{channel_id}/messages/{message_id}/threads",
            {"channel_id": channel, "message_id": message},
        )
        name = await self._name(channel, message)
        body: JsonValue = {"name": name, "auto_archive_duration": ARCHIVE_MINUTES}
        try:
            made = await self._rest.call(Call(route, json=body, needs="Create Public Threads"))
            self._servers.learn(made)
        except MessageGone:
            log.info("no message to start a thread from id=%s", message)
        except Refused as error:
            if error.code != THREAD_EXISTS:
                raise
        if len(self._there) > RecentMessages.most:
            self._there.clear()
        self._there.add(message)

    async def _name(self, channel: str, message: str) -> str:
        """Name a thread after the first line of the message."""
        known = self._recent.find(message)
        words = known.text if known else await self._words(channel, message)
        line = next((line.strip() for line in words.splitlines() if visible(line)), "")
        return line[:MAX_NAME].strip() or NAMELESS

    async def _words(self, channel: str, message: str) -> str:
        route = Endpoint(
            "GET", "/channels/{channel_id}/messages/{message_id}", {"channel_id": channel, "message_id": message}
        )
        try:
            found = parse(Message, await self._rest.call(Call(route, needs="Read Message History")))
        except ChannelError as error:
            log.info("no name found for a thread id=%s: %s", message, error.reason)
            return ""
        return found.content if found else ""


class Posting:
    def __init__(self, rest: Rest, threads: Threads, lookups: Lookups, interactions: Interactions) -> None:
        self._rest = rest
        self._threads = threads
        self._lookups = lookups
        self._interactions = interactions
        self._laid_out: dict[str, None] = {}
        """Messages that are known to be of components, oldest first. Discord refuses other edits of them."""

    async def send(self, chat: ChatKey, message: OutboundMessage, key: str) -> Posted:
        """Send one message made by `split`. For a few minutes Discord returns the existing message for a repeated
        key."""
        if message.respond is not None:
            try:
                return await self._respond(chat, message, message.respond)
            except MessageGone:
                log.info("the placeholder of a command was deleted chat=%s", chat)
            except Refused as error:
                if error.code not in _RUN_OUT:
                    raise
                log.info("the command's response address has expired chat=%s", chat)
            message = message.model_copy(update={"reply_to": None})
        channel = await self._threads.channel_of(chat)
        body = _body(message)
        body["flags"] = _flags(body) | (SILENT if message.silent else 0)
        body["nonce"] = hashlib.sha256(key.encode()).hexdigest()[:NONCE_LENGTH]
        body["enforce_nonce"] = True
        if message.reply_to and message.reply_to != chat.thread:  # a thread's first message is outside of it
            body["message_reference"] = {"message_id": message.reply_to, "fail_if_not_exists": False}
        route = Endpoint("POST", "/channels/{channel_id}/messages", {"channel_id": channel})
        if may_be_voice(message) and (spoken := await self._speak(chat, route, message, body)) is not None:
            return spoken
        try:
            return await self._write(chat, route, message, body)
        except Refused as error:
            if error.code != CANNOT_REPLY:
                raise
            log.info("sent without a reply reference, as the bot lacks Read Message History chat=%s", chat)
        del body["message_reference"]
        return await self._write(chat, route, message, body)

    async def _speak(self, chat: ChatKey, route: Endpoint, message: OutboundMessage, body: Body) -> Posted | None:
        """Send a recording as a voice message; None if it cannot be one, or Discord does not take it as one here."""
        (file,) = message.attachments
        upload = await self._upload(chat, file)
        told = await asyncio.to_thread(recording, upload.fp.read())
        upload.reset()
        if told is None:
            return None
        flags = VOICE_MESSAGE | (SILENT if message.silent else 0)
        attached: list[JsonValue] = [{"id": 0, "filename": upload.filename, **told.fields}]
        without = {name: value for name, value in body.items() if name not in ("content", "components")}
        try:
            return await self._post(
                chat, route, message, {**without, "flags": flags, "attachments": attached}, [upload]
            )
        except Refused as error:
            log.info("voice message sent as a file chat=%s: %s", chat, error.reason)
            return None

    async def edit(self, posted: Posted, message: OutboundMessage) -> None:
        """Edit text and buttons; without buttons, existing ones are removed. A message visible to one user can be
        edited only through the interaction of its button."""
        part = split(message)[0]
        route = self._route("PATCH", posted) if message.respond is None else await self._original(message.respond)
        body = _body(part) if posted.message_id not in self._laid_out else _layout_body(as_layout(part))
        try:
            await self._change(posted, route, part, body)
        except Refused as error:
            if error.code != INVALID_BODY or _is_layout(body):
                raise
            log.info("edited as a message of components, which it is chat=%s", posted.chat)
            await self._change(posted, route, part, _layout_body(as_layout(part)))

    async def _change(self, posted: Posted, route: Endpoint, part: OutboundMessage, body: Body) -> None:
        """Edit a message. Components show only files that come with them; those of a plain message stay."""
        if not _is_layout(body):
            await self._rest.call(Call(route, json=body, needs=_needs(posted.chat, part)))
            return
        await self._write(posted.chat, route, part, {**body, "content": None, "flags": LAYOUT})
        self._note_layout(posted.message_id)

    def _note_layout(self, message_id: str) -> None:
        self._laid_out[message_id] = None
        if len(self._laid_out) > RecentMessages.most:
            del self._laid_out[next(iter(self._laid_out))]

    async def delete(self, posted: Posted) -> None:
        await self._rest.call(Call(self._route("DELETE", posted)))

    async def _upload(self, chat: ChatKey, file: Attachment) -> discord.File:
        limit = await self._lookups.file_limit(chat.account, file.size or LARGEST_LIMIT)
        content = await read_upload(file, "here Discord takes", limit)
        return discord.File(io.BytesIO(content), filename=file.safe_name)

    async def typing(self, chat: ChatKey) -> bool:
        """Show a typing indicator; return False if the rate limit leaves no room for it."""
        channel = await self._threads.channel_of(chat)
        needs = "Send Messages in Threads" if chat.thread else "Send Messages"
        return await self._rest.offer(
            Call(Endpoint("POST", "/channels/{channel_id}/typing", {"channel_id": channel}), needs=needs)
        )

    def _route(self, method: str, posted: Posted) -> Endpoint:
        channel = posted.chat.thread or posted.chat.chat
        path = "/channels/{channel_id}/messages/{message_id}"
        return Endpoint(method, path, {"channel_id": channel, "message_id": posted.message_id})

    async def _respond(self, chat: ChatKey, message: OutboundMessage, respond: str) -> Posted:
        """Send an answer to an interaction: the first part replaces the placeholder, the others follow it. In servers
        only the user sees them."""
        address = Address.parse(respond)
        body = _body(message)
        first = await self._original(respond)
        if address.is_first:
            body["flags"] = _flags(body)
            return await self._write(chat, first, message, body)
        application = (await self._rest.me()).application
        body["flags"] = _flags(body) | address.flags(in_private=chat.account == DIRECT)
        return await self._write(chat, follow_up(application, address.token), message, body, {"wait": "true"})

    async def _original(self, respond: str) -> Endpoint:
        """Return the endpoint of the first answer, once the interaction is acknowledged."""
        address = Address.parse(respond)
        await self._interactions.acknowledged(address.interaction, address.token)
        return original("PATCH", (await self._rest.me()).application, address.token)

    async def _write(
        self, chat: ChatKey, route: Endpoint, message: OutboundMessage, body: Body, query: dict[str, str] | None = None
    ) -> Posted:
        files = [await self._upload(chat, file) for file in message.attachments]
        if files:
            body["attachments"] = [{"id": number, "filename": file.filename} for number, file in enumerate(files)]
        return await self._post(chat, route, message, body, files, query)

    async def _post(
        self,
        chat: ChatKey,
        route: Endpoint,
        message: OutboundMessage,
        body: Body,
        files: list[discord.File],
        query: dict[str, str] | None = None,
    ) -> Posted:
        needs = _needs(chat, message)
        answer = await self._rest.call(Call(route, json=body, query=query, files=files, needs=needs))
        message_id = answer.get("id") if isinstance(answer, dict) else None
        if not isinstance(message_id, str):
            raise ChannelError("Discord's response names no message", ambiguous=True)
        if _is_layout(body) and "components" in body:
            self._note_layout(message_id)
        return Posted(chat=chat, message_id=message_id, at=created_at(message_id))


def _body(message: OutboundMessage) -> Body:
    """Return the fields of a message; one of components has no content."""
    components = layout(message)
    if components is not None:
        return _layout_body(components)
    bare = bool(message.attachments) and not message.markdown.strip()
    return {
        "content": "" if bare else render(message.markdown),
        "components": rows_of(message),
        "allowed_mentions": {"parse": [], "replied_user": False},
    }


def _layout_body(components: list[JsonValue]) -> Body:
    return {"components": components, "allowed_mentions": {"parse": [], "replied_user": False}}


def _is_layout(body: Body) -> bool:
    return body.get("content") is None


def _flags(body: Body) -> int:
    return LAYOUT if _is_layout(body) else SUPPRESS_EMBEDS


def _needs(chat: ChatKey, message: OutboundMessage) -> str:
    needed = ["Send Messages in Threads" if chat.thread else "Send Messages"]
    if message.attachments:
        needed.append("Attach Files")
    return ", ".join(needed)
