"""The table of read marks: up to which time each chat's history was read without a gap."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from channels.base import ChatKey
from channels.capabilities import Concerns, everywhere
from gateway.store.chats import chat_of
from gateway.store.connection import Connection
from gateway.store.table import Table, readable
from gateway.store.topics import Topic

_MOVE = (
    "INSERT INTO read_marks (chat, at, person) VALUES (?, ?, ?) ON CONFLICT (chat) DO UPDATE"
    " SET at = CASE WHEN read_marks.gap = 0 AND excluded.at > read_marks.at THEN excluded.at ELSE read_marks.at END,"
    " trouble = CASE WHEN read_marks.gap = 0 THEN '' ELSE read_marks.trouble END,"
    " person = coalesce(excluded.person, read_marks.person)"
)

_MEET = (
    "INSERT INTO read_marks (chat, at, person) VALUES (?, ?, ?) ON CONFLICT (chat) DO UPDATE"
    " SET person = coalesce(excluded.person, read_marks.person)"
)
_OPEN = "INSERT INTO read_marks (chat, at, gap) VALUES (?, ?, 1) ON CONFLICT (chat) DO UPDATE SET gap = 1"


@dataclass(frozen=True)
class ReadMark:
    """All messages of the chat up to `at`, by the platform's clock, were accepted."""

    chat: ChatKey
    at: float
    trouble: str = ""
    """The reason why the history could not be read last time."""


class ReadMarks(Table):
    """The read marks of all chats."""

    async def newest(self, platform: str, since: float, most: int) -> list[ReadMark]:
        """Return a platform's marks later than `since`, latest first."""
        query = (
            "SELECT chat, at, trouble FROM read_marks WHERE chat >= ? AND chat < ? AND at > ? ORDER BY at DESC LIMIT ?"
        )

        def read(connection: Connection) -> list[ReadMark]:
            rows = connection.execute(query, (*_keys_of(platform), since, most))
            return list(readable(rows, _mark, "read_marks"))

        return await self._reader.run(read)

    async def people(self, platform: str, since: float) -> set[str]:
        """Return the ids of users whose private chats have a mark later than `since`."""
        query = "SELECT DISTINCT person FROM read_marks WHERE chat >= ? AND chat < ? AND at > ? AND person IS NOT NULL"

        def read(connection: Connection) -> set[str]:
            return {person for (person,) in connection.execute(query, (*_keys_of(platform), since))}

        return await self._reader.run(read)

    def move(
        self, chat: ChatKey, at: float, person: str | None = None, *, later: bool = True
    ) -> "asyncio.Future[None]":
        """Move a chat's mark forward, unless it has a gap.

        Args:
            chat: The chat.
            at: The new mark, in seconds since the epoch by the platform's clock; an earlier one is ignored.
            person: The user's id if this is a private chat.
            later: True to wait for the next commit: a mark that lags only costs reading again. A missing mark may cost
                a message.
        """

        def change(connection: Connection) -> None:
            connection.execute(_MOVE, (str(chat), at, person))

        return self._writer.submit(change, later=later)

    async def meet(self, chat: ChatKey, at: float, person: str | None = None) -> None:
        """Give a chat without a mark this one. `person` is the user's id if this is a private chat."""

        def change(connection: Connection) -> None:
            connection.execute(_MEET, (str(chat), at, person))

        await self._writer.submit(change)

    async def open_gaps(self, platform: str, chats: Mapping[ChatKey, float], concerns: Concerns = everywhere) -> None:
        """Note the chats of a platform that have a gap after their mark; others that `concerns` names have none."""
        rows = [(str(chat), at) for chat, at in chats.items()]
        query = "SELECT chat FROM read_marks WHERE chat >= ? AND chat < ? AND gap = 1"

        def change(connection: Connection) -> None:
            noted = list(readable(connection.execute(query, _keys_of(platform)).fetchall(), chat_of, "read_marks"))
            over = [(str(chat),) for chat in noted if concerns(chat) and chat not in chats]
            connection.executemany("UPDATE read_marks SET gap = 0 WHERE chat = ?", over)
            connection.executemany(_OPEN, rows)
            self._changed(connection, Topic.GAPS, platform)

        await self._writer.submit(change)

    def open_gap(self, chat: ChatKey, at: float) -> "asyncio.Future[None]":
        """Note that a chat has a gap after `at`, no later than what is stored next."""

        def change(connection: Connection) -> None:
            connection.execute(_OPEN, (str(chat), at))
            self._changed(connection, Topic.GAPS, chat.platform)

        return self._writer.submit(change)

    async def gaps(self, platform: str) -> dict[ChatKey, float]:
        """Return the marks of a platform's chats that have a gap.

        Those whose history could not be read last time are left out.
        """
        query = "SELECT chat, at FROM read_marks WHERE chat >= ? AND chat < ? AND gap = 1 AND trouble = ''"

        def read(connection: Connection) -> dict[ChatKey, float]:
            rows = connection.execute(query, _keys_of(platform)).fetchall()
            return dict(readable(rows, lambda row: (ChatKey.parse(row[0]), float(row[1])), "read_marks"))

        return await self._reader.run(read)

    def close_gap(self, chat: ChatKey, at: float | None) -> None:
        """Note that a chat's gap was read, up to `at` if there was anything."""

        def change(connection: Connection) -> None:
            connection.execute("UPDATE read_marks SET gap = 0, trouble = '' WHERE chat = ?", (str(chat),))
            if at is not None:
                connection.execute(_MOVE, (str(chat), at, None))
            self._changed(connection, Topic.GAPS, str(chat))

        self._writer.submit(change, later=True)

    async def note_trouble(self, chat: ChatKey, reason: str) -> bool:
        """Record why a chat's history cannot be read. Returns True if the reason is new."""
        reason = self._secrets.mask(reason)

        def change(connection: Connection) -> bool:
            cursor = connection.execute(
                "INSERT INTO read_marks (chat, at, trouble) VALUES (?, 0, ?) ON CONFLICT (chat) DO UPDATE"
                " SET trouble = excluded.trouble WHERE read_marks.trouble <> excluded.trouble",
                (str(chat), reason),
            )
            self._changed(connection, Topic.GAPS, str(chat))
            return cursor.rowcount == 1

        return await self._writer.submit(change)


def _keys_of(platform: str) -> tuple[str, str]:
    """Return the bounds of the keys of a platform's chats: ";" follows ":" in ASCII."""
    return f"{platform}:", f"{platform};"


def _mark(row: tuple[str, float, str]) -> ReadMark:
    chat, at, trouble = row
    return ReadMark(ChatKey.parse(chat), at, trouble)
