"""The table of inbound events."""

import sqlite3
from collections.abc import Sequence

from pydantic import TypeAdapter

from channels.base import Addressed, ChatKey, InboundEvent, ScheduleFired, TaskEnded
from gateway.store.reading import readable
from gateway.store.rows import InboxItem, TalkBefore
from gateway.store.writer import Change

event_adapter: TypeAdapter[InboundEvent] = TypeAdapter(InboundEvent)


def accept(event: InboundEvent, now: float) -> Change[int | None]:
    payload = event.model_dump_json()
    message_id = None if isinstance(event, ScheduleFired | TaskEnded) else event.message_id

    def change(connection: sqlite3.Connection) -> int | None:
        cursor = connection.execute(
            "INSERT INTO inbox (event_id, chat, message_id, payload, at) VALUES (?, ?, ?, ?, ?)"
            " ON CONFLICT (event_id) DO NOTHING",
            (event.event_id, str(event.chat), message_id, payload, now),
        )
        return cursor.lastrowid if cursor.rowcount == 1 else None

    return change


def settle(seqs: Sequence[int]) -> Change[None]:
    def change(connection: sqlite3.Connection) -> None:
        mark_done(connection, seqs)

    return change


def reword(item: InboxItem) -> Change[None]:
    def change(connection: sqlite3.Connection) -> None:
        connection.execute(
            "UPDATE inbox SET payload = ? WHERE seq = ? AND state = 'new'", (item.event.model_dump_json(), item.seq)
        )

    return change


def mark_done(connection: sqlite3.Connection, seqs: Sequence[int]) -> None:
    if seqs:
        connection.executemany("UPDATE inbox SET state = 'done' WHERE seq = ?", [(seq,) for seq in seqs])


def waiting(connection: sqlite3.Connection) -> list[InboxItem]:
    rows = connection.execute("SELECT seq, payload FROM inbox WHERE state = 'new' ORDER BY seq")
    return list(readable(rows, item, "inbox"))


def item(row: tuple[int, str]) -> InboxItem:
    """Parse a row of `seq` and `payload`. Raises ValueError."""
    return InboxItem(row[0], event_adapter.validate_json(row[1]))


def talk_before(connection: sqlite3.Connection, of: InboxItem, most: int) -> TalkBefore:
    """Look through the newest `most` messages before one, back to the last that mentioned the bot."""
    rows = connection.execute(
        "SELECT message_id, json_extract(payload, '$.addressed') FROM inbox"
        " WHERE chat = ? AND seq < ? AND json_extract(payload, '$.type') = 'message' ORDER BY seq DESC LIMIT ?",
        (str(of.event.chat), of.seq, most),
    )
    heard: set[str] = set()
    for message_id, addressed in rows:
        heard.add(message_id)
        if addressed == Addressed.MENTION:
            return TalkBefore(message_id, frozenset(heard))
    return TalkBefore(None, frozenset(heard))


def message(connection: sqlite3.Connection, chat: ChatKey, message_id: str) -> InboxItem | None:
    """Return the newest message with this platform id."""
    query = (
        "SELECT seq, payload FROM inbox"
        " WHERE chat = ? AND message_id = ? AND json_extract(payload, '$.type') = 'message' ORDER BY seq DESC LIMIT 1"
    )
    rows = connection.execute(query, (str(chat), message_id))
    return next(readable(rows, item, "inbox"), None)


def born(connection: sqlite3.Connection) -> float:
    return float(connection.execute("SELECT born FROM store").fetchone()[0])


def sequence(connection: sqlite3.Connection) -> int:
    return int(connection.execute("SELECT sequence FROM store").fetchone()[0])


def last_taken_in(connection: sqlite3.Connection) -> float | None:
    row = connection.execute("SELECT at FROM inbox ORDER BY seq DESC LIMIT 1").fetchone()
    return float(row[0]) if row else None
