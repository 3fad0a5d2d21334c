"""The index of the search: a virtual table of FTS5 on SQLite, arrays of terms with a GIN index on PostgreSQL."""

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Protocol

from msgspec import Struct

from channels.base import ChatKey
from gateway.store.connection import Connection, Rows
from gateway.store.search_terms import chat_term

_FOUND = (
    "SELECT transcript.seq, transcript.chat, session, transcript.run, message, coalesce("
    "  (SELECT message_id FROM inbox WHERE seq = CASE WHEN json_extract(message, '$.id') LIKE 'inbox-%'"
    "   THEN CAST(substr(json_extract(message, '$.id'), 7) AS BIGINT) END),"
    "  (SELECT message_id FROM outbox WHERE key BETWEEN transcript.run || ':answer:' AND transcript.run || ':answer;'"
    "   AND json_extract(message, '$.role') = 'assistant' LIMIT 1))"
)


_FOUND_OF_OWNER = "SELECT transcript.seq, transcript.chat, message FROM said"
_IN_LIST = "JOIN conversations ON conversations.chat = transcript.chat"


SEEN = "NOT EXISTS (SELECT 1 FROM runs WHERE runs.run = transcript.run AND kind <> 'chat')"
_IF_SEEN = "WHERE NOT EXISTS (SELECT 1 FROM runs WHERE run = ? AND kind <> 'chat')"
"""The chat does not see the messages of tasks and jobs."""
_BY_PERSON = "(? = '' OR session IN (SELECT session FROM runs WHERE runs.chat = transcript.chat AND person = ?))"


class Sought(Struct, frozen=True):
    """A search for messages."""

    terms: Sequence[str]
    before: int
    """The number of a row of the transcript; only earlier ones are returned."""
    most: int
    person: str = ""
    """The id of somebody who began a run in the conversation; empty for all conversations."""


class Entry(Struct, frozen=True):
    """A row of the transcript as it is added to the index."""

    seq: int
    chat: ChatKey
    run: str
    terms: Sequence[str]


class SearchIndex(Protocol):
    """Rows of the transcript by their chat and the terms of their text."""

    adds_together: bool
    """True if a transaction that adds one row costs as much as one that adds many, and rows are added in order."""

    def add(self, connection: Connection, entries: Sequence[Entry]) -> None:
        """Add rows of the transcript.

        Those of tasks and jobs are left out: here if rows are added at once, else by who reads them, see `SEEN`.
        """

    def find(self, connection: Connection, chats: Iterable[ChatKey], sought: Sought) -> Rows:
        """Return the newest rows of these chats that have all terms, each with the id of its message."""

    def find_of_owner(self, connection: Connection, owner: ChatKey, terms: Sequence[str], most: int) -> Rows:
        """Return the newest rows of an owner's listed conversations that have all terms."""

    def drop(self, connection: Connection, chats: Iterable[ChatKey], rows: Iterable[int]) -> bool:
        """Take all rows of these chats, and these other rows, out. Returns False if the index cannot do that."""

    def rename(self, connection: Connection, old: ChatKey, new: ChatKey) -> bool:
        """Find all rows of a chat under another key. Returns False if the index cannot do that."""

    def clear(self, connection: Connection) -> None: ...


