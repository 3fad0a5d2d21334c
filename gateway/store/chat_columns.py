"""Finds out which tables have rows of chats, from the database itself, so that none can be forgotten.

Tables of plugins are found like all others, also those of plugins that are switched off or gone.
"""

import sqlite3
from collections import defaultdict
from collections.abc import Mapping, Set

from msgspec import Struct

from gateway.store.connection import Connection

CHAT = "chat"
"""The column with the key of a chat."""
MESSAGE = "message_id"
"""The column with the id of a message in it, which may be empty if it allows NULL."""
_IN_FILE = (
    'SELECT tables.name, columns.name, columns."notnull" FROM sqlite_master AS tables'
    " JOIN pragma_table_info(tables.name) AS columns WHERE tables.type = 'table'"
)
_ON_SERVER = (
    "SELECT table_name, column_name, CASE is_nullable WHEN 'NO' THEN 1 ELSE 0 END"
    " FROM information_schema.columns WHERE table_schema = current_schema()"
)
_UNIQUE_IN_FILE = (
    "SELECT indexes.name, columns.name FROM pragma_index_list(?) AS indexes"
    ' JOIN pragma_index_info(indexes.name) AS columns WHERE indexes."unique" = 1'
)
_UNIQUE_ON_SERVER = (
    "SELECT pg_index.indexrelid, attname FROM pg_index JOIN pg_class ON pg_class.oid = indrelid"
    " JOIN pg_attribute ON attrelid = indrelid AND attnum = ANY (indkey)"
    " WHERE indisunique AND relname = ? AND relnamespace = current_schema()::regnamespace"
)


class ChatTable(Struct, frozen=True):
    """A table with a column for the key of a chat.

    Attributes:
        name: Its name.
        keys: The other columns of each unique index that has the chat; empty for one of the chat alone.
        names_messages: True if it has a column for the id of a message.
        needs_messages: True if that column must not be empty.
    """

    name: str
    keys: tuple[Set[str], ...]
    names_messages: bool = False
    needs_messages: bool = False


def tables_of_chats(connection: Connection) -> list[ChatTable]:
    """Return all tables that have rows of chats, by name."""
    found = defaultdict[str, dict[str, bool]](dict)
    for table, column, is_needed in connection.execute(_IN_FILE if _is_file(connection) else _ON_SERVER).fetchall():
        found[table][column] = bool(is_needed)
    return [_table(connection, name, found[name]) for name in sorted(found) if CHAT in found[name]]


def _table(connection: Connection, name: str, columns: Mapping[str, bool]) -> ChatTable:
    query = _UNIQUE_IN_FILE if _is_file(connection) else _UNIQUE_ON_SERVER
    indexes = defaultdict[str, set[str]](set)
    for index, column in connection.execute(query, (name,)).fetchall():
        indexes[index].add(column)
    keys = tuple(columns - {CHAT} for columns in indexes.values() if CHAT in columns)
    return ChatTable(name, keys, MESSAGE in columns, columns.get(MESSAGE, False))


def _is_file(connection: Connection) -> bool:
    return isinstance(connection, sqlite3.Connection)
