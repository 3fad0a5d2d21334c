"""What a conversation already holds: for who names us late, after a gap, and to see whether a post has arrived."""

import asyncio
from collections.abc import AsyncIterator, Sequence, Set
from typing import TypeGuard

from pydantic import JsonValue

from channels.base import ChatKey, CommandInvoked, MessageReceived, Posted
from channels.slack.client import Client
from channels.slack.content import Identity
from channels.slack.normalise import is_ours, said
from channels.slack.people import People
from channels.slack.render import EVENT_TYPE
from channels.slack.wire import Message, read_message

PAGE = 200
MOST_PAGES = 5


class History:
    """Reads messages, newest first where Slack lets us."""

    def __init__(self, client: Client, people: People) -> None:
        self._client = client
        self._people = people

    async def said(
        self, chat: ChatKey, me: Identity, commands: Set[str], *, after: str | None, before: str | None, most: int
    ) -> Sequence[MessageReceived | CommandInvoked]:
        """See `ReadsHistory.history`."""
        found: list[Message] = []
        async for message in self._messages(chat, after, before):
            if chat.thread is None and message.thread is not None:
                continue  # a reply that was shown in the channel too
            if _is_between(message.ts, after, before) and said(message, me, self._people, commands) is not None:
                found.append(message)
            if chat.thread is None and len(found) >= most:
                break
        newest = sorted(found, key=lambda message: float(message.ts))[-most:]
        await asyncio.gather(*(self._people.meet(user) for user in {message.user for message in newest}))
        events = (said(message, me, self._people, commands) for message in newest)
        return [event for event in events if event is not None]

    async def sent(self, chat: ChatKey, key: str, me: Identity) -> Posted | None:
        """See `FindsSent.find_sent`."""
        async for each in self._messages(chat, None, None, metadata=True):
            about = each.metadata
            if about is None or about.event_type != EVENT_TYPE or not is_ours(each, me):
                continue
            if about.event_payload.get("key") == key:
                return Posted(chat=chat, message_id=each.ts)
        return None

    async def with_file(self, chat: ChatKey, file_id: str, *, after: str, me: Identity) -> Posted | None:
        """The message of ours that shares a file."""
        async for each in self._messages(chat, after, None):
            if is_ours(each, me) and any(file.id == file_id for file in each.files):
                return Posted(chat=chat, message_id=each.ts)
        return None

    async def _messages(
        self, chat: ChatKey, after: str | None, before: str | None, *, metadata: bool = False
    ) -> AsyncIterator[Message]:
        """Of a thread from its root on, elsewhere from the newest back; at most a thousand."""
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
        for _ in range(MOST_PAGES):
            answer = await self._client.call(method, asked)
            raw = answer.get("messages")
            for each in raw if isinstance(raw, list) else []:
                message = read_message(each)
                if message is not None:
                    yield message.model_copy(update={"channel": chat.chat})
            more = answer.get("response_metadata")
            cursor = more.get("next_cursor") if isinstance(more, dict) else None
            if not cursor:
                return
            asked["cursor"] = cursor


def _is_between(ts: str, after: str | None, before: str | None) -> bool:
    """Slack gives a thread's root whatever it is asked for."""
    at = float(ts)
    return not (_is_ts(after) and at <= float(after)) and not (_is_ts(before) and at >= float(before))


def _is_ts(message_id: str | None) -> TypeGuard[str]:
    """Commands and questions from a window have ids that are no times."""
    return message_id is not None and message_id.replace(".", "", 1).isdecimal() and "." in message_id
