"""The inbox table."""

from collections.abc import Sequence

import aiosqlite
from pydantic import TypeAdapter

from channels.base import InboundEvent, ScheduleFired
from gateway.store.rows import InboxItem
from gateway.store.writer import Change

event_adapter: TypeAdapter[InboundEvent] = TypeAdapter(InboundEvent)


def accept(event: InboundEvent, now: float) -> Change[int | None]:
    payload = event.model_dump_json()
    message_id = None if isinstance(event, ScheduleFired) else event.message_id

    async def change(connection: aiosqlite.Connection) -> int | None:
        cursor = await connection.execute(
            "INSERT INTO inbox (event_id, chat, message_id, payload, at) VALUES (?, ?, ?, ?, ?)"
            " ON CONFLICT (event_id) DO NOTHING",
            (event.event_id, str(event.chat), message_id, payload, now),
        )
        return cursor.lastrowid if cursor.rowcount == 1 else None

    return change


def settle(seqs: Sequence[int]) -> Change[None]:
    async def change(connection: aiosqlite.Connection) -> None:
        await mark_done(connection, seqs)

    return change


def reword(item: InboxItem) -> Change[None]:
    async def change(connection: aiosqlite.Connection) -> None:
        await connection.execute(
            "UPDATE inbox SET payload = ? WHERE seq = ? AND state = 'new'", (item.event.model_dump_json(), item.seq)
        )

    return change


async def mark_done(connection: aiosqlite.Connection, seqs: Sequence[int]) -> None:
    if seqs:
        await connection.executemany("UPDATE inbox SET state = 'done' WHERE seq = ?", [(seq,) for seq in seqs])


async def waiting(connection: aiosqlite.Connection) -> list[InboxItem]:
    async with connection.execute("SELECT seq, payload FROM inbox WHERE state = 'new' ORDER BY seq") as rows:
        return [InboxItem(row[0], event_adapter.validate_json(row[1])) async for row in rows]
