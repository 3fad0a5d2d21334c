"""The folder of the workspace in which the whole output of commands is kept, for the model to read.

Commands can change everything here, so nothing in it is trusted. Everything here blocks.
"""

import os
import re
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from agent_core.builtin.files.confined import open_file

FOLDER = ".output"
KEPT = 20
BLOCK = 64 * 1024

_NAME = re.compile(r"([1-9][0-9]{0,8})\.txt")
_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True)
class Ends:
    """How an output begins and how it ends."""

    head: bytes
    tail: bytes
    """Empty where `head` is all of it."""


def next_output(workspace: Path) -> str:
    """The name, in the workspace, of a new file for the next output; the oldest ones make room for it. Raises
    OSError."""
    folder = _folder(workspace)
    try:
        with os.scandir(folder) as entries:
            numbers = sorted(int(found[1]) for entry in entries if (found := _NAME.fullmatch(entry.name)))
        for number in numbers[: max(0, len(numbers) - KEPT + 1)]:
            with suppress(OSError):
                os.unlink(f"{number}.txt", dir_fd=folder)
        for number in count(max(numbers, default=0) + 1):
            with suppress(FileExistsError):  # taken by another command meanwhile
                os.close(os.open(f"{number}.txt", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600, dir_fd=folder))
                break
    finally:
        os.close(folder)
    return f"{FOLDER}/{number}.txt"


def ends(workspace: Path, name: str) -> Ends:
    """Raises ToolFailed where it is no regular file any more."""
    with os.fdopen(open_file(workspace, name), "rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size <= 2 * BLOCK:
            return Ends(file.read(2 * BLOCK), b"")
        head = file.read(BLOCK)
        file.seek(-BLOCK, os.SEEK_END)
        return Ends(head, file.read(BLOCK))


def forget(workspace: Path, name: str) -> None:
    """Nothing where it is gone already."""
    with suppress(OSError):
        folder = _folder(workspace)
        try:
            os.unlink(Path(name).name, dir_fd=folder)
        finally:
            os.close(folder)


def _folder(workspace: Path) -> int:
    """A handle of the folder, which is made; a link or a file that stands in its place is taken away."""
    outer = os.open(workspace, _FLAGS)
    try:
        with suppress(FileExistsError):
            os.mkdir(FOLDER, 0o700, dir_fd=outer)
        with suppress(NotADirectoryError):
            return os.open(FOLDER, _FLAGS, dir_fd=outer)
        os.unlink(FOLDER, dir_fd=outer)
        os.mkdir(FOLDER, 0o700, dir_fd=outer)
        return os.open(FOLDER, _FLAGS, dir_fd=outer)
    finally:
        os.close(outer)
