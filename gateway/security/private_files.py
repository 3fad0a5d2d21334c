"""Permissions of files that only their owner may read."""

import os
from pathlib import Path

from gateway.errors import SettingsError

OTHERS = 0o077
"""Permission bits of the group and of others."""


def is_open_to_others(file: Path) -> bool:
    """Return True if the group or others have any permission; False also if the file cannot be examined."""
    try:
        return bool(file.stat().st_mode & OTHERS)
    except OSError:
        return False


def close_to_others(file: Path) -> None:
    """Set the file's mode to 0600. Raises SettingsError if it belongs to another user or cannot be changed."""
    try:
        if file.stat().st_uid != os.geteuid():
            raise PermissionError(0, "it belongs to somebody else")
        file.chmod(0o600)
    except OSError as error:
        raise SettingsError(
            f"{file} holds secrets, can be read by others on this machine, and Parley cannot change that "
            f"({error.strerror}). Run chmod 600 {file} as its owner, then start again."
        ) from error
