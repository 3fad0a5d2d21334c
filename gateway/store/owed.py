"""The table of what is owed: durable work that follows an answer, until it is done or given up."""

import json
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from msgspec import Struct, field

from agent_core.messages import JsonObject
from channels.base import ChatKey
from gateway.store.connection import Connection, Work
from gateway.store.outbox import insert, masked_posts, rows_of
from gateway.store.rows import Post
from gateway.store.table import Table, in_chat, readable
from gateway.store.topics import Topic
from gateway.store.unreadable import stored_object


class Owed(Struct, frozen=True):
    """Something that a chat is owed, known by its kind and key.

    Attributes:
        kind: What is done, by the name of who does it.
        key: Tells it from others of its kind. Of two with the same kind and key the first one stays.
        chat: The chat.
        data: What is needed to do it. It is kept as JSON, and masked.
        run: The run whose end owes it, which is filled in there, or another one of the outbox: it is done once all
            messages of the run were sent or given up. Empty: at once.
        due: The time before which it is not done, in seconds since the epoch.
        attempts: Tries that failed, and starts of the program in which it was taken up again.
    """

    kind: str
    key: str
    chat: ChatKey
    data: JsonObject = field(default_factory=dict)
    run: str = ""
    due: float = 0.0
    attempts: int = 0


class _Row(NamedTuple):
    key: str
    kind: str
    chat: str
    data: str
    run: str
    due: float
    attempts: int


Owes = Callable[[Connection], Sequence[Owed]]
"""Returns what is owed from now on, in the transaction that writes it."""


def nothing_owed(_: Connection) -> Sequence[Owed]:
    """Return nothing."""
    return ()


class OwedItems(Table):
    """The owed items of all kinds."""

    async def left(self, chat: ChatKey | None = None) -> list[Owed]:
        """Return what a chat is owed, or all chats, oldest first."""
        condition, values = in_chat(chat)
        query = f"SELECT {', '.join(_Row._fields)} FROM owed WHERE TRUE{condition} ORDER BY at, key"  # noqa: S608

        def read(connection: Connection) -> list[Owed]:
            return list(readable(map(_Row._make, connection.execute(query, values)), _owed, "owed"))

        return await self._reader.run(read)

    async def tried(self, items: Iterable[Owed]) -> None:
        """Save the number of attempts, and when the next one is due."""
        rows = [(each.attempts, each.due, each.kind, each.key) for each in items]

        def change(connection: Connection) -> None:
            connection.executemany("UPDATE owed SET attempts = ?, due = ? WHERE kind = ? AND key = ?", rows)

        await self._writer.submit(change)

    async def add(self, owes: Owes) -> Sequence[Owed]:
        """Make a change, and record what it returns as owed, in one transaction. Other nodes hear of it."""
        return await self._writer.submit(self.recording(owes))

    def recording(self, owes: Owes) -> Work[Sequence[Owed]]:
        """Return the part of a transaction that makes a change, and records what it returns as owed."""
        now = self._clock.time()

        def change(connection: Connection) -> Sequence[Owed]:
            items = owes(connection)
            owe(connection, items, now, self._secrets.mask)
            for chat in {item.chat for item in items}:
                self._changed(connection, Topic.OWED, str(chat))
            return items

        return change

    async def done(self, item: Owed, posts: Sequence[Post] = (), also: Work[None] | None = None) -> bool:
        """Remove what is done, and queue the messages that do it, in one transaction.

        `also` is written in it. Returns False, and writes nothing, if it was removed before.
        """
        rows = rows_of(masked_posts(posts, self._secrets), self._clock.time())

        def change(connection: Connection) -> bool:
            removed = connection.execute("DELETE FROM owed WHERE kind = ? AND key = ?", (item.kind, item.key))
            if removed.rowcount == 0:
                return False
            if also is not None:
                also(connection)
            insert(connection, rows)
            return True

        return await self._writer.submit(change)


def owe(connection: Connection, items: Iterable[Owed], now: float, mask: Callable[[str], str]) -> None:
    """Record what is owed from now on."""
    for each in items:
        connection.execute(
            "INSERT INTO owed (kind, key, chat, data, run, at, due, attempts) VALUES (?, ?, ?, ?, ?, ?, ?, 0)"
            " ON CONFLICT DO NOTHING",
            (each.kind, each.key, str(each.chat), mask(json.dumps(each.data)), each.run, now, each.due),
        )


def _owed(row: _Row) -> Owed:
    return Owed(row.kind, row.key, ChatKey.parse(row.chat), stored_object(row.data), row.run, row.due, row.attempts)
