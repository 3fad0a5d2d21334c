"""The app's streamed messages, and how one is edited or deleted: Slack refuses both until its stream has ended."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress

from pydantic import JsonValue

from channels.base import ChannelError, ChatKey, MessageGone, NotTakenIn, OutboundMessage, Posted
from channels.slack.client import Answer, Client
from channels.slack.errors import BadBlocks, MissingScope, OnlyHere, StillStreaming
from channels.slack.interactions import Phrases
from channels.slack.normalise import is_direct
from channels.slack.stream import SlackStream
from channels.slack.users import Users
from channels.tasks import BackgroundTasks

log = logging.getLogger(__name__)

MOST_UNCONFIRMED = 1_000
CLOSE_WITHIN = 3.0
"""Longest wait in seconds for the end of open streams. Whoever edits their messages next ends the others."""
Stopped = Callable[[Posted, str], Awaitable[None]]


class OpenStreams:
    """The streams that this process has begun and not ended, and what it knows of their beginnings."""

    def __init__(self, client: Client, users: Users, on_begun: Callable[[ChatKey], None]) -> None:
        """`on_begun` is told of each stream that begins, by its chat."""
        self._on_begun = on_begun
        self.on_stopped: Stopped | None = None
        """Told that a reader has stopped a message, with the id of the user whom it answers."""
        self._client = client
        self._users = users
        self._open: dict[tuple[str, str], tuple[SlackStream, str]] = {}
        """With the key of the message."""
        self._refused: set[str] = set()
        """Channels that take no streams."""
        self._is_refused = False
        """True if the app may not stream at all."""
        self._unconfirmed: dict[str, None] = {}
        """Keys of messages whose begin was not confirmed."""
        self._tasks = BackgroundTasks()

    def open(self, chat: ChatKey, person: str, key: str, phrases: Phrases) -> SlackStream | None:
        """Return a stream that has not begun; None if the chat has none.

        Private chats have streams only in threads, as those of the assistant's pane. Elsewhere a private chat would
        need a thread for each answer, and the next message of the user would stand outside of it.
        """
        recipient: Mapping[str, JsonValue] = {}
        if is_direct(chat.chat):
            if chat.thread is None:
                return None
        elif not person.startswith(("U", "W")):  # nobody on Slack, as for a schedule
            return None
        else:
            recipient = {"recipient_user_id": person, "recipient_team_id": self._team(chat, person)}
        if self._is_refused or chat.chat in self._refused:
            return None
        return SlackStream(self._client, chat, recipient, phrases, _Owner(self, person, key))

    def may_have_begun(self, key: str) -> bool:
        """Return True if the message with this key may be on the screen although that was not confirmed."""
        return key in self._unconfirmed

    async def become(self, posted: Posted, message: OutboundMessage) -> bool:
        """Let a message that is being streamed become this one. Returns False if it is to be edited.

        Raises ChannelError.
        """
        found = self._open.get(_place(posted))
        if found is None:
            return False
        stream, key = found
        return await stream.become(message, key)

    async def update(self, posted: Posted, body: Mapping[str, JsonValue]) -> Answer:
        """Edit a message; if it is still being streamed, end that first. Raises ChannelError."""
        where = _where(posted)
        try:
            return await self._client.call("chat.update", {**where, **body})
        except StillStreaming:
            await self._end(posted)
            return await self._client.call("chat.update", {**where, **body})

    async def delete(self, posted: Posted) -> None:
        """Delete a message; if it is still being streamed, end that first. Raises ChannelError."""
        if (found := self._open.get(_place(posted))) is not None:
            await found[0].end("it is deleted")
        try:
            await self._client.call("chat.delete", _where(posted))
        except MessageGone:  # Slack says the same of a message that is gone and of one that is being streamed
            if not await self._end(posted):
                raise
            await self._client.call("chat.delete", _where(posted))

    async def close(self) -> None:
        """End all streams, so that none is left open until Slack closes it; if Slack does not answer, leave them."""
        streams = [stream for stream, _ in self._open.values()]
        self._open.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_WITHIN):
                await asyncio.gather(*(stream.end("Parley stops") for stream in streams))
        await asyncio.gather(*(stream.close() for stream in streams))
        await self._tasks.close()

    async def _end(self, posted: Posted) -> bool:
        """End a stream of which only the message is known; return False if there is none. Raises ChannelError."""
        try:
            await self._client.call("chat.stopStream", _where(posted))
        except ChannelError as error:
            if not error.permanent:
                raise
            return False
        return True

    def _team(self, chat: ChatKey, person: str) -> str:
        """Return a workspace of the user, who may belong to another organisation that shares the channel."""
        known = self._users(person)
        teams = known.teams if known is not None else frozenset()
        return chat.account if not teams or chat.account in teams else min(teams)

    # For the streams

    def begun(self, stream: SlackStream, posted: Posted, key: str) -> None:
        self._open[_place(posted)] = (stream, key)
        self._on_begun(posted.chat)

    def ended(self, posted: Posted) -> None:
        self._open.pop(_place(posted), None)

    def unconfirmed(self, key: str) -> None:
        self._unconfirmed[key] = None
        if len(self._unconfirmed) > MOST_UNCONFIRMED:
            del self._unconfirmed[next(iter(self._unconfirmed))]

    def refused(self, chat: ChatKey, error: ChannelError) -> None:
        log.info("no streams chat=%s: %s", chat, error.reason)
        if isinstance(error, MissingScope):
            self._is_refused = True
        elif error.permanent and not isinstance(error, OnlyHere | MessageGone | BadBlocks):
            self._refused.add(chat.chat)

    def stopped(self, posted: Posted, person: str) -> None:
        if self.on_stopped is not None:
            self._tasks.start(self._tell_stopped(self.on_stopped, posted, person))

    async def _tell_stopped(self, tell: Stopped, posted: Posted, person: str) -> None:
        try:
            await tell(posted, person)
        except (NotTakenIn, ChannelError) as error:
            log.warning("stop not taken in chat=%s: %s", posted.chat, error)


class _Owner:
    """Notes the course of one stream among the open ones. Implements `Owner`."""

    def __init__(self, streams: OpenStreams, person: str, key: str) -> None:
        self._streams = streams
        self._person = person
        self._key = key

    def begun(self, stream: SlackStream, posted: Posted) -> None:
        self._streams.begun(stream, posted, self._key)

    def unconfirmed(self) -> None:
        self._streams.unconfirmed(self._key)

    def refused(self, chat: ChatKey, error: ChannelError) -> None:
        self._streams.refused(chat, error)

    def stopped(self, posted: Posted) -> None:
        self._streams.stopped(posted, self._person)

    def ended(self, posted: Posted) -> None:
        self._streams.ended(posted)


def _place(posted: Posted) -> tuple[str, str]:
    return posted.chat.chat, posted.message_id


def _where(posted: Posted) -> dict[str, JsonValue]:
    return {"channel": posted.chat.chat, "ts": posted.message_id}
