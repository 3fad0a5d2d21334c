"""The table of settings that people make in chats, looked up by thread, channel, workspace and installation."""

import asyncio
from enum import StrEnum

from msgspec import Struct

from agent_core.clock import Clock
from channels.base import ChatKey
from gateway.security.secrets import Secrets
from gateway.store.connection import Connection, Reads
from gateway.store.own_tables import whole
from gateway.store.table import Table
from gateway.store.topics import Topic
from gateway.store.writer import Writer

_Rows = dict[tuple[str, str], tuple[str, str, float]]
"""Values, who set them and when, by the place's key and the name."""


class Level(StrEnum):
    """A level at which settings are made, from the narrowest."""

    THREAD = "thread"
    CHANNEL = "channel"
    """A channel, group or private chat, with its threads."""
    WORKSPACE = "workspace"
    """All chats of one account on a platform."""
    INSTALLATION = "installation"


class Place(Struct, frozen=True):
    """A thread, channel, workspace or installation; `key` identifies its rows."""

    level: Level
    key: str


EVERYWHERE = Place(Level.INSTALLATION, "")


def places(chat: ChatKey) -> list[Place]:
    """Return the places that a chat belongs to, narrowest first."""
    channel = chat.without_thread
    thread = [] if chat.thread is None else [Place(Level.THREAD, str(chat))]
    workspace = Place(Level.WORKSPACE, f"{chat.platform}:{chat.account}")
    return [*thread, Place(Level.CHANNEL, str(channel)), workspace, EVERYWHERE]


class ChatSetting(Struct, frozen=True):
    """A value, where it was set, by whom and when."""

    value: str
    place: Place
    by: str
    """The id of the user who set it."""
    at: float


class ChatSettings(Table):
    """Settings by place and name. A narrower place overrides a wider one."""

    def __init__(self, writer: Writer, reader: Reads, clock: Clock, secrets: Secrets) -> None:
        super().__init__(writer, reader, clock, secrets)
        self._rows: _Rows | None = None
        """Cached because messages need them; `reload` reads those that other nodes have changed."""
        self._loading = asyncio.Lock()

    async def get(self, chat: ChatKey, name: str) -> str | None:
        """Return the value that holds in a chat, or None if none is set for it at any level."""
        found = await self.find(chat, name)
        return found.value if found else None

    async def find(self, chat: ChatKey, name: str) -> ChatSetting | None:
        """Return the setting that holds in a chat: that of the narrowest level which has one."""
        rows = await self._all()
        made = (_setting(rows, place, name) for place in places(chat)) if rows else ()
        return next((found for found in made if found is not None), None)

    async def at(self, place: Place, name: str) -> ChatSetting | None:
        """Return the setting made for this very place."""
        return _setting(await self._all(), place, name)

    async def named(self, *names: str) -> list[tuple[str, str, str]]:
        """Return the place's key, the name and the value of all settings with these names."""
        rows = await self._all()
        return [(place, name, value) for (place, name), (value, *_) in rows.items() if name in names]

    async def names(self, prefix: str) -> set[str]:
        """Return the names of all settings that begin like this."""
        return {name for _, name in await self._all() if name.startswith(prefix)}

    async def set(self, place: Place, name: str, value: str | None, by: str) -> None:
        """Set a value for a place, or remove it (None). `by` is the id of the user who does."""
        now = self._clock.time()
        value = None if value is None else self._secrets.mask(value)

        def change(connection: Connection) -> None:
            self._changed(connection, Topic.SETTINGS)
            if value is None:
                connection.execute("DELETE FROM chat_settings WHERE place = ? AND name = ?", (place.key, name))
                return
            connection.execute(
                "INSERT INTO chat_settings (place, name, value, set_by, at) VALUES (?, ?, ?, ?, ?)"
                " ON CONFLICT (place, name) DO UPDATE"
                " SET value = excluded.value, set_by = excluded.set_by, at = excluded.at",
                (place.key, name, value, by, now),
            )

        await self._writer.submit(change)
        rows = await self._all()
        if value is None:
            rows.pop((place.key, name), None)
        else:
            rows[place.key, name] = (value, by, now)

    def places(self, chat: ChatKey) -> list[Place]:
        """Return the places that a chat belongs to, narrowest first."""
        return places(chat)

    async def tell_of_change(self) -> None:
        """Tell the other nodes that what goes with a setting has changed."""
        await self._writer.submit(lambda connection: self._changed(connection, Topic.SETTINGS))

    async def tell_of_files(self) -> None:
        """Tell the other nodes that the files with the settings have changed."""
        await self._writer.submit(lambda connection: self._changed(connection, Topic.FILES))

    async def tell_of_connection(self, what: str) -> None:
        """Tell the other nodes that a guide connects a platform, or has connected a `model`."""
        await self._writer.submit(lambda connection: self._changed(connection, Topic.CONNECTED, what))

    async def reload(self) -> None:
        """Read all settings again, because another node has changed some."""
        self._rows = await self._writer.submit(_read)  # in order with the changes that this process makes

    async def _all(self) -> _Rows:
        if self._rows is None:
            async with self._loading:
                if self._rows is None:
                    self._rows = await self._writer.submit(_read)
        return self._rows


def _setting(rows: _Rows, place: Place, name: str) -> ChatSetting | None:
    """Return the setting made for this very place."""
    row = rows.get((place.key, name))
    if row is None:
        return None
    value, by, set_at = row
    return ChatSetting(value, place, by, set_at)


def setting_in(connection: Connection, chat: ChatKey, name: str) -> str | None:
    """Return the value that holds in a chat, in a transaction, also in that of a plugin."""
    keys = [place.key for place in places(chat)]
    marks = ", ".join("?" * len(keys))
    query = f"SELECT place, value FROM chat_settings WHERE name = ? AND place IN ({marks})"  # noqa: S608
    found = dict(whole(connection).execute(query, (name, *keys)).fetchall())
    return next((found[key] for key in keys if key in found), None)


def _read(connection: Connection) -> _Rows:
    rows = connection.execute("SELECT place, name, value, set_by, at FROM chat_settings")
    return {(place, name): (value, by, at) for place, name, value, by, at in rows}
