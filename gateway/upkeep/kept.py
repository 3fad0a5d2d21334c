"""Lists the nightly backups and deletes old ones."""

import shutil
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

FOLDER = "backups"
HOUR = 3
"""The local hour at which nightly work is due."""
SHARE = 0.1
"""The share of free disk space that all backups together may take."""


def kept(home: Path) -> list[Path]:
    """Return the backups, newest first."""
    return sorted((home / FOLDER).glob("parley-*.zip"), reverse=True)


def name_of(now: float, zone: ZoneInfo) -> str:
    return f"parley-{datetime.fromtimestamp(now, zone):%Y-%m-%d}.zip"


def last_night(now: float, zone: ZoneInfo) -> float:
    """Return the last time that it was `HOUR` o'clock."""
    local = datetime.fromtimestamp(now, zone)
    night = local.replace(hour=HOUR, minute=0, second=0, microsecond=0)
    if night.timestamp() > now:
        night = (local - timedelta(days=1)).replace(hour=HOUR, minute=0, second=0, microsecond=0)
    return night.timestamp()


def too_many(sizes: Sequence[int], most: int, free: int) -> int:
    """Return how many of the oldest backups to delete, given sizes from the newest on. One is always kept."""
    stay = len(sizes[:most])
    while stay > 1 and sum(sizes[:stay]) > SHARE * free:
        stay -= 1
    return len(sizes) - stay


def sweep(home: Path, most: int) -> None:
    """Delete surplus backups. Raises OSError."""
    there = kept(home)
    free = shutil.disk_usage(home).free
    for file in there[len(there) - too_many([file.stat().st_size for file in there], most, free) :]:
        file.unlink()