class Fts5Index:
    """Two columns of SQLite's full-text search, so that no text can imitate a chat."""

    adds_together = True
    _QUERY = (
        f"{_FOUND} FROM said JOIN transcript ON transcript.seq = said.rowid"
        f" WHERE said MATCH ? AND said.rowid < ? AND {_BY_PERSON} ORDER BY said.rowid DESC LIMIT ?"
    )
    _OF_OWNER = (
        f"{_FOUND_OF_OWNER} JOIN transcript ON transcript.seq = said.rowid {_IN_LIST}"
        " WHERE said MATCH ? AND owner = ? AND deleted IS NULL ORDER BY said.rowid DESC LIMIT ?"
    )

    def add(self, connection: Connection, entries: Sequence[Entry]) -> None:
        """Add rows by one statement. One with a condition would have SQLite write the index out for each row."""
        rows = [(each.seq, chat_term(each.chat), " ".join(each.terms)) for each in entries]
        marks = ", ".join(["(?, ?, ?)"] * len(rows))
        connection.execute(f"INSERT INTO said (rowid, chat, words) VALUES {marks}", [*chain.from_iterable(rows)])  # noqa: S608

    def find(self, connection: Connection, chats: Iterable[ChatKey], sought: Sought) -> Rows:
        where = " OR ".join(f'"{chat_term(chat)}"' for chat in chats)
        query = f"chat : ({where}) AND words : ({_all(sought.terms)})"
        values = (query, sought.before, sought.person, sought.person, sought.most)
        return connection.execute(self._QUERY, values)

    def find_of_owner(self, connection: Connection, owner: ChatKey, terms: Sequence[str], most: int) -> Rows:
        return connection.execute(self._OF_OWNER, (f"words : ({_all(terms)})", str(owner), most))

    def drop(self, connection: Connection, chats: Iterable[ChatKey], rows: Iterable[int]) -> bool:
        """Return False: an index without the texts cannot tell which entries are those of a row."""
        return False

    def rename(self, connection: Connection, old: ChatKey, new: ChatKey) -> bool:
        """Return True if there is nothing to rename: see `drop`."""
        is_known = connection.execute("SELECT 1 FROM transcript WHERE chat = ? LIMIT 1", (str(new),)).fetchone()
        return is_known is None

    def clear(self, connection: Connection) -> None:
        connection.execute("INSERT INTO said (said) VALUES ('delete-all')")


class ArrayIndex:
    """One array of terms for each row. That of the chat begins with `@`, which is part of no other."""

    adds_together = False
    _QUERY = (
        f"{_FOUND} FROM said JOIN transcript ON transcript.seq = said.seq"
        f" WHERE terms @> ? AND terms && ? AND said.seq < ? AND {_BY_PERSON} ORDER BY said.seq DESC LIMIT ?"
    )
    _OF_OWNER = (
        f"{_FOUND_OF_OWNER} JOIN transcript ON transcript.seq = said.seq {_IN_LIST}"
        " WHERE terms @> ? AND owner = ? AND deleted IS NULL ORDER BY said.seq DESC LIMIT ?"
    )

    def add(self, connection: Connection, entries: Sequence[Entry]) -> None:
        rows = [(each.seq, [_chat_term(each.chat), *each.terms], each.run) for each in entries]
        connection.executemany(f"INSERT INTO said (seq, terms) SELECT ?, ? {_IF_SEEN}", rows)

    def find(self, connection: Connection, chats: Iterable[ChatKey], sought: Sought) -> Rows:
        of_chats = [*map(_chat_term, chats)]
        values = ([*sought.terms], of_chats, sought.before, sought.person, sought.person, sought.most)
        return connection.execute(self._QUERY, values)

    def find_of_owner(self, connection: Connection, owner: ChatKey, terms: Sequence[str], most: int) -> Rows:
        return connection.execute(self._OF_OWNER, ([*terms], str(owner), most))

    def drop(self, connection: Connection, chats: Iterable[ChatKey], rows: Iterable[int]) -> bool:
        connection.execute("DELETE FROM said WHERE terms && ?", ([*map(_chat_term, chats)],))
        connection.executemany("DELETE FROM said WHERE seq = ?", [(row,) for row in rows])
        return True

    def rename(self, connection: Connection, old: ChatKey, new: ChatKey) -> bool:
        terms = _chat_term(old), _chat_term(new)
        connection.execute("UPDATE said SET terms = array_replace(terms, ?, ?) WHERE terms && ?", (*terms, [terms[0]]))
        return True

    def clear(self, connection: Connection) -> None:
        connection.execute("DELETE FROM said")


def _all(terms: Iterable[str]) -> str:
    return " AND ".join(map(_quoted, terms))


def _quoted(term: str) -> str:
    return '"' + term.replace('"', '""') + '"'


def _chat_term(chat: ChatKey) -> str:
    return f"@{chat_term(chat)}"
