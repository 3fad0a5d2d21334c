"""By the clocks of which zone a chat goes, and which zone people mean."""

import difflib
import re
from dataclasses import dataclass
from enum import StrEnum
from zoneinfo import ZoneInfo

from agent_core.builtin.clock import zone_names
from channels.base import ChatKey
from gateway.store.store import Store
from gateway.zone import is_zone

LONGEST = 60
"""Characters of a name that are looked at."""

_HOURS = re.compile(r"(?:utc|gmt)\s*([+-])\s*(\d{1,2})(?::?00)?")
_EAST, _WEST = 14, 12
"""Hours from UTC of the zones that are named after them."""


class Level(StrEnum):
    """Where a setting of a chat comes from (D-13)."""

    HERE = "here"
    CHANNEL = "channel"
    """The chat is a thread, and has it from its channel."""
    HOUSE = "house"


@dataclass(frozen=True)
class Known:
    zone: ZoneInfo
    level: Level


class Zones:
    """The zones of all chats that have one of their own, which are few; what is said in a channel holds for its threads
    at once."""

    def __init__(self, store: Store, default: ZoneInfo) -> None:
        self.default = default
        self._store = store
        self._own: dict[str, str] | None = None
        """Read once, for every message asks: nobody else changes it."""

    async def of(self, chat: ChatKey) -> ZoneInfo:
        return (await self.known(chat)).zone

    async def known(self, chat: ChatKey) -> Known:
        own = await self._all()
        channel = chat.model_copy(update={"thread": None})
        for key, level in ((chat, Level.HERE), (channel, Level.CHANNEL)):
            # What was a zone once may be none any more after the database of zones was changed.
            if (name := own.get(str(key))) and is_zone(name):
                return Known(ZoneInfo(name), level)
        return Known(self.default, Level.HOUSE)

    async def changed(self, chat: ChatKey, zone: str | None) -> None:
        """The chat goes by another from now on, or by none of its own."""
        own = await self._all()
        if zone is None:
            own.pop(str(chat), None)
        else:
            own[str(chat)] = zone

    async def _all(self) -> dict[str, str]:
        if self._own is None:
            found = await self._store.zones()
            self._own = found if self._own is None else self._own
        return self._own


def find_zone(text: str) -> ZoneInfo | None:
    """`Europe/Berlin`, `berlin`, `New York`, `北京`, `UTC+8`."""
    wanted = _plain(text)
    if (hours := _HOURS.fullmatch(wanted)) and int(hours[2]) <= (_EAST if hours[1] == "+" else _WEST):
        # Named as if from Greenwich one had to go the other way.
        return ZoneInfo(f"Etc/GMT{'-' if hours[1] == '+' else '+'}{int(hours[2])}")
    name = zone_names().get(wanted)
    return ZoneInfo(name) if name else None


def nearest_zone(text: str) -> str | None:
    """The name of the zone that is written most like that."""
    names = zone_names()
    near = difflib.get_close_matches(_plain(text), names, n=1)
    return names[near[0]] if near else None


def _plain(text: str) -> str:
    return " ".join(text[:LONGEST].replace("_", " ").lower().split())
