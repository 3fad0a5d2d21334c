"""Nightly maintenance: backup, shortening of old data, freeing of space."""

import asyncio
import os
from contextlib import suppress
from pathlib import Path

import structlog

from agent_core.clock import Clock
from gateway.permissions.workspaces import Versions
from gateway.settings.current import CurrentSettings
from gateway.store.store import Store
from gateway.upkeep.before_restore import BeforeRestore
from gateway.upkeep.nightly_backup import NightlyBackup

LOOK_EVERY = 60.0
"""Seconds."""
TELL_EVERY = 5.0
"""Seconds between two checks for messages from before a restore, which platforms may still deliver."""
TELL_FOR = 600.0
"""Seconds after the start."""
PAUSE = 0.05
"""Seconds between two small steps, so that other changes are written in between."""
TRIES = 3
"""How often a night tries to rewrite tables, which may be in use."""
DAY = 24 * 3600.0

log = structlog.get_logger(__name__)


class Upkeep:
    """Runs beside the channels. Each step may be interrupted and is then repeated."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        backup: NightlyBackup,
        before_restore: BeforeRestore,
        versions: Versions,
        *,
        outgoing: Path,
        current: CurrentSettings | None,
    ) -> None:
        """Create the maintenance.

        Args:
            outgoing: Folder of the copies of files to send.
            current: The settings in force; None disables nightly work.
        """
        self._store = store
        self._clock = clock
        self._backup = backup
        self._before_restore = before_restore
        self._versions = versions
        self._outgoing = outgoing
        self._current = current
        self._tended = 0.0
        """The last night whose work is done."""

    async def run(self) -> None:
        """Run until cancelled; returns if there is never anything to do."""
        if self._before_restore.is_needed:
            for _ in range(round(TELL_FOR / TELL_EVERY)):
                await asyncio.sleep(TELL_EVERY)
                await self._before_restore.tell()
        while self._current is not None:
            await asyncio.sleep(LOOK_EVERY)
            await self.look()

    async def look(self) -> None:
        """Do the work that is due."""
        await self._before_restore.tell()
        night = self._backup.last_night()
        if self._current is None or self._tended >= night:
            return
        now = self._current.now
        if now.nightly_backups:
            await self._backup.make(night, now.nightly_backups)
        if now.keep_days:
            await self._shorten(self._clock.time() - now.keep_days * DAY)
        await asyncio.to_thread(self._versions.prune)
        await self._give_back()
        await self._rewrite()
        self._tended = night

    # Old data

    async def _shorten(self, before: float) -> None:
        runs = 0
        while done := await self._store.retention.shorten(before):
            runs += done
            await asyncio.sleep(PAUSE)
        unsent = {file.path for post in await self._store.outbox.unsent() for file in post.message.attachments}
        files = await asyncio.to_thread(_sweep, self._outgoing, before, unsent)
        if runs or files:
            log.info("old entries shortened", runs=runs, files=files)

    async def _give_back(self) -> None:
        while await self._store.retention.free_pages():  # noqa: ASYNC110 - others write meanwhile
            await asyncio.sleep(PAUSE)

    async def _rewrite(self) -> None:
        """Rewrite tables whose files hold erased words; one that is in use is tried again."""
        for _ in range(TRIES):
            if not (left := await self._store.erasures.rewrite()):
                return
            await asyncio.sleep(LOOK_EVERY)
        log.warning(
            "files of the database still hold what was erased: tables are in use, or too large to be rewritten beside "
            "other work; the next night tries again",
            tables=left,
            fix="while all nodes are stopped, run VACUUM FULL on these tables",
        )


def _sweep(folder: Path, before: float, unsent: set[str]) -> int:
    """Delete copies made before `before`, except those still to be sent. Returns how many were deleted.

    A node that has just lost the lease of this work may delete them as well.
    """
    removed = 0
    found = [(Path(place), names, _is_older(Path(place), before)) for place, _, names in os.walk(folder)]
    for place, names, is_old in reversed(found):
        for file in (place / name for name in names):
            if _is_older(file, before) and str(file) not in unsent:
                file.unlink(missing_ok=True)
                removed += 1
        if is_old and place != folder:  # in a new one, a copy may be about to be made
            with suppress(OSError):  # it is not empty, or gone
                place.rmdir()
    return removed


def _is_older(path: Path, than: float) -> bool:
    """Return True if a file or folder has last been changed before that; False if it is gone."""
    try:
        return path.lstat().st_mtime < than
    except FileNotFoundError:
        return False
