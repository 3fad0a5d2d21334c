"""A placeholder file that is deleted to free space when the disk is full and the store cannot be written."""

import os
import shutil
from contextlib import suppress
from pathlib import Path

import structlog

FILE = "ballast"

log = structlog.get_logger(__name__)


class Ballast:
    """The placeholder file in the home folder.

    All methods block. None of them raises: the store works without the file.
    """

    def __init__(self, home: Path, size: int) -> None:
        """`size` is in bytes; 0 disables the file."""
        self._file = home / FILE
        self._size = size

    def lay(self) -> None:
        """Create the file if three times its size is free, so that it never fills the disk itself."""
        with suppress(OSError):
            if self._size and not self._is_laid() and shutil.disk_usage(self._file.parent).free > 3 * self._size:
                handle = os.open(self._file, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
                try:
                    os.posix_fallocate(handle, 0, self._size)
                finally:
                    os.close(handle)

    def give_up(self) -> bool:
        """Delete the file to free its space. Returns True if there was a file to delete."""
        with suppress(OSError):
            self._file.unlink()
            log.error("the disk is full: the ballast was given up, make room and start again to lay it anew")
            return True
        return False

    def _is_laid(self) -> bool:
        try:
            return self._file.stat().st_blocks * 512 >= self._size
        except OSError:
            return False
