"""The base of the store's tables, and how their rows are read."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

import structlog

from agent_core.clock import Clock
from agent_core.json_text import UNREADABLE
from channels.base import ChatKey
from gateway.security.secrets import Secrets
from gateway.store.connection import Connection, Reads, Work
from gateway.store.own_tables import OwnTables, whole
from gateway.store.topics import Topic
from gateway.store.writer import Writer

T = TypeVar("T")
Row = TypeVar("Row", bound=Sequence[object])

log = structlog.get_logger(__name__)


class Table:
    """A table of the store, or several that are written together.

    Each read sees the store as of one moment. Writes are made in the order of the calls, and each is one transaction
    or part of one; when its method has returned, it survives a crash. Texts are masked before they are written.
    """

    def __init__(
        self, writer: Writer, reader: Reads, clock: Clock, secrets: Secrets, *, own: OwnTables | None = None
    ) -> None:
        """`own` are the tables that its SQL may touch; None for those of the core."""
        self._own = own
        self._writer = writer
        self._reader = reader
        self._clock = clock
        self._secrets = secrets

    async def read(self, work: Work[T]) -> T:
        """Return what `work` finds on the connection that it is given, all of it as of one moment."""
        return await self._reader.run(self._limited(work))

    async def write(self, change: Work[T]) -> T:
        """Make a change in a transaction. It is called again if that was undone, and does nothing but that."""
        return await self._writer.submit(self._limited(change))

    def _limited(self, work: Work[T]) -> Work[T]:
        own = self._own
        return work if own is None else lambda connection: work(own.only(connection))

    def _changed(self, connection: Connection, topic: Topic, key: str = "") -> None:
        """Tell other nodes of changed rows, as part of the transaction that changes them."""
        self._writer.signals.publish(whole(connection), topic, key)


def locked_row(connection: Connection, table: str, key: str) -> bool:
    """Let no other node change a row until the end of the transaction. Returns False if there is no such row."""
    return connection.execute(f"UPDATE {table} SET id = id WHERE id = ?", (key,)).rowcount == 1  # noqa: S608


def alone(connection: Connection) -> None:
    """Let no other node make a change that calls this until the end of the transaction."""
    connection.execute("UPDATE store SET born = born")


def in_chat(chat: ChatKey | None) -> tuple[str, tuple[str, ...]]:
    """Return the condition that limits a query to a chat, and its values; None is for all chats."""
    return ("", ()) if chat is None else (" AND chat = ?", (str(chat),))


def readable(rows: Iterable[Row], read: Callable[[Row], T], table: str) -> Iterator[T]:
    """Yield `read(row)` for each row, skipping and logging rows that it cannot read.

    Such rows are damaged, or come from another version; they stay in the table. The first column names the row in the
    log.
    """
    for row in rows:
        try:
            yield read(row)
        except UNREADABLE as error:
            name, *_ = row
            reason = str(error).partition("\n")[0]  # the rest quotes the row, which may hold a user's text
            log.warning("a stored row cannot be read; it is skipped", table=table, row=name, reason=reason)


def first_readable(rows: Iterable[Row], read: Callable[[Row], T], table: str) -> T | None:
    """Return the first row that can be read, or None."""
    return next(readable(rows, read, table), None)


def chat_of(row: tuple[str]) -> ChatKey:
    """Parse a row that is the key of a chat. Raises ValueError."""
    (chat,) = row
    return ChatKey.parse(chat)
