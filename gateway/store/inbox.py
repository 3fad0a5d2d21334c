"""The table of inbound events."""

from collections.abc import Sequence

from msgspec import Struct
from pydantic import ConfigDict, TypeAdapter

from channels.base import (
    Addressed,
    ChatKey,
    InboundEvent,
    MessageReceived,
    RequestMade,
    ScheduleFired,
    Sender,
    TaskEnded,
)
from gateway.store.connection import Connection
from gateway.store.rows import InboxItem, MessagesBefore
from gateway.store.table import Table, in_chat, readable
from gateway.store.writer import Change

event_adapter: TypeAdapter[InboundEvent] = TypeAdapter(InboundEvent, config=ConfigDict(defer_build=True))


class Backlog(Struct, frozen=True):
    """The items not dealt with yet."""

    count: int
    oldest: float | None
    """When the oldest of them was accepted."""


MOST_SENDERS = 5_000
"""Newest events among which `last_senders` looks."""
_SELECT = "SELECT seq, payload FROM inbox"
WAITING = f"{_SELECT} WHERE state = 'new' ORDER BY seq"
"""Selects the items not dealt with yet, in order."""


class Inbox(Table):
    """Inbound events in the order of their arrival, each accepted once and then settled."""

    async def accept(self, event: InboundEvent) -> int | None:
        """Record an inbound event.

        Returns:
            Its number, or None for a duplicate.

        Raises:
            StoreUnavailable: The disk takes no writes; nothing was recorded.
        """
        change = accepting(self._secrets.masked(event), self._clock.time())
        return await self._writer.submit(change, patient=False)

    async def settle(self, seqs: Sequence[int]) -> None:
        """Mark items as dealt with by other means than a run."""

        def change(connection: Connection) -> None:
            mark_done(connection, seqs)

        await self._writer.submit(change)

    async def reword(self, item: InboxItem) -> None:
        """Store the new text of a message that was edited while it waits."""
        event = self._secrets.masked(item.event)

        def change(connection: Connection) -> None:
            query = "UPDATE inbox SET payload = ? WHERE seq = ? AND state = 'new'"
            connection.execute(query, (event.model_dump_json(), item.seq))

        await self._writer.submit(change)

    async def waiting(self, chat: ChatKey | None = None) -> list[InboxItem]:
        """Return the items of a chat or of all that are not dealt with yet, in order."""
        condition, values = in_chat(chat)
        query = f"{_SELECT} WHERE state = 'new'{condition} ORDER BY seq"

        def read(connection: Connection) -> list[InboxItem]:
            return list(readable(connection.execute(query, values), parse_item, "inbox"))

        return await self._reader.query(read)

    async def new_among(self, seqs: Sequence[int]) -> list[InboxItem]:
        """Return those of these items that are not dealt with yet, in order."""
        query = f"{_SELECT} WHERE seq = ? AND state = 'new'"

        def read(connection: Connection) -> list[InboxItem]:
            rows = (row for seq in sorted(seqs) for row in connection.execute(query, (seq,)).fetchall())
            return list(readable(rows, parse_item, "inbox"))

        return await self._reader.run(read) if seqs else []

    async def last_senders(self) -> list[tuple[ChatKey, Sender, str]]:
        """Return who wrote in which chat lately, oldest first, with the names that they and the groups had."""
        query = (
            "SELECT chat, json_extract(payload, '$.sender.id'), json_extract(payload, '$.sender.name'),"
            " json_extract(payload, '$.sender.language'), json_extract(payload, '$.group')"
            " FROM inbox ORDER BY seq DESC LIMIT ?"
        )

        def sender(row: tuple[str, str, str, str | None, str | None]) -> tuple[ChatKey, Sender, str]:
            chat, person, name, language, group = row
            return ChatKey.parse(chat), Sender(id=person, name=name, language=language), group or ""

        def read(connection: Connection) -> list[tuple[ChatKey, Sender, str]]:
            return list(readable(connection.execute(query, (MOST_SENDERS,)), sender, "inbox"))[::-1]

        return await self._reader.run(read)

    async def find(self, chat: ChatKey, message_id: str) -> InboxItem | None:
        """Return the user's newest message with this platform id."""
        query = (
            "SELECT seq, payload FROM inbox"
            " WHERE chat = ? AND message_id = ? AND json_extract(payload, '$.type') = 'message'"
            " ORDER BY seq DESC LIMIT 1"
        )

        def read(connection: Connection) -> InboxItem | None:
            rows = connection.execute(query, (str(chat), message_id))
            return next(readable(rows, parse_item, "inbox"), None)

        return await self._reader.run(read)

    async def before(self, item: InboxItem, most: int) -> list[MessageReceived]:
        """Return a chat's newest `most` messages before this one, newest first."""
        query = (
            f"{_SELECT} WHERE chat = ? AND seq < ? AND json_extract(payload, '$.type') = 'message'"
            " ORDER BY seq DESC LIMIT ?"
        )

        def read(connection: Connection) -> list[MessageReceived]:
            rows = connection.execute(query, (str(item.event.chat), item.seq, most))
            events = [each.event for each in readable(rows, parse_item, "inbox")]
            return [each for each in events if isinstance(each, MessageReceived)]

        return await self._reader.query(read)

    async def messages_before(self, item: InboxItem, most: int) -> MessagesBefore:
        """Look through a chat's newest `most` messages before this one, back to the last that mentioned the bot."""
        query = (
            "SELECT message_id, json_extract(payload, '$.addressed') FROM inbox"
            " WHERE chat = ? AND seq < ? AND json_extract(payload, '$.type') = 'message' ORDER BY seq DESC LIMIT ?"
        )

        def read(connection: Connection) -> MessagesBefore:
            heard: set[str] = set()
            for message_id, addressed in connection.execute(query, (str(item.event.chat), item.seq, most)):
                heard.add(message_id)
                if addressed == Addressed.MENTION:
                    return MessagesBefore(message_id, frozenset(heard))
            return MessagesBefore(None, frozenset(heard))

        return await self._reader.run(read)

    async def backlog(self) -> Backlog:
        """Return how many items wait, and since when the oldest does."""

        def read(connection: Connection) -> Backlog:
            count, oldest = connection.execute("SELECT count(*), min(at) FROM inbox WHERE state = 'new'").fetchone()
            return Backlog(int(count), oldest)

        return await self._reader.run(read)

    async def last_accepted(self) -> float | None:
        """Return when the newest event of all was accepted, by the clock at that time."""

        def read(connection: Connection) -> float | None:
            rows = connection.execute("SELECT at FROM inbox ORDER BY seq DESC LIMIT 1")
            return next((float(at) for (at,) in rows), None)

        return await self._reader.run(read)


def accepting(event: InboundEvent, now: float) -> Change[int | None]:
    """Return the change that records an event: it returns the event's number, or None for a duplicate."""
    payload = event.model_dump_json()
    message_id = None if isinstance(event, RequestMade | ScheduleFired | TaskEnded) else event.message_id

    def change(connection: Connection) -> int | None:
        added = connection.execute(
            "INSERT INTO inbox (event_id, chat, message_id, payload, at) VALUES (?, ?, ?, ?, ?)"
            " ON CONFLICT (event_id) DO NOTHING RETURNING seq",
            (event.event_id, str(event.chat), message_id, payload, now),
        ).fetchall()
        return int(added[0][0]) if added else None

    return change


def mark_done(connection: Connection, seqs: Sequence[int]) -> None:
    """Mark items as dealt with."""
    if seqs:
        connection.executemany("UPDATE inbox SET state = 'done' WHERE seq = ?", [(seq,) for seq in seqs])


def parse_item(row: tuple[int, str]) -> InboxItem:
    """Parse a row of `seq` and `payload`. Raises ValueError."""
    seq, payload = row
    return InboxItem(seq, event_adapter.validate_json(payload))
