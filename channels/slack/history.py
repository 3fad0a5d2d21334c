"""Reading past messages: context for a mention, messages missed while offline, and posts with an unknown outcome."""

import asyncio
from collections.abc import AsyncIterator, Sequence, Set
from itertools import count
from typing import TypeGuard

from pydantic import JsonValue

from channels.base import ChatKey, CommandInvoked, MessageReceived, Posted
from channels.slack.client import Client
from channels.slack.mentions import Identity
from channels.slack.normalise import is_own, said
from channels.slack.render import EVENT_TYPE
from channels.slack.shared_files import SharedFiles
from channels.slack.users import Users
from channels.slack.wire import File, Message
from channels.values import Known, parse

PAGE = 200
MOST_PAGES = 5
_SKEW = 60.0
"""Seconds by which this machine's clock may be ahead of Slack's."""


class History:
    """Reads messages of a conversation, newest first where Slack allows it."""

    def __init__(self, client: Client, users: Users) -> None:
        self._client = client
        self._users = users
        self._files = SharedFiles(client)

    async def said(
        self, chat: ChatKey, me: Identity, commands: Set[str], *, after: str | None, before: str | None, most: int
    ) -> Sequence[MessageReceived | CommandInvoked]:
        """See `ReadsHistory.history`."""
        found: list[Message] = []
        async for message in self._messages(chat, after, before, pages=MOST_PAGES):
            if _is_between(message.ts, after, before) and self._is_said(message, chat, me, commands):
                found.append(message)
            if chat.thread is None and len(found) >= most:
                break
        newest = sorted(found, key=lambda message: float(message.ts))[-most:]
        return await self._events(newest, me, commands)

    async def since(
        self, chat: ChatKey, me: Identity, commands: Set[str], since: float
    ) -> Sequence[MessageReceived | CommandInvoked]:
        """See `CatchesUp.messages_since`."""
        messages = self._messages(chat, f"{since:.6f}", None, pages=None)
        found = [
            message
            async for message in messages
            if float(message.ts) >= since and self._is_said(message, chat, me, commands)
        ]
        return await self._events(sorted(found, key=lambda message: float(message.ts)), me, commands)

    def _is_said(self, message: Message, chat: ChatKey, me: Identity, commands: Set[str]) -> bool:
        """Return True for a message of another sender in this chat. Thread replies may also be shown in the channel;
        those are skipped there."""
        is_shown_too = chat.thread is None and message.thread is not None
        return not is_shown_too and said(message, me, self._users, commands) is not None

    async def _events(
        self, messages: Sequence[Message], me: Identity, commands: Set[str]
    ) -> Sequence[MessageReceived | CommandInvoked]:
        missing: list[str] = []
        for message in messages:
            said(message, me, self._users.noting(missing), commands)
        await self._users.wait_for([message.user for message in messages if message.user], missing)
        events = (said(message, me, self._users, commands) for message in messages)
        return await asyncio.gather(*(self._files.told(event) for event in events if event is not None))

    async def sent(self, chat: ChatKey, key: str, me: Identity) -> Posted | None:
        """See `FindsSent.find_sent`."""
        async for each in self._messages(chat, None, None, pages=MOST_PAGES, metadata=True):
            about = each.metadata
            if about is None or about.event_type != EVENT_TYPE or not is_own(each, me):
                continue
            if about.event_payload.get("key") == key:
                return Posted(chat=chat, message_id=each.ts, at=float(each.ts))
        return None

    async def streamed(self, chat: ChatKey, known: Known, me: Identity) -> Posted | None:
        """Return the newest message that nobody knows and that was begun as a stream.

        That is one without metadata: streams begin without, and all else that the bot writes has some or is a file.
        """
        newest: Posted | None = None
        async for each in self._messages(chat, f"{known.since - _SKEW:.6f}", None, pages=MOST_PAGES, metadata=True):
            if not is_own(each, me) or each.metadata is not None or each.files or each.ts in known.others:
                continue
            if each.subtype == "" and _is_between(each.ts, f"{known.since - _SKEW:.6f}", None):
                found = Posted(chat=chat, message_id=each.ts, at=float(each.ts))
                newest = found if newest is None or float(each.ts) > float(newest.message_id) else newest
        return newest

    async def with_file(self, chat: ChatKey, file_id: str, *, after: str, me: Identity) -> Posted | None:
        """Return the bot's message that shares a file."""
        async for posted, files in self.own_files(chat, after=after, me=me):
            if any(file.id == file_id for file in files):
                return posted
        return None

    async def own_files(
        self, chat: ChatKey, *, after: str, me: Identity
    ) -> AsyncIterator[tuple[Posted, tuple[File, ...]]]:
        """Yield the bot's messages that share files, each with its files."""
        async for each in self._messages(chat, after, None, pages=MOST_PAGES):
            if each.files and is_own(each, me):
                yield Posted(chat=chat, message_id=each.ts, at=float(each.ts)), each.files

    async def _messages(
        self, chat: ChatKey, after: str | None, before: str | None, *, pages: int | None, metadata: bool = False
    ) -> AsyncIterator[Message]:
        """Yield messages: of a thread from its root onwards, elsewhere from the newest backwards. `pages` limits the
        number of pages of 200 messages; None reads all."""
        asked: dict[str, JsonValue] = {"channel": chat.chat, "limit": PAGE}
        if metadata:
            asked["include_all_metadata"] = True
        if _is_ts(after):
            asked["oldest"] = after
        if _is_ts(before):
            asked["latest"] = before
        method = "conversations.history" if chat.thread is None else "conversations.replies"
        if chat.thread is not None:
            asked["ts"] = chat.thread
        for _ in count() if pages is None else range(pages):
            answer = await self._client.call(method, asked)
            raw = answer.get("messages")
            for each in raw if isinstance(raw, list) else []:
                message = parse(Message, each)
                if message is not None:
                    yield message.model_copy(update={"channel": chat.chat})
            more = answer.get("response_metadata")
            cursor = more.get("next_cursor") if isinstance(more, dict) else None
            if not cursor:
                return
            asked["cursor"] = cursor


def _is_between(ts: str, after: str | None, before: str | None) -> bool:
    """Return True if `ts` lies between the bounds. Slack returns a thread's root whatever the bounds are."""
    at = float(ts)
    return not (_is_ts(after) and at <= float(after)) and not (_is_ts(before) and at >= float(before))


def _is_ts(message_id: str | None) -> TypeGuard[str]:
    """Return True if an id is a Slack timestamp; commands and questions from the dialog have other ids."""
    return message_id is not None and message_id.replace(".", "", 1).isdecimal() and "." in message_id
