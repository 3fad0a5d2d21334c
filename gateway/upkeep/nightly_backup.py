"""Makes the nightly backup."""

import asyncio
import shutil
from pathlib import Path

import structlog

from agent_core.clock import Clock
from gateway.errors import ParleyError
from gateway.security.packages import version
from gateway.security.secrets import Secrets
from gateway.settings.current import CurrentSettings
from gateway.store.opening import FILE
from gateway.store.store import Store
from gateway.upkeep import kept
from gateway.upkeep.owners import Owners

SPARE = 200 * 2**20
"""Bytes that a backup leaves free."""

log = structlog.get_logger(__name__)


class NightlyBackup:
    """Makes one backup a night, and deletes the oldest."""

    def __init__(
        self, home: Path, current: CurrentSettings, clock: Clock, store: Store, owners: Owners, secrets: Secrets
    ) -> None:
        self._home = home
        self._current = current
        self._clock = clock
        self._store = store
        self._owners = owners
        self._secrets = secrets

    def last_night(self) -> float:
        """Return the last time at which nightly work was due."""
        return kept.last_night(self._clock.time(), self._current.zone)

    async def make(self, night: float, most: int) -> None:
        """Make the backup of this night, unless there is one. The owners learn of a failure.

        Args:
            most: Number of backups to keep.
        """
        newest = await asyncio.to_thread(kept.kept, self._home)
        if await self._store.created_at() > night or (newest and newest[0].stat().st_mtime > night):
            return
        try:
            made = await asyncio.to_thread(self._made, most)
        except (ParleyError, OSError) as error:
            log.error("the nightly backup was not made", reason=str(error))  # noqa: TRY400
            self._owners.tell("backup_failed", why=self._secrets.mask(str(error)))
        else:
            log.info("backup made", file=str(made))

    def _made(self, most: int) -> Path:
        from gateway.upkeep.backup import Wanted, make  # noqa: PLC0415 (once in a night)

        folder = self._home / kept.FOLDER
        folder.mkdir(mode=0o700, exist_ok=True)
        for unfinished in folder.glob(".parley-*"):
            unfinished.unlink()
        needed = 2 * (self._home / FILE).stat().st_size + SPARE
        if (free := shutil.disk_usage(folder).free) < needed:
            raise ParleyError(f"the disk has {free >> 20} MB free, and a backup needs {needed >> 20} MB")
        target = folder / kept.name_of(self._clock.time(), self._current.zone)
        target.unlink(missing_ok=True)
        make(self._home, target, version(), Wanted(), self._secrets.are_in, self._clock.time())
        kept.sweep(self._home, most)
        return target
