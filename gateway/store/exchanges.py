"""Exchanges of conversations: the messages that began and steered a run, and what its tools did."""

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from agent_core.messages import UserMessage, message_adapter, text_of
from channels.base import ButtonPressed, CommandInvoked, MessageReceived
from gateway.store.inbox import parse_item
from gateway.store.rows import InboxItem, inbox_seqs
from gateway.store.table import Table
from gateway.store.transcript import LAST_STARTS

_IN_RANGE = "session = ? AND seq > ? AND seq <= ?"
_END = 2**63 - 1


@dataclass(frozen=True)
class Exchange:
    """The last exchange of a conversation."""

    message: MessageReceived
    """The messages of its user as one."""
    tools: frozenset[str]
    """The tools that were called in it."""


class Exchanges(Table):
    """Reads exchanges from the transcript."""

    async def last(self, session: str, event_id: str) -> Exchange | None:
        """Return the last exchange of a session, or the one that this event has taken out already."""

        def read(connection: sqlite3.Connection) -> Exchange | None:
            place = _rewound(connection, event_id) or _last(connection, session)
            if place is None:
                return None
            message = _joined(_messages(connection, place))
            return Exchange(message, _tools(connection, place)) if message else None

        return await self._writer.submit(read)


_Place = tuple[str, int, int]
"""A session, the row before the first, and the last row."""


def _rewound(connection: sqlite3.Connection, event_id: str) -> _Place | None:
    query = "SELECT session, after, until FROM rewinds WHERE event = ? AND exchanges > 0"
    place: _Place | None = connection.execute(query, (event_id,)).fetchone()
    return place


def _last(connection: sqlite3.Connection, session: str) -> _Place | None:
    for (start,) in connection.execute(LAST_STARTS, (session, 1)):
        return session, start - 1, _END
    return None


def _tools(connection: sqlite3.Connection, place: _Place) -> frozenset[str]:
    query = (
        "SELECT DISTINCT tool FROM tool_calls"  # noqa: S608
        f" WHERE attempts > 0 AND run IN (SELECT DISTINCT run FROM transcript WHERE {_IN_RANGE})"
    )
    return frozenset(tool for (tool,) in connection.execute(query, place))


def _messages(connection: sqlite3.Connection, place: _Place) -> list[MessageReceived]:
    """Return the messages of the first run in a place, as they were sent."""
    query = (
        f"SELECT message FROM transcript WHERE {_IN_RANGE} AND json_extract(message, '$.role') = 'user'"  # noqa: S608
        " AND json_extract(message, '$.id') LIKE 'inbox-%' ORDER BY seq"
    )
    found: list[MessageReceived] = []
    for (row,) in connection.execute(query, place).fetchall():
        said = message_adapter.validate_json(row)
        if isinstance(said, UserMessage):
            found += _sent(connection, said)
    return found


def _sent(connection: sqlite3.Connection, said: UserMessage) -> Sequence[MessageReceived]:
    """Return the messages behind one of the transcript: several if it is itself a repeated exchange."""
    (seq,) = inbox_seqs([said.id])
    row = connection.execute("SELECT seq, payload FROM inbox WHERE seq = ?", (seq,)).fetchone()
    event = parse_item(row).event
    if (place := _rewound(connection, event.event_id)) is not None:
        return _messages(connection, place)
    if isinstance(event, CommandInvoked | ButtonPressed):
        return [_as_message(event, text_of(said.content))]
    return [event] if isinstance(event, MessageReceived) else []


def _as_message(event: CommandInvoked | ButtonPressed, words: str) -> MessageReceived:
    return MessageReceived(
        event_id=event.event_id,
        chat=event.chat,
        sender=event.sender,
        at=event.at,
        addressed=event.addressed,
        message_id=event.message_id,
        text=words,
    )


def _joined(messages: Iterable[MessageReceived]) -> MessageReceived | None:
    """Return the messages as one, or None if there are none or they have been erased."""
    left = [each for each in messages if each.sender.id]
    if not left:
        return None
    together = {
        "text": "\n\n".join(each.text for each in left if each.text),
        "shared": "\n\n".join(each.shared for each in left if each.shared),
        "attachments": tuple(file for each in left for file in each.attachments),
    }
    return left[0].model_copy(update=together)


def again(item: InboxItem, message: MessageReceived, model: str | None) -> InboxItem:
    """Return the item whose event asked for it as the message to answer again."""
    event = message.model_copy(update={"event_id": item.event.event_id, "at": item.event.at})
    return InboxItem(item.seq, event, model)
