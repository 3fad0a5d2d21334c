"""The table of read marks: up to which time each chat's history was read without a gap."""

import asyncio
import sqlite3
from dataclasses import dataclass
from functools import partial

from channels.base import ChatKey
from gateway.security.secrets import Secrets
from gateway.store.database import Reader
from gateway.store.table import readable
from gateway.store.writer import Change, Writer


@dataclass(frozen=True)
class ReadMark:
    """All messages of the chat up to `at`, by the platform's clock, were accepted."""

    chat: ChatKey
    at: float
    trouble: str = ""
    """The reason why the history could not be read last time."""


class MarkStore:
    """The read marks of a store, available as `store.marks`."""

    def __init__(self, writer: Writer, reader: Reader, secrets: Secrets) -> None:
        self._writer = writer
        self._reader = reader
        self._secrets = secrets

    async def newest(self, platform: str, since: float, most: int) -> list[ReadMark]:
        """Return a platform's marks later than `since`, latest first."""
        return await self._reader.run(partial(_newest, platform=platform, since=since, most=most))

    async def people(self, platform: str, since: float) -> set[str]:
        """Return the ids of users whose private chats have a mark later than `since`."""
        return await self._reader.run(partial(_people, platform=platform, since=since))

    def move(
        self, chat: ChatKey, at: float, person: str | None = None, *, later: bool = True
    ) -> "asyncio.Future[None]":
        """Move a chat's mark forward.

        A mark that lags only costs reading again, so it may wait for the next commit (`later`); a missing mark may cost
        a message. `person` is the user if this is a private chat.
        """
        return self._writer.submit(_move(chat, at, person), later=later)

    async def note_trouble(self, chat: ChatKey, reason: str) -> bool:
        """Record why a chat's history cannot be read. Returns True if the reason is new."""
        return await self._writer.submit(_trouble(chat, self._secrets.mask(reason)))


def _newest(connection: sqlite3.Connection, platform: str, since: float, most: int) -> list[ReadMark]:
    rows = connection.execute(
        "SELECT chat, at, trouble FROM read_marks WHERE chat >= ? AND chat < ? AND at > ? ORDER BY at DESC LIMIT ?",
        (f"{platform}:", f"{platform};", since, most),
    )
    return list(readable(rows, lambda row: ReadMark(ChatKey.parse(row[0]), row[1], row[2]), "read_marks"))


def _people(connection: sqlite3.Connection, platform: str, since: float) -> set[str]:
    query = "SELECT DISTINCT person FROM read_marks WHERE chat >= ? AND chat < ? AND at > ? AND person IS NOT NULL"
    return {row[0] for row in connection.execute(query, (f"{platform}:", f"{platform};", since))}


def _move(chat: ChatKey, at: float, person: str | None) -> Change[None]:
    def change(connection: sqlite3.Connection) -> None:
        connection.execute(
            "INSERT INTO read_marks (chat, at, person) VALUES (?, ?, ?) ON CONFLICT (chat) DO UPDATE"
            " SET at = max(at, excluded.at), person = coalesce(excluded.person, person), trouble = ''",
            (str(chat), at, person),
        )

    return change


def _trouble(chat: ChatKey, reason: str) -> Change[bool]:
    def change(connection: sqlite3.Connection) -> bool:
        cursor = connection.execute(
            "INSERT INTO read_marks (chat, at, trouble) VALUES (?, 0, ?) ON CONFLICT (chat) DO UPDATE"
            " SET trouble = excluded.trouble WHERE trouble <> excluded.trouble",
            (str(chat), reason),
        )
        return cursor.rowcount == 1

    return change
