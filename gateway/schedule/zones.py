"""Resolves chats' time zones."""

import difflib
from dataclasses import dataclass
from enum import StrEnum
from zoneinfo import ZoneInfo

from agent_core.tools.clock import zone_names
from channels.base import ChatKey
from gateway.schedule.times.zone_names import LONGEST
from gateway.settings.current import CurrentSettings
from gateway.settings.zone import is_zone
from gateway.store.store import Store


class Level(StrEnum):
    """Level at which a chat's setting was made."""

    HERE = "here"
    CHANNEL = "channel"
    """Inherited from the channel that the thread belongs to."""
    DEFAULT = "default"


@dataclass(frozen=True)
class Known:
    zone: ZoneInfo
    level: Level


class Zones:
    """Zones of all chats that have one of their own. Threads inherit their channel's zone."""

    def __init__(self, store: Store, current: CurrentSettings) -> None:
        self._store = store
        self._current = current
        self._own: dict[str, str] | None = None
        """Cached because every message needs it; `reload` reads what other nodes have changed."""

    async def of(self, chat: ChatKey) -> ZoneInfo:
        return (await self.known(chat)).zone

    async def known(self, chat: ChatKey) -> Known:
        own = await self._all()
        channel = chat.model_copy(update={"thread": None})
        for key, level in ((chat, Level.HERE), (channel, Level.CHANNEL)):
            # A stored zone may have been removed from the time zone database since.
            if (name := own.get(str(key))) and is_zone(name):
                return Known(ZoneInfo(name), level)
        return Known(self._current.zone, Level.DEFAULT)

    async def changed(self, chat: ChatKey, zone: str | None) -> None:
        """Update the cache after the chat's own zone was set, or removed (None)."""
        own = await self._all()
        if zone is None:
            own.pop(str(chat), None)
        else:
            own[str(chat)] = zone

    async def reload(self) -> None:
        """Read all zones again, because another node has changed one."""
        self._own = await self._store.chats.zones()

    async def _all(self) -> dict[str, str]:
        if self._own is None:
            found = await self._store.chats.zones()
            self._own = found if self._own is None else self._own
        return self._own


def nearest_zone(text: str) -> str | None:
    """Return the name of the zone whose spelling is closest to the text, or None."""
    names = zone_names()
    near = difflib.get_close_matches(_plain(text), names, n=1)
    return names[near[0]] if near else None


def _plain(text: str) -> str:
    return " ".join(text[:LONGEST].replace("_", " ").lower().split())
