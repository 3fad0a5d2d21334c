"""Writing an exported chat into a file."""

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from gateway.errors import ParleyError


def write_private(file: Path, pieces: Iterable[str]) -> None:
    """For us alone. What was there under that name is gone once the new one is whole. Raises ParleyError."""
    try:
        if file.is_symlink() or (file.exists() and not file.is_file()):  # as /dev/null and /dev/stdout are
            raise ParleyError(f"{file} is no file that could be replaced. Name another one.")
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=".export-", dir=file.parent)  # for us alone
        unfinished = Path(name)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as out:
                out.writelines(pieces)
            unfinished.replace(file)  # what was there may be open to others
        finally:
            unfinished.unlink(missing_ok=True)
    except OSError as error:
        raise ParleyError(f"{file} cannot be written ({error.strerror}). Name another file, or make room.") from error
