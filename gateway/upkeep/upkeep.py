"""Nightly maintenance: backup, shortening of old data, freeing of space.

Also reports messages from before a restore to the owners.
"""

import asyncio
import os
import shutil
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import structlog

from agent_core.clock import Clock
from channels.base import ButtonPressed, CommandInvoked, InboundEvent, MessageEdited, MessageReceived
from gateway.errors import ParleyError
from gateway.security.secrets import Secrets
from gateway.store.opening import FILE
from gateway.store.restores import Restored, SetAside
from gateway.store.store import Store
from gateway.upkeep import kept
from gateway.upkeep.backup import Wanted, make
from gateway.upkeep.owners import Owners
from gateway.upkeep.upkeep_settings import UpkeepSettings
from gateway.upkeep.version import version
from gateway.workspace.outgoing import FOLDER as OUTGOING
from gateway.workspace.versions import Versions

LOOK_EVERY = 60.0
"""Seconds."""
TELL_EVERY = 5.0
"""Seconds between two checks for messages from before a restore, which platforms may still deliver."""
TELL_FOR = 600.0
"""Seconds after the start."""
PAUSE = 0.05
"""Seconds between two small steps, so that other changes are written in between."""
DAY = 24 * 3600.0
MOST_TOLD = 30
"""Messages that are listed in one report."""
LONGEST = 100
"""Characters of each."""
SPARE = 200 * 2**20
"""Bytes that a backup leaves free."""

log = structlog.get_logger(__name__)


class Upkeep:
    """Runs beside the channels. Each step may be interrupted and is then repeated."""

    def __init__(
        self,
        store: Store,
        owners: Owners,
        clock: Clock,
        *,
        home: Path,
        zone: ZoneInfo,
        secrets: Secrets,
        restored: Restored | None,
        versions: Versions,
        settings: UpkeepSettings | None,
    ) -> None:
        """`settings`: None disables nightly work."""
        self._store = store
        self._owners = owners
        self._clock = clock
        self._home = home
        self._zone = zone
        self._secrets = secrets
        self._restored = restored
        self._versions = versions
        self._settings = settings
        self._waiting = 0
        """The number of messages to report at the last check."""
        self._tended = 0.0
        """The last night whose work is done."""

    def is_from_before(self, event: InboundEvent) -> bool:
        """Return True if a user sent this before the restore; it is then reported to owners, not answered."""
        says = MessageReceived | CommandInvoked | MessageEdited | ButtonPressed
        return self._restored is not None and isinstance(event, says) and event.at < self._restored.at

    async def run(self) -> None:
        """Run until cancelled; returns if there is never anything to do."""
        if self._restored is not None:
            for _ in range(round(TELL_FOR / TELL_EVERY)):
                await asyncio.sleep(TELL_EVERY)
                await self.tell()
        while self._settings is not None:
            await asyncio.sleep(LOOK_EVERY)
            await self.look()

    async def look(self) -> None:
        """Do the work that is due."""
        await self.tell()
        night = kept.last_night(self._clock.time(), self._zone)
        if self._settings is None or self._tended >= night:
            return
        if self._settings.backups:
            await self._back_up(night, self._settings.backups)
        if self._settings.whole_days:
            await self._shorten(self._clock.time() - self._settings.whole_days * DAY)
        await asyncio.to_thread(self._versions.prune)
        await self._give_back()
        self._tended = night

    # A backup

    async def _back_up(self, night: float, most: int) -> None:
        newest = await asyncio.to_thread(kept.kept, self._home)
        if await self._store.created_at() > night or (newest and newest[0].stat().st_mtime > night):
            return
        try:
            made = await asyncio.to_thread(self._make, most)
        except (ParleyError, OSError) as error:
            log.error("the nightly backup was not made", reason=str(error))  # noqa: TRY400
            self._owners.tell("backup_failed", why=self._secrets.mask(str(error)))
        else:
            log.info("backup made", file=str(made))

    def _make(self, most: int) -> Path:
        folder = self._home / kept.FOLDER
        folder.mkdir(mode=0o700, exist_ok=True)
        for unfinished in folder.glob(".parley-*"):
            unfinished.unlink()
        needed = 2 * (self._home / FILE).stat().st_size + SPARE
        if (free := shutil.disk_usage(folder).free) < needed:
            raise ParleyError(f"the disk has {free >> 20} MB free, and a backup needs {needed >> 20} MB")
        target = folder / kept.name_of(self._clock.time(), self._zone)
        target.unlink(missing_ok=True)
        make(self._home, target, version(), Wanted(), self._secrets.are_in, self._clock.time())
        kept.sweep(self._home, most)
        return target

    # Old data

    async def _shorten(self, before: float) -> None:
        runs = 0
        while done := await self._store.retention.shorten(before):
            runs += done
            await asyncio.sleep(PAUSE)
        unsent = {file.path for post in await self._store.outbox.unsent() for file in post.message.attachments}
        files = await asyncio.to_thread(_sweep, self._home / OUTGOING, before, unsent)
        if runs or files:
            log.info("what is old was shortened", runs=runs, files=files)

    async def _give_back(self) -> None:
        while await self._store.retention.free_pages():  # noqa: ASYNC110 - others write meanwhile
            await asyncio.sleep(PAUSE)

    # Messages from before a restore

    async def tell(self) -> None:
        """Report to the owners once no further message has arrived since the last check."""
        if self._restored is None or not (rows := await self._store.restores.unreported()):
            return
        if len(rows) != self._waiting:
            self._waiting = len(rows)
            return
        lines = [self._line(row) for row in rows[:MOST_TOLD]]
        if more := len(rows) - MOST_TOLD:
            lines += [f"… (+{more})"] if more > 0 else []
        moments = {"backup": self._moment(self._restored.taken_at), "restored": self._moment(self._restored.at)}
        self._owners.tell("said_before_restore", **moments, count=len(rows), lines="\n".join(lines))
        log.warning("said before the restore, and not answered", messages=len(rows))
        await self._store.restores.mark_reported([row.seq for row in rows])

    def _line(self, row: SetAside) -> str:
        words = " ".join(row.words.split())
        words = words if len(words) <= LONGEST else f"{words[:LONGEST]}…"
        return f"- {self._moment(row.at)}, {row.who} ({row.chat}): {words}"

    def _moment(self, at: float) -> str:
        return f"{datetime.fromtimestamp(at, self._zone):%Y-%m-%d %H:%M}"


def _sweep(folder: Path, before: float, unsent: set[str]) -> int:
    """Delete copies made before `before`, except those still to be sent. Returns how many were deleted."""
    removed = 0
    for place, _, names in os.walk(folder, topdown=False):
        for file in (Path(place, name) for name in names):
            if file.lstat().st_mtime < before and str(file) not in unsent:
                file.unlink()
                removed += 1
        if Path(place) != folder and not any(Path(place).iterdir()):
            Path(place).rmdir()
    return removed
