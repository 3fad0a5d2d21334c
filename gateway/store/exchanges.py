"""Exchanges of conversations: the messages that began and steered a run, and what its tools did."""

from collections.abc import Sequence

from msgspec import Struct

from agent_core.messages import AssistantMessage, ToolResultMessage, UserMessage, text_of
from agent_core.reasons import CallFailure
from channels.base import ButtonPressed, CommandInvoked, InboundEvent, MessageEdited, MessageReceived
from gateway.store.connection import Connection
from gateway.store.history import END, IS_KEPT, last_starts
from gateway.store.inbox import parse_item
from gateway.store.rows import InboxItem, inbox_seqs
from gateway.store.table import Table, first_readable, readable
from gateway.store.transcript import numbered_message

_IN_RANGE = "session = ? AND seq > ? AND seq <= ?"
_OF_MESSAGE = "chat = ? AND message_id = ? AND json_extract(payload, '$.type')"


class Exchange(Struct, frozen=True):
    """The last exchange of a conversation."""

    messages: Sequence[MessageReceived]
    """What its users sent, with the words of their latest edits."""
    message: MessageReceived
    """The same as one message."""
    runs: Sequence[str]
    """The run that began it, and those that followed for reports of tasks."""
    tools: frozenset[str]
    """The tools that were called in it, or may have been before a crash."""
    open_tools: frozenset[str]
    """The tools of calls without a result."""
    is_taken_out: bool
    """True if this very event has taken it out of the conversation already."""

    def sent(self, message_id: str) -> MessageReceived | None:
        """Return its message with the platform's id."""
        return next((each for each in self.messages if each.message_id == message_id), None)


class Exchanges(Table):
    """Reads exchanges from the transcript."""

    async def last(self, session: str, event_id: str) -> Exchange | None:
        """Return the last exchange of a session, or the one that this event has taken out already."""

        def read(connection: Connection) -> Exchange | None:
            taken_out = _rewound(connection, event_id)
            place = taken_out or _last(connection, session)
            messages = [each for each in _messages(connection, place) if each.sender.id] if place else []
            if place is None or not messages:
                return None  # there is none, or its messages have been erased
            return Exchange(
                messages=messages,
                message=_joined(messages),
                runs=_runs(connection, place),
                tools=_tools(connection, place),
                open_tools=_open_tools(connection, place),
                is_taken_out=taken_out is not None,
            )

        return await self._writer.submit(read)

    async def changes_words(self, edit: MessageEdited) -> bool:
        """Return True if an edit changes the text that the message had until then."""
        query = (
            f"SELECT seq, payload FROM inbox WHERE {_OF_MESSAGE} IN ('message', 'edited')"  # noqa: S608
            " AND seq < (SELECT seq FROM inbox WHERE event_id = ?) ORDER BY seq DESC LIMIT 1"
        )

        def read(connection: Connection) -> bool:
            before = _event(connection, query, (str(edit.chat), edit.message_id, edit.event_id))
            return isinstance(before, MessageReceived | MessageEdited) and before.text != edit.text

        return await self._writer.submit(read)


_Place = tuple[str, int, int]
"""A session, the row before the first, and the last row."""


def _rewound(connection: Connection, event_id: str) -> _Place | None:
    query = "SELECT session, after, until FROM rewinds WHERE event = ? AND exchanges > 0"
    place: _Place | None = connection.execute(query, (event_id,)).fetchone()
    return place


def _last(connection: Connection, session: str) -> _Place | None:
    return next(((session, start - 1, END) for start in last_starts(connection, session, 1)), None)


def _runs(connection: Connection, place: _Place) -> list[str]:
    query = f"SELECT run FROM transcript WHERE {_IN_RANGE} GROUP BY run ORDER BY min(seq)"  # noqa: S608
    return [run for (run,) in connection.execute(query, place)]


def _tools(connection: Connection, place: _Place) -> frozenset[str]:
    """Return the tools of calls that were made, or whose outcome is unknown."""
    made = (
        "SELECT DISTINCT tool FROM tool_calls"  # noqa: S608
        f" WHERE attempts > 0 AND run IN (SELECT DISTINCT run FROM transcript WHERE {_IN_RANGE})"
    )
    unknown = (
        f"SELECT DISTINCT json_extract(message, '$.tool_name') FROM transcript WHERE {_IN_RANGE}"  # noqa: S608
        " AND json_extract(message, '$.details.failure') = ?"
    )
    found = connection.execute(made, place).fetchall()
    found += connection.execute(unknown, (*place, CallFailure.UNKNOWN.value)).fetchall()
    return frozenset(tool for (tool,) in found)


