"""The table of messages that one send posted besides the first, as the later pictures of an album."""

from channels.base import ChatKey, Posted
from gateway.store.connection import Connection

_INSERT = "INSERT INTO further_messages (chat, message_id, first, place) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING"
_FIND = "SELECT {} FROM further_messages WHERE chat = ? AND message_id = ?"
_IDS = "SELECT message_id FROM further_messages WHERE chat = ? ORDER BY message_id DESC LIMIT ?"


def place_of(connection: Connection, chat: ChatKey, message_id: str) -> int:
    """Return which of the messages of its send one is; 0 is the first."""
    row = connection.execute(_FIND.format("place"), (str(chat), message_id)).fetchone()
    return 0 if row is None else int(row[0])


def insert_further(connection: Connection, chat: ChatKey, posted: Posted) -> None:
    """Insert what a send posted besides the first message."""
    rows = [(str(chat), name, posted.message_id, place) for place, name in enumerate(posted.further, 1)]
    if rows:
        connection.executemany(_INSERT, rows)


def first_of(connection: Connection, chat: ChatKey, message_id: str) -> str:
    """Return the message by which the outbox knows one: itself, or the first of those that one send posted."""
    row = connection.execute(_FIND.format("first"), (str(chat), message_id)).fetchone()
    return message_id if row is None else str(row[0])


def further_ids(connection: Connection, chat: ChatKey, most: int) -> list[str]:
    """Return the newest of these messages in a chat, at most `most`."""
    return [str(name) for (name,) in connection.execute(_IDS, (str(chat), most))]
