"""The sessions of a chat: its conversations, each from one /new to the next."""

from typing import NamedTuple

from msgspec import Struct

from agent_core.json_text import read_json
from channels.base import ChatKey
from gateway.store.connection import Connection
from gateway.store.table import Table, chat_of, first_readable, readable
from gateway.store.unreadable import objects_in

SHORTEST_ID = 4
"""Characters of the shortest id that is shown or accepted."""
LONGEST_TITLE = 80
"""Characters."""
_SPENT = (
    "SELECT coalesce(sum(tokens), 0), coalesce(sum(cost), 0) / 1e9 FROM spending WHERE run IN"
    " (SELECT run FROM runs WHERE chat = :chat AND session = :session AND kind = 'chat' UNION ALL"
    " SELECT 'task-' || id FROM tasks JOIN runs ON runs.run = asked_by"
    " WHERE tasks.chat = :chat AND runs.session = :session)"
)
"""What the runs of a session and the tasks that they began have used."""
_TAKEN_PART = "(:person = '' OR session IN (SELECT session FROM runs WHERE chat = :chat AND person = :person))"
_RENAME = (
    "INSERT INTO session_titles (session, title, chat, at) VALUES (?, ?, ?, ?) ON CONFLICT (session) DO UPDATE"
    " SET title = excluded.title, chat = excluded.chat, at = excluded.at"
)


class Session(Struct, frozen=True):
    """A conversation of a chat."""

    id: str
    """The whole id; users see its start."""
    began: float
    last: float
    """When its last run began, or when it was named if nothing was said in it."""
    runs: int
    tokens: int
    cost_usd: float
    title: str
    """Its title, or the start of its first message; empty if it has none."""


class _Row(NamedTuple):
    session: str
    began: float
    last: float
    runs: int
    title: str | None


class Sessions(Table):
    """The conversations of each chat, by their runs. Titles are rows, everything else is computed."""

    async def of(self, chat: ChatKey, most: int, after: int = 0, person: str | None = None) -> list[Session]:
        """Return a chat's sessions in which something was said, or which have a title; those used last first.

        Args:
            chat: The chat.
            most: The number of sessions to return.
            after: The number of sessions to skip.
            person: Whoever began a run in each of them; None for the sessions of all.
        """
        query = (
            "SELECT session, min(started), max(started) AS last, count(*), max(title)"  # noqa: S608
            " FROM runs LEFT JOIN session_titles USING (session)"
            f" WHERE runs.chat = :chat AND kind = 'chat' AND {_TAKEN_PART} GROUP BY session"
            " UNION ALL SELECT session, at, at, 0, title FROM session_titles"
            f" WHERE chat = :chat AND {_TAKEN_PART}"
            " AND session NOT IN (SELECT session FROM runs WHERE chat = :chat AND kind = 'chat')"
            " ORDER BY last DESC LIMIT :most OFFSET :after"
        )
        values = {"chat": str(chat), "most": most, "after": after, "person": person or ""}

        def read(connection: Connection) -> list[Session]:
            rows = map(_Row._make, connection.execute(query, values).fetchall())
            return [_session(connection, chat, row) for row in rows]

        return await self._reader.run(read)

    async def find(self, chat: ChatKey, start: str, person: str | None = None) -> str | None:
        """Return the id of the only session of a chat whose id begins with `start`; None if there is none or several.

        Args:
            chat: The chat.
            start: At least SHORTEST_ID characters.
            person: Whoever began a run in it; None for the sessions of all.
        """
        query = (
            "SELECT session FROM runs WHERE chat = :chat AND kind = 'chat'"  # noqa: S608
            " AND substr(session, 1, :length) = :start"
            f" AND {_TAKEN_PART}"
            " UNION SELECT session FROM session_titles WHERE chat = :chat AND substr(session, 1, :length) = :start"
            f" AND {_TAKEN_PART} LIMIT 2"
        )
        values = {"chat": str(chat), "length": len(start), "start": start, "person": person or ""}

        def read(connection: Connection) -> str | None:
            rows = connection.execute(query, values).fetchall()
            return str(rows[0][0]) if len(rows) == 1 else None

        return await self._reader.run(read) if len(start) >= SHORTEST_ID else None

    async def chats_of(self, chat: ChatKey, person: str) -> list[ChatKey]:
        """Return the chats in which a person has begun runs, on the platform and account of `chat`."""
        query = "SELECT DISTINCT chat FROM runs WHERE person = ? AND kind = 'chat'"

        def read(connection: Connection) -> list[ChatKey]:
            chats = readable(connection.execute(query, (person,)), chat_of, "runs")
            return [each for each in chats if (each.platform, each.account) == (chat.platform, chat.account)]

        return await self._reader.run(read)

    async def all_chats_of(self, platform: str, workspace: str, person: str) -> list[ChatKey]:
        """Return the chats in which somebody has begun runs on a platform, in one workspace if it is named."""
        query = "SELECT DISTINCT chat FROM runs WHERE person = ? AND kind = 'chat'"

        def read(connection: Connection) -> list[ChatKey]:
            chats = readable(connection.execute(query, (person,)), chat_of, "runs")
            return [each for each in chats if each.platform == platform and workspace in {"", each.account}]

        return await self._reader.run(read)

    async def title(self, session: str) -> str:
        """Return a session's title, or the start of its first message; empty if it has neither."""
        query = "SELECT title FROM session_titles WHERE session = ?"

        def read(connection: Connection) -> str:
            titles = (str(title) for (title,) in connection.execute(query, (session,)))
            return next(titles, None) or _first_words(connection, session)

        return await self._reader.run(read)

    async def rename(self, chat: ChatKey, session: str, title: str) -> None:
        """Give a session of a chat a title; an empty one removes it."""
        title = self._secrets.mask(" ".join(title.split()))[:LONGEST_TITLE]
        row = (session, title, str(chat), self._clock.time())

        def change(connection: Connection) -> None:
            if title:
                connection.execute(_RENAME, row)
            else:
                connection.execute("DELETE FROM session_titles WHERE session = ?", (session,))

        await self._writer.submit(change)


def _session(connection: Connection, chat: ChatKey, row: _Row) -> Session:
    tokens, cost = connection.execute(_SPENT, {"chat": str(chat), "session": row.session}).fetchone()
    title = _first_words(connection, row.session) if row.title is None else row.title
    return Session(row.session, row.began, row.last, row.runs, tokens, cost, title)


def _first_words(connection: Connection, session: str) -> str:
    query = (
        "SELECT json_extract(message, '$.content') FROM transcript WHERE session = ?"
        " AND json_extract(message, '$.role') = 'user' ORDER BY seq LIMIT 1"
    )
    words = first_readable(connection.execute(query, (session,)), _text, "transcript")
    return " ".join((words or "").split())[:LONGEST_TITLE]


def _text(row: tuple[str]) -> str:
    (content,) = row
    parts = objects_in(read_json(content))
    return next((str(part["text"]) for part in parts if part["type"] == "text"), "")