def _open_tools(connection: Connection, place: _Place) -> frozenset[str]:
    query = (
        f"SELECT seq, message FROM transcript WHERE {_IN_RANGE}"  # noqa: S608
        " AND json_extract(message, '$.role') IN ('assistant', 'tool_result') ORDER BY seq"
    )
    found: dict[str, str] = {}
    for _, message in readable(connection.execute(query, place), numbered_message, "transcript"):
        match message:
            case AssistantMessage() as answer:
                found |= {call.id: call.name for call in answer.tool_calls}
            case ToolResultMessage() as result:
                found.pop(result.tool_call_id, None)
    return frozenset(found.values())


def _messages(connection: Connection, place: _Place) -> list[MessageReceived]:
    """Return the messages of the first run in a place, as they were sent."""
    query = (
        f"SELECT seq, message FROM transcript WHERE {_IN_RANGE} AND {IS_KEPT}"  # noqa: S608
        " AND json_extract(message, '$.role') = 'user'"
        " AND json_extract(message, '$.id') LIKE 'inbox-%'"
        " AND run = (SELECT run FROM transcript WHERE session = ? AND seq > ? ORDER BY seq LIMIT 1) ORDER BY seq"
    )
    found: list[MessageReceived] = []
    rows = connection.execute(query, (*place, *place[:2])).fetchall()
    for _, said in readable(rows, numbered_message, "transcript"):
        if isinstance(said, UserMessage):
            found += _sent(connection, said)
    return found


def _sent(connection: Connection, said: UserMessage) -> Sequence[MessageReceived]:
    """Return the messages behind one of the transcript: several if it is itself a repeated exchange."""
    seqs = inbox_seqs([said.id])
    event = _event(connection, "SELECT seq, payload FROM inbox WHERE seq = ?", seqs) if seqs else None
    if event is None:
        return []
    if (place := _rewound(connection, event.event_id)) is not None:
        return _messages(connection, place)
    if isinstance(event, CommandInvoked | ButtonPressed):
        return [_as_message(event, said)]
    return [_reworded(connection, event)] if isinstance(event, MessageReceived) else []


def _reworded(connection: Connection, message: MessageReceived) -> MessageReceived:
    """Return a message with the words of its latest edit."""
    query = f"SELECT seq, payload FROM inbox WHERE {_OF_MESSAGE} = 'edited' ORDER BY seq DESC LIMIT 1"  # noqa: S608
    edit = _event(connection, query, (str(message.chat), message.message_id))
    if not isinstance(edit, MessageEdited) or edit.sender.id != message.sender.id:
        return message
    return message.model_copy(update=edit.new_words)


def _event(connection: Connection, query: str, values: Sequence[str | int]) -> InboundEvent | None:
    item = first_readable(connection.execute(query, values), parse_item, "inbox")
    return item.event if item else None


def _as_message(event: CommandInvoked | ButtonPressed, said: UserMessage) -> MessageReceived:
    """Return the words that an event said on the user's behalf; those of others stand in the context alone."""
    own = text_of(said.content)
    return MessageReceived(
        event_id=event.event_id,
        chat=event.chat,
        sender=event.sender,
        at=event.at,
        addressed=event.addressed,
        message_id=event.message_id,
        text=own,
        shared="" if own else said.context or "",
    )


def _joined(messages: Sequence[MessageReceived]) -> MessageReceived:
    together = {
        "text": "\n\n".join(each.text for each in messages if each.text),
        "shared": "\n\n".join(each.shared for each in messages if each.shared),
        "attachments": tuple(file for each in messages for file in each.attachments),
        "named": tuple(name for each in messages for name in each.named),
    }
    return messages[0].model_copy(update=together)


def again(item: InboxItem, message: MessageReceived, model: str | None) -> InboxItem:
    """Return the item whose event asked for it as the message to answer again."""
    event = message.model_copy(update={"event_id": item.event.event_id, "at": item.event.at})
    return InboxItem(item.seq, event, model, is_again=True)
