"""The search index over what was said."""

import asyncio
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import suppress

from msgspec import Struct

from agent_core.messages import (
    AgentMessage,
    AssistantMessage,
    NotificationMessage,
    UserMessage,
    message_adapter,
    text_of,
)
from channels.base import ChatKey
from gateway.store.connection import Connection
from gateway.store.search_index import SEEN, ArrayIndex, Entry, Fts5Index, SearchIndex, Sought
from gateway.store.search_terms import indexed_terms, sought_terms
from gateway.store.table import Table, readable
from gateway.store.writer import StoreUnavailable, Writer

PAUSE = 0.05
"""Seconds between two steps."""
AT_ONCE = 200
"""Older rows indexed in one transaction; it takes some 20 ms."""
TOGETHER = 32
"""New rows indexed in one transaction, where each transaction that adds to the index costs as much as many rows do."""
_END = 2**63 - 1

Row = tuple[int, ChatKey, str, AgentMessage]
"""The number of a row of the transcript, its chat, its run and its message."""


class Found(Struct, frozen=True):
    """A message that a search found."""

    seq: int
    """The number of its transcript row; later messages have higher ones."""
    chat: ChatKey
    session: str
    run: str
    message: UserMessage | AssistantMessage | NotificationMessage
    message_id: str | None
    """The id of the message on the platform, where it is known."""

    @property
    def text(self) -> str:
        return said(self.message)


class Page(Struct, frozen=True):
    """Messages that a search found, newest first."""

    found: Sequence[Found]
    before: int | None
    """The `before` of the next page; None if this is the last one."""
    is_complete: bool
    """False while messages from before the index existed are still being indexed."""


class Search(Table):
    """Index of what users, the agent and its jobs said, by word. `Transcript.append` adds to it, in a file later."""

    async def find(
        self, chats: Sequence[ChatKey], words: str, most: int, before: int | None = None, person: str | None = None
    ) -> Page:
        """Return the newest messages in these chats that have all words.

        Args:
            chats: The chats to search.
            words: Words in any order; case and accents do not count.
            most: The length of a page.
            before: The number of a transcript row; only earlier ones are returned.
            person: The id of somebody who began a run in the conversation; None for all conversations.

        Raises:
            ValueError: There is no word in `words`.
        """
        terms = sought_terms(words)
        if not terms:
            raise ValueError("no word to search for")
        asked = Sought(terms, _END if before is None else before, most + 1, person or "")
        await index_newest(self._writer)

        def read(connection: Connection) -> Page:
            rows = list(readable(_index_of(connection).find(connection, chats, asked), _found, "transcript"))
            (left,) = connection.execute("SELECT before FROM search_progress").fetchone()
            found = [row for row in rows[:most] if row.chat in chats]
            return Page(found, rows[most - 1].seq if len(rows) > most else None, is_complete=left <= 1)

        return await self._reader.run(read)

    async def catch_up(self) -> None:
        """Index all rows from before the index existed, newest first, in steps that let other changes pass."""
        while await self._writer.submit(index_older):  # noqa: ASYNC110 (others write meanwhile)
            await asyncio.sleep(PAUSE)


async def index_newest(writer: Writer) -> None:
    """Index what was said last, which may wait for others; while the disk takes no writes it is not found."""
    with suppress(StoreUnavailable):
        await writer.submit(_index_newer, patient=False)


def _index_of(connection: Connection) -> SearchIndex:
    """Return the index of the database that a connection leads to."""
    return Fts5Index() if isinstance(connection, sqlite3.Connection) else ArrayIndex()


def appended(connection: Connection, seq: int, chat: ChatKey, run: str, message: AgentMessage) -> None:
    """Index a new row of the transcript: at once, or together with those before it."""
    if not _index_of(connection).adds_together:
        index(connection, [(seq, chat, run, message)])
    elif seq % TOGETHER == 0:
        _index_newer(connection)


