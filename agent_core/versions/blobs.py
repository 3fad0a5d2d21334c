"""Content-addressed storage of files. All methods block."""

import hashlib
import os
import time
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path

from agent_core.file_handles import raise_lack
from agent_core.workspace.keeper import CannotKeep
from agent_core.workspace.safe_open import FILE_FLAGS

_BLOCK = 1 << 20
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class NoRoom(CannotKeep):
    """The versions of this chat would exceed their limit."""


class Budget:
    """Limits of one round of recording: bytes, seconds and files."""

    def __init__(self, room: int, seconds: float, most_files: int) -> None:
        self._room = room
        self._ends = time.monotonic() + seconds
        self._files = most_files

    def spend(self, size: int = 0) -> None:
        """Use up bytes. Raises CannotKeep if the budget is exceeded."""
        self._room -= size
        if self._room < 0:
            raise NoRoom("there is no room left to keep the files as they are")
        if time.monotonic() > self._ends:
            raise CannotKeep("keeping the files as they are would take too long")

    def look(self) -> None:
        """Count one entry of the workspace. Raises CannotKeep if there are too many."""
        self._files -= 1
        if self._files < 0:
            raise CannotKeep("there are too many files to keep them as they are")
        self.spend()


class Blobs:
    """A folder of contents by digest, readable only by Parley."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def keep(self, handle: int, budget: Budget) -> str:
        """Copy the content of a descriptor and return its digest. Raises CannotKeep and OSError."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        arriving = self._folder / f".arriving-{os.urandom(8).hex()}"
        try:
            digest = _copied(handle, arriving, budget)
            place = self._place(digest)
            if not place.exists() or place.stat().st_size != arriving.stat().st_size:
                place.parent.mkdir(mode=0o700, exist_ok=True)
                arriving.replace(place)
        finally:
            arriving.unlink(missing_ok=True)
        return digest

    def copy_to(self, digest: str, handle: int) -> bool:
        """Write a content to a descriptor; returns False if it is missing or damaged. Raises OSError."""
        try:
            source = os.open(self._place(digest), FILE_FLAGS)
        except OSError as error:
            raise_lack(error)
            return False
        check = hashlib.sha256()
        with os.fdopen(source, "rb") as reading, os.fdopen(os.dup(handle), "wb") as writing:
            while block := reading.read(_BLOCK):
                check.update(block)
                writing.write(block)
        return check.hexdigest() == digest

    def drop_all_but(self, wanted: Collection[str]) -> None:
        for blob in self._files():
            if blob.name not in wanted:
                with suppress(OSError):
                    blob.unlink()

    def size(self) -> int:
        """Return the bytes used on disk."""
        total = 0
        for blob in self._files():
            with suppress(OSError):
                total += blob.stat().st_blocks * 512
        return total

    def _place(self, digest: str) -> Path:
        return self._folder / digest[:2] / digest

    def _files(self) -> Iterator[Path]:
        for folder in _listed(self._folder):
            if folder.name.startswith(".arriving-"):
                yield folder
            else:
                yield from _listed(folder)


def _listed(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []


def _copied(handle: int, target: Path, budget: Budget) -> str:
    """Copy a file and return its digest; long runs of zeros become holes."""
    digest = hashlib.sha256()
    size = 0
    with os.fdopen(os.open(target, _NEW, 0o600), "wb") as copy:
        while block := os.pread(handle, _BLOCK, size):
            budget.spend(len(block))
            digest.update(block)
            size += len(block)
            if block.count(0) == len(block):
                copy.seek(len(block), os.SEEK_CUR)
            else:
                copy.write(block)
        copy.truncate(size)
    return digest.hexdigest()
