"""The Discord channel of a chat; the thread of a new conversation is created with the bot's first message there."""

import logging

from pydantic import JsonValue

from channels.base import ChannelError, ChatKey, MessageGone
from channels.discord.config import Config
from channels.discord.errors import THREAD_EXISTS, Refused
from channels.discord.places import Places
from channels.discord.recent import Recent
from channels.discord.rest import Call, Endpoint, Rest
from channels.discord.wire import Message, read
from channels.text import visible

log = logging.getLogger(__name__)

MAX_NAME = 100
NAMELESS = "Conversation"
ARCHIVE_MINUTES = 1440
"""Minutes of inactivity after which Discord archives a thread; a new message reopens it."""


class Threads:
    def __init__(self, rest: Rest, places: Places, recent: Recent, config: Config) -> None:
        self._rest = rest
        self._places = places
        self._recent = recent
        self._config = config
        self._there: set[str] = set()
        """Threads that exist, as they were created or found by the bot."""

    async def channel_of(self, chat: ChatKey) -> str:
        """Return the id of the channel to write to. Raises ChannelError."""
        if chat.thread is None:
            return chat.chat
        known = self._places.knows(chat.thread) or chat.thread in self._there
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
            made = await self._rest.call(Call(route, json=body, lacking="Create Public Threads"))
            self._places.learn(made)
        except MessageGone:
            log.info("no such message to make a thread from id=%s", message)
        except Refused as error:
            if error.code != THREAD_EXISTS:
                raise
        if len(self._there) > Recent.most:
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
            found = read(Message, await self._rest.call(Call(route, lacking="Read Message History")))
        except ChannelError as error:
            log.info("no name for a thread id=%s: %s", message, error.reason)
            return ""
        return found.content if found else ""
