"""Writes files that only their owner can read."""

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from gateway.errors import ParleyError


def write_private(file: Path, pieces: Iterable[str]) -> None:
    """Write a file that only its owner can read, replacing an existing one atomically. Raises ParleyError."""
    try:
        if file.is_symlink() or (file.exists() and not file.is_file()):  # such as /dev/null and /dev/stdout
            raise ParleyError(f"{file} is no file that could be replaced. Name another one.")
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=".export-", dir=file.parent)  # mode 0600
        unfinished = Path(name)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as out:
                out.writelines(pieces)
            unfinished.replace(file)  # the replaced file may have been readable by others
        finally:
            unfinished.unlink(missing_ok=True)
    except OSError as error:
        raise ParleyError(f"{file} cannot be written ({error.strerror}). Name another file, or make room.") from error