def _index_newer(connection: Connection) -> None:
    """Index the rows that were appended since the last time."""
    if not _index_of(connection).adds_together:
        return
    (after,) = connection.execute("SELECT after FROM search_progress").fetchone()
    query = f"SELECT seq, chat, run, message FROM transcript WHERE seq > ? AND {SEEN} ORDER BY seq"  # noqa: S608
    rows = connection.execute(query, (after,)).fetchall()
    index(connection, readable(rows, _row, "transcript"))
    (last,) = connection.execute("SELECT coalesce(max(seq), 0) FROM transcript").fetchone()
    if last > after:
        connection.execute("UPDATE search_progress SET after = ?", (last,))


def index(connection: Connection, rows: Iterable[Row]) -> None:
    """Add rows of the transcript to the index, if their chats have seen the texts."""
    found = ((seq, chat, run, indexed_terms(said(message))) for seq, chat, run, message in rows)
    entries = [Entry(seq, chat, run, terms) for seq, chat, run, terms in found if terms]
    for begin in range(0, len(entries), AT_ONCE):
        _index_of(connection).add(connection, entries[begin : begin + AT_ONCE])


def found_in(connection: Connection, owner: ChatKey, words: str, most: int) -> list[tuple[ChatKey, str]]:
    """Return the newest messages of an owner's conversations that have all words, each with its chat."""
    terms = sought_terms(words)
    if not terms:
        return []
    rows = _index_of(connection).find_of_owner(connection, owner, terms, most)

    def read(row: tuple[int, str, str]) -> tuple[ChatKey, str]:
        _, chat, message = row
        return ChatKey.parse(chat), said(message_adapter.validate_json(message))

    return list(readable(rows, read, "transcript"))


def said(message: AgentMessage) -> str:
    """Return the text of a message as people in the chat have read it, with the names of its files.

    It is empty for what the chat did not see.
    """
    match message:
        case UserMessage(by_agent=False):
            return " ".join(filter(None, (text_of(message.content), *(f"[{name}]" for name in message.files))))
        case AssistantMessage():
            return text_of(message.content)
        case NotificationMessage():
            return message.quoted
        case _:
            return ""


def _found(row: tuple[int, str, str, str, str, str | None]) -> Found:
    seq, chat, session, run, text, message_id = row
    message = message_adapter.validate_json(text)
    if not isinstance(message, UserMessage | AssistantMessage | NotificationMessage):
        raise ValueError(f"row {seq} of the transcript is no message that people see")  # noqa: TRY004 (skips the row)
    return Found(seq, ChatKey.parse(chat), session, run, message, message_id)


def _row(row: tuple[int, str, str, str]) -> Row:
    seq, chat, run, message = row
    return seq, ChatKey.parse(chat), run, message_adapter.validate_json(message)


def drop(connection: Connection, chats: Sequence[ChatKey], rows: Sequence[int]) -> None:
    """Take all rows of chats, and other rows of the transcript, out of the index; or empty it if that is impossible."""
    if not _index_of(connection).drop(connection, chats, rows):
        forget(connection)


def moved(connection: Connection, old: ChatKey, new: ChatKey) -> None:
    """Find the rows of a chat under its new key; or empty the index if that is impossible."""
    if not _index_of(connection).rename(connection, old, new):
        forget(connection)


def forget(connection: Connection) -> None:
    """Empty the index, so that `index_older` builds it again."""
    _index_of(connection).clear(connection)
    (last,) = connection.execute("SELECT coalesce(max(seq), 0) FROM transcript").fetchone()
    connection.execute("UPDATE search_progress SET before = ?, after = ?", (last + 1, last))


def index_older(connection: Connection) -> bool:
    """Index the newest rows that are not in the index yet. Returns True if there are more."""
    (before,) = connection.execute("SELECT before FROM search_progress").fetchone()
    query = f"SELECT seq, chat, run, message FROM transcript WHERE seq < ? AND {SEEN} ORDER BY seq DESC LIMIT ?"  # noqa: S608
    rows = connection.execute(query, (before, AT_ONCE)).fetchall()
    index(connection, readable(rows, _row, "transcript"))
    left = rows[-1][0] if len(rows) == AT_ONCE else 0
    connection.execute("UPDATE search_progress SET before = ?", (left,))
    return bool(left)
