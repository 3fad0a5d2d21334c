"""The table of messages with a reaction that is not the last one, so that the next process can replace it."""

from msgspec import Struct

from channels.base import ChatKey
from gateway.store.connection import Connection
from gateway.store.table import Table, readable

START = """
-- Messages that may carry a reaction saying that they are heard, steer or wait; it is replaced or removed at the end.
-- The table may be there already, as the core made it before.
CREATE TABLE IF NOT EXISTS reactions (
  seq INTEGER PRIMARY KEY,
  chat TEXT NOT NULL,
  message_id TEXT NOT NULL,
  at REAL NOT NULL
);
"""
WITHOUT_TIME = "ALTER TABLE reactions DROP COLUMN at;"
"""Drops the time at which a row was made, which is used nowhere."""


class LeftReaction(Struct, frozen=True):
    """A message that may carry a reaction of the previous process."""

    seq: int
    """The number of the message in the inbox."""
    chat: ChatKey
    message_id: str


class Reactions(Table):
    """Messages on which a reaction other than the last one is shown."""

    async def add(self, left: LeftReaction) -> None:
        """Record a message before it gets a reaction."""
        row = left.seq, str(left.chat), left.message_id

        def change(connection: Connection) -> None:
            connection.execute(
                "INSERT INTO reactions (seq, chat, message_id) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", row
            )

        await self.write(change)

    async def remove(self, seq: int) -> None:
        """Delete the record of a message whose reaction is final or gone."""

        def change(connection: Connection) -> None:
            connection.execute("DELETE FROM reactions WHERE seq = ?", (seq,))

        await self.write(change)

    async def left(self, chat: ChatKey | None = None) -> list[LeftReaction]:
        """Return the messages of a chat, or of all, that the previous process left with a reaction."""
        query = "SELECT seq, chat, message_id FROM reactions WHERE chat = coalesce(?, chat) ORDER BY seq"
        values = (None if chat is None else str(chat),)

        def read(connection: Connection) -> list[LeftReaction]:
            return list(readable(connection.execute(query, values).fetchall(), _left, "reactions"))

        return await self.read(read)


def _left(row: tuple[int, str, str]) -> LeftReaction:
    seq, chat, message = row
    return LeftReaction(seq, ChatKey.parse(chat), message)


def erase(connection: Connection, chat: ChatKey) -> None:
    """Delete the records of a chat."""
    connection.execute("DELETE FROM reactions WHERE chat = ?", (str(chat),))
