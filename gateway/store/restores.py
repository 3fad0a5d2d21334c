"""A store's restore from a backup, and the table of messages set aside after it.

Messages from before the restore that turn up after it are reported to owners and not answered.
"""

from collections.abc import Sequence

from msgspec import Struct

from channels.base import ButtonPressed, CommandInvoked, InboundEvent, MessageEdited, MessageReceived
from gateway.store.connection import Connection
from gateway.store.inbox import accepting, mark_done
from gateway.store.table import Table


class Restored(Struct, frozen=True):
    """The restore of a store from a backup."""

    at: float
    taken_at: float
    """The time at which the backup was made."""


class SetAside(Struct, frozen=True):
    """A message that was reported instead of answered."""

    seq: int
    at: float
    chat: str
    who: str
    words: str


class Restores(Table):
    """The store's last restore and the messages set aside after it."""

    async def last(self) -> Restored | None:
        """Return the store's last restore from a backup; None if it was never restored."""

        def read(connection: Connection) -> Restored | None:
            at, taken_at = connection.execute("SELECT restored, restored_from FROM store").fetchone()
            return None if at is None else Restored(at, taken_at)

        return await self._reader.run(read)

    async def set_aside(self, event: InboundEvent) -> bool:
        """Accept an event from before the restore without answering it.

        Returns:
            False for a duplicate.

        Raises:
            StoreUnavailable: The disk takes no writes; nothing was recorded.
        """
        safe = self._secrets.masked(event)
        accept = accepting(safe, self._clock.time())

        def change(connection: Connection) -> bool:
            seq = accept(connection)
            if seq is None:
                return False
            mark_done(connection, [seq])
            add(connection, safe)
            return True

        return await self._writer.submit(change, patient=False)

    async def unreported(self) -> list[SetAside]:
        """Return the messages set aside that were not reported to owners yet, oldest first."""
        query = "SELECT seq, at, chat, who, words FROM set_aside WHERE told = 0 ORDER BY at, seq"

        def read(connection: Connection) -> list[SetAside]:
            return [SetAside(*row) for row in connection.execute(query)]

        return await self._reader.run(read)

    async def mark_reported(self, seqs: Sequence[int]) -> None:
        """Mark messages as reported."""

        def change(connection: Connection) -> None:
            connection.executemany("UPDATE set_aside SET told = 1 WHERE seq = ?", [(seq,) for seq in seqs])

        await self._writer.submit(change)


def add(connection: Connection, event: InboundEvent) -> None:
    """Record an event if a user caused it; ignore all others."""
    match event:
        case MessageReceived():
            words = event.text or ", ".join(file.name for file in event.attachments)
        case MessageEdited():
            words = event.text
        case CommandInvoked():
            words = f"/{event.name} {event.arguments}".strip()
        case ButtonPressed():
            words = event.action
        case _:
            return
    note(connection, event.at, str(event.chat), event.sender.name or event.sender.id, words)


def note(connection: Connection, at: float, chat: str, who: str, words: str) -> None:
    """Record a message to be reported."""
    connection.execute("INSERT INTO set_aside (at, chat, who, words) VALUES (?, ?, ?, ?)", (at, chat, who, words))
