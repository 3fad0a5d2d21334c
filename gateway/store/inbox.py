"""The inbox table."""

import sqlite3
from collections.abc import Sequence

from pydantic import TypeAdapter

from channels.base import Addressed, ChatKey, InboundEvent, ScheduleFired, TaskEnded
from gateway.store.reading import readable
from gateway.store.rows import InboxItem, LastHeard, TalkBefore
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
    """From `seq` and `payload`. Raises ValueError."""
    return InboxItem(row[0], event_adapter.validate_json(row[1]))


def talk_before(connection: sqlite3.Connection, of: InboxItem, most: int) -> TalkBefore:
    """The newest `most` messages of a chat before one of them, back to the last that named us."""
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


def born(connection: sqlite3.Connection) -> float:
    return float(connection.execute("SELECT born FROM store").fetchone()[0])


def last_taken_in(connection: sqlite3.Connection) -> float | None:
    row = connection.execute("SELECT at FROM inbox ORDER BY seq DESC LIMIT 1").fetchone()
    return float(row[0]) if row else None


def last_heard(connection: sqlite3.Connection, platform: str, since: float, most: int) -> list[LastHeard]:
    """The newest message of each chat in which somebody wrote since then, the chat that was spoken in last first."""
    rows = connection.execute(
        "SELECT chat, message_id, max(json_extract(payload, '$.at')) AS at FROM inbox"
        " WHERE chat >= ? AND chat < ? AND at > ? AND json_extract(payload, '$.type') = 'message'"
        " GROUP BY chat ORDER BY at DESC LIMIT ?",
        (f"{platform}:", f"{platform};", since, most),
    )
    return list(readable(rows, lambda row: LastHeard(ChatKey.parse(row[0]), row[1], row[2]), "inbox"))
