"""The table of read marks: up to which time each chat's history was read without a gap."""

import asyncio
from collections.abc import Mapping
from functools import partial

from msgspec import Struct

from channels.base import ChatKey
from channels.capabilities import Concerns, everywhere
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
_OPEN = (
    "INSERT INTO read_marks (chat, at, gap) VALUES (?, ?, 1) ON CONFLICT (chat) DO UPDATE SET gap = read_marks.gap + 1"
)
_NUMBER = "SELECT gap FROM read_marks WHERE chat = ?"
_GAPS = "SELECT chat, at, gap FROM read_marks WHERE chat >= ? AND chat < ? AND gap > 0{} ORDER BY at DESC"


class ReadMark(Struct, frozen=True):
    """All messages of the chat up to `at`, by the platform's clock, were accepted."""

    chat: ChatKey
    at: float
    trouble: str = ""
    """The reason why the history could not be read last time."""


class NotedGap(Struct, frozen=True):
    """A gap after a chat's mark, as it is in the rows."""

    at: float
    """The mark."""
    number: int
    """How often it was noted since it was closed: what was noted again while the chat was read is still to be read."""


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

    async def open_gaps(
        self, platform: str, chats: Mapping[ChatKey, float], since: float, concerns: Concerns = everywhere
    ) -> dict[ChatKey, NotedGap]:
        """Note that chats of a platform have a gap after their mark.

        Returns all gaps of the chats that `concerns` names, also those that were noted meanwhile, those with the latest
        mark first. The gaps of other chats than these whose mark is not later than `since` are closed unread.
        """
        rows = [(str(chat), at) for chat, at in chats.items()]

        def change(connection: Connection) -> dict[ChatKey, NotedGap]:
            connection.executemany(_OPEN, rows)
            found = {chat: gap for chat, gap in _gaps(connection, platform).items() if concerns(chat)}
            over = {chat for chat, gap in found.items() if gap.at <= since and chat not in chats}
            connection.executemany("UPDATE read_marks SET gap = 0 WHERE chat = ?", [(str(chat),) for chat in over])
            self._changed(connection, Topic.GAPS, platform)
            return {chat: gap for chat, gap in found.items() if chat not in over}

        return await self._writer.submit(change)

    def open_gap(self, chat: ChatKey, at: float) -> "asyncio.Future[int]":
        """Note that a chat has a gap after `at`, no later than what is stored next. Returns the number of the gap."""

        def change(connection: Connection) -> int:
            connection.execute(_OPEN, (str(chat), at))
            self._changed(connection, Topic.GAPS, chat.platform)
            (number,) = connection.execute(_NUMBER, (str(chat),)).fetchone()
            return int(number)

        return self._writer.submit(change)

    async def gaps(self, platform: str) -> dict[ChatKey, NotedGap]:
        """Return the gaps of a platform's chats.

        Those whose history could not be read last time are left out.
        """
        return await self._reader.run(partial(_gaps, platform=platform, condition=" AND trouble = ''"))

    async def has_gap(self, chat: ChatKey) -> bool:
        """Return True if `gaps` has this chat."""
        query = "SELECT 1 FROM read_marks WHERE chat = ? AND gap > 0 AND trouble = ''"

        def read(connection: Connection) -> bool:
            return connection.execute(query, (str(chat),)).fetchone() is not None

        return await self._reader.run(read)

    async def ask(self, platform: str) -> None:
        """Let all nodes look at the gaps of a platform again, as news of them may have been lost."""

        def change(connection: Connection) -> None:
            self._changed(connection, Topic.GAPS, platform)

        await self._writer.submit(change)

    async def close_gap(self, chat: ChatKey, at: float | None, number: int) -> int:
        """Note that a chat's gap was read, up to `at` if there was anything, unless it was noted again since.

        Returns the number of the gap that is still to be read, or 0.
        """

        def change(connection: Connection) -> int:
            values = str(chat), number
            connection.execute("UPDATE read_marks SET gap = 0, trouble = '' WHERE chat = ? AND gap <= ?", values)
            (left,) = connection.execute(_NUMBER, (str(chat),)).fetchone() or (0,)
            if not left:
                if at is not None:
                    connection.execute(_MOVE, (str(chat), at, None))
                self._changed(connection, Topic.GAPS, str(chat))
            return int(left)

        return await self._writer.submit(change)

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


def _gaps(connection: Connection, platform: str, condition: str = "") -> dict[ChatKey, NotedGap]:
    rows = connection.execute(_GAPS.format(condition), _keys_of(platform)).fetchall()
    return dict(readable(rows, _gap, "read_marks"))


def _keys_of(platform: str) -> tuple[str, str]:
    """Return the bounds of the keys of a platform's chats: ";" follows ":" in ASCII."""
    return f"{platform}:", f"{platform};"


def _mark(row: tuple[str, float, str]) -> ReadMark:
    chat, at, trouble = row
    return ReadMark(ChatKey.parse(chat), at, trouble)


def _gap(row: tuple[str, float, int]) -> tuple[ChatKey, NotedGap]:
    chat, at, number = row
    return ChatKey.parse(chat), NotedGap(float(at), int(number))
