"""The screen of storage: sizes by kind, chat and person with their quotas, and the backups."""

import asyncio
from pathlib import Path

from msgspec import Struct

from gateway.admin.insight import Insight
from gateway.admin.screen import Group, View, Visit
from gateway.admin.tables import Amount, Moment, PlainTable
from gateway.plugin import Core
from gateway.settings.limits import MB
from gateway.upkeep.kept import kept
from gateway.upkeep.sizes import in_words, sizes

MOST_NAMED = 50
TEMPLATE = Path(__file__).with_name("storage.html")


class Taken(Struct, frozen=True):
    """The size of what one chat or person has, and the share of the quota."""

    name: str
    size: str
    percent: int


class StorageScreen:
    """Shows how much is stored, by kind, chat and person, and what is kept how long."""

    name = "storage"
    group = Group.SYSTEM
    icon = "hard-drive"

    def __init__(self, core: Core) -> None:
        self._home = core.home
        self._current = core.settings
        self._insight = Insight(core.access, core.roles)

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
            "people": [_taken(self._insight.account(name), size, now.quotas.person_mb) for name, size in found.people],
            "chat_mb": now.quotas.chat_mb,
            "person_mb": now.quotas.person_mb,
            "backups": await self._backups(visit),
            "most_backups": now.nightly_backups,
            "keep_days": now.keep_days,
        }
        return View(TEMPLATE, facts)

    async def _backups(self, visit: Visit) -> PlainTable:
        """Return name, time and size of each backup, newest first."""
        states = await asyncio.to_thread(lambda: [(each.name, each.stat()) for each in kept(self._home)])
        rows = [(name, Moment(state.st_mtime), Amount(in_words(state.st_size))) for name, state in states]
        are_made = self._current.now.nightly_backups
        return PlainTable(
            visit.say("page_storage_backups"),
            [visit.say("page_name"), visit.say("page_when"), visit.say("page_storage_size")],
            rows,
            visit.say("page_storage_no_backups" if are_made else "page_storage_backups_off"),
        )


def _taken(name: str, size: int, quota_mb: int) -> Taken:
    return Taken(name, in_words(size), size * 100 // (quota_mb * MB))
