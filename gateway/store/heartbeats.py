"""The table of heartbeats, and the time of a user's last message."""

from collections.abc import Callable

from channels.base import ChatKey
from gateway.store.connection import Connection
from gateway.store.job import Heartbeat
from gateway.store.row_codec import RowCodec
from gateway.store.table import Table, alone
from gateway.store.topics import Topic

_ROWS = RowCodec(Heartbeat, "heartbeats", columns={"on": "is_on"})
_WROTE = (
    "SELECT json_extract(payload, '$.at') FROM inbox"
    " WHERE json_extract(payload, '$.type') IN ('message', 'command', 'button')"
    " AND json_extract(payload, '$.sender.id') = ?"
)

HeartbeatStep = Callable[[Heartbeat], Heartbeat]


class Heartbeats(Table):
    """The heartbeats of all chats."""

    async def find(self, chat: ChatKey) -> Heartbeat | None:
        """Return a chat's heartbeat."""

        def read(connection: Connection) -> Heartbeat | None:
            return _find(connection, chat)

        return await self._reader.run(read)

    async def all(self) -> list[Heartbeat]:
        """Return the heartbeats of all chats, including those that are off."""
        query = f"SELECT {_ROWS.columns} FROM heartbeats ORDER BY chat"  # noqa: S608

        def read(connection: Connection) -> list[Heartbeat]:
            return list(_ROWS.values(connection.execute(query)))

        return await self._reader.run(read)

    async def save(self, heartbeat: Heartbeat) -> None:
        """Insert a heartbeat or replace the chat's current one."""

        def change(connection: Connection) -> None:
            _save(connection, heartbeat)
            self._changed(connection, Topic.JOBS)

        await self._writer.submit(change)

    async def change(self, chat: ChatKey, step: HeartbeatStep) -> Heartbeat | None:
        """Apply a step to a chat's current heartbeat; returns None if the chat has none."""

        def change(connection: Connection) -> Heartbeat | None:
            alone(connection)
            found = _find(connection, chat)
            if found is None:
                return None
            heartbeat = step(found)
            if heartbeat != found:
                _save(connection, heartbeat)
            return heartbeat

        return await self._writer.submit(change)

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
            return max((float(at) for (at,) in found), default=None)

        return await self._reader.run(read)


def _find(connection: Connection, chat: ChatKey) -> Heartbeat | None:
    query = f"SELECT {_ROWS.columns} FROM heartbeats WHERE chat = ?"  # noqa: S608
    return next(_ROWS.values(connection.execute(query, (str(chat),))), None)


def _save(connection: Connection, heartbeat: Heartbeat) -> None:
    connection.execute("DELETE FROM heartbeats WHERE chat = ? OR job = ?", (str(heartbeat.chat), heartbeat.job))
    query = f"INSERT INTO heartbeats ({_ROWS.columns}) VALUES ({_ROWS.marks})"  # noqa: S608
    connection.execute(query, _ROWS.row(heartbeat))
