"""The screen of storage: sizes by kind, chat and person with their quotas, and the backups."""

import asyncio
from dataclasses import dataclass
from pathlib import Path

from gateway.admin.insight import Insight
from gateway.admin.screen import View, Visit
from gateway.permissions.access import Access
from gateway.settings.current import CurrentSettings
from gateway.settings.limits import MB
from gateway.upkeep.kept import kept
from gateway.upkeep.sizes import in_words, sizes

MOST_NAMED = 50


@dataclass(frozen=True)
class Taken:
    """The size of what one chat or person has, and the share of the quota."""

    name: str
    size: str
    percent: int


class StorageScreen:
    """Shows how much is stored, by kind, chat and person, and what is kept how long."""

    name = "storage"

    def __init__(self, home: Path, current: CurrentSettings, insight: Insight, access: Access) -> None:
        self._home = home
        self._current = current
        self._insight = insight
        self._access = access

    async def view(self, visit: Visit) -> View:
        """Return all sizes, read anew."""
        found = await asyncio.to_thread(sizes, self._home, MOST_NAMED)
        now, names = self._current.now, self._insight.names(visit)
        kinds = {
            "page_storage_store": found.store,
            "page_storage_files": found.files,
            "page_storage_versions": found.versions,
            "page_storage_backups": found.backups,
        }
        facts = {
            "kinds": {key: in_words(size) for key, size in kinds.items()},
            "chats": [_taken(names.of_key(name), size, now.quotas.chat_mb) for name, size in found.chats],
            "people": [
                _taken(self._access.name_of(name) or name, size, now.quotas.person_mb) for name, size in found.people
            ],
            "chat_mb": now.quotas.chat_mb,
            "person_mb": now.quotas.person_mb,
            "backups": await asyncio.to_thread(self._backups),
            "most_backups": now.nightly_backups,
            "keep_days": now.keep_days,
        }
        return View("storage.html", facts)

    def _backups(self) -> list[tuple[str, float, str]]:
        """Return name, time and size of each backup, newest first. Blocks."""
        states = [(each.name, each.stat()) for each in kept(self._home)]
        return [(name, state.st_mtime, in_words(state.st_size)) for name, state in states]


def _taken(name: str, size: int, quota_mb: int) -> Taken:
    return Taken(name, in_words(size), size * 100 // (quota_mb * MB))
