"""Permissions of files that only their owner may read."""

from pathlib import Path

OTHERS = 0o077
"""Permission bits of the group and of others."""


def is_open_to_others(file: Path) -> bool:
    """Return True if the group or others have any permission; False also if the file cannot be examined."""
    try:
        return bool(file.stat().st_mode & OTHERS)
    except OSError:
        return False
