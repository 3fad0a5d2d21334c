"""The table of heartbeats, and the time of a user's last message."""

from channels.base import ChatKey
from gateway.store.connection import Connection
from gateway.store.job import Heartbeat
from gateway.store.table import alone, readable
from gateway.store.topics import Topic
from gateway.store.value_table import RowCodec, ValueTable

_ROWS = RowCodec(Heartbeat, "heartbeats", columns={"on": "is_on"})
_WROTE = (
    "SELECT json_extract(payload, '$.at') FROM inbox"
    " WHERE json_extract(payload, '$.type') IN ('message', 'command', 'button')"
    " AND json_extract(payload, '$.sender.id') = ?"
)


class Heartbeats(ValueTable[Heartbeat]):
    """The heartbeats of all chats."""

    rows, key = _ROWS, "chat"

    async def find(self, chat: ChatKey) -> Heartbeat | None:
        """Return a chat's heartbeat."""
        return next(iter(await self._read("chat = :chat", {"chat": str(chat)})), None)

    async def all(self) -> list[Heartbeat]:
        """Return the heartbeats of all chats, including those that are off."""
        return await self._read("true ORDER BY chat", {})

    async def save(self, heartbeat: Heartbeat) -> None:
        """Insert a heartbeat or replace the chat's current one."""
        old = "DELETE FROM heartbeats WHERE chat = ? OR job = ?"

        def change(connection: Connection) -> None:
            connection.execute(old, (str(heartbeat.chat), heartbeat.job))
            _ROWS.add(connection, heartbeat)
            self._changed(connection, Topic.JOBS)

        await self._writer.submit(change)

    async def last_wrote(self, chat: ChatKey, person: str) -> float | None:
        """Return when the user last sent a message or command or pressed a button there, in seconds since the epoch.

        Threads of the chat count.
        """
        newest = "ORDER BY seq DESC LIMIT 1"
        threads = f"{chat}:", f"{chat};"  # ";" follows ":" in ASCII, so the keys of all threads lie between the two

        def read(connection: Connection) -> float | None:
            found = [
                *connection.execute(f"{_WROTE} AND chat = ? {newest}", (person, str(chat))),
                *connection.execute(f"{_WROTE} AND chat > ? AND chat < ? {newest}", (person, *threads)),
            ]
            return max(readable(found, _time, "inbox"), default=None)

        return await self._reader.run(read)

    def _lock(self, connection: Connection, key: str) -> bool:
        alone(connection)
        return True


def _time(row: tuple[float | str]) -> float:
    (at,) = row
    return float(at)
