"""Files that only we may read."""

import os
from pathlib import Path

from gateway.errors import SettingsError

OTHERS = 0o077
"""What the group and the world may do, of a file's mode."""


def is_open_to_others(file: Path) -> bool:
    """False also where it cannot be looked at."""
    try:
        return bool(file.stat().st_mode & OTHERS)
    except OSError:
        return False


def close_to_others(file: Path) -> None:
    """Raises SettingsError where the file is not ours to change."""
    try:
        if file.stat().st_uid != os.geteuid():
            raise PermissionError(0, "it belongs to somebody else")
        file.chmod(0o600)
    except OSError as error:
        raise SettingsError(
            f"{file} holds secrets, can be read by others on this machine, and Parley cannot change that "
            f"({error.strerror}). Run chmod 600 {file} as its owner, then start again."
        ) from error
