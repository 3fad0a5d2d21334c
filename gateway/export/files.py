"""Writing an exported chat into a file."""

import os
from collections.abc import Iterable
from pathlib import Path

from gateway.errors import ParleyError


def write_private(file: Path, pieces: Iterable[str]) -> None:
    """For us alone; what was there under that name is gone then. Raises ParleyError."""
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        file.unlink(missing_ok=True)  # it may be open to others, or a link
        handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as out:
            out.writelines(pieces)
    except OSError as error:
        raise ParleyError(f"{file} cannot be written ({error.strerror}). Name another file, or make room.") from error
