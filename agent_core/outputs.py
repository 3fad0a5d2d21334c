"""The folder of the workspace in which the whole of what was too long for the model is kept, for it to read.

Commands can change everything here, so nothing in it is trusted. Everything here blocks.
"""

import os
import re
from contextlib import suppress
from itertools import count
from pathlib import Path

FOLDER = ".output"
KEPT = 20
MOST_BYTES = 8_000_000
"""Of a text that is kept; no more could be read."""

_NAME = re.compile(r"([1-9][0-9]{0,8})\.txt")
_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC


def next_output(workspace: Path) -> str:
    """The name, in the workspace, of a new file for the next output; the oldest ones make room for it. Raises
    OSError."""
    name, file = _create(workspace)
    os.close(file)
    return name


def keep_text(workspace: Path, text: str) -> str:
    """Write the text to a new file, and give its name in the workspace. Raises OSError."""
    name, file = _create(workspace)
    with os.fdopen(file, "wb") as writing:
        try:
            writing.write(text.encode("utf-8", "replace")[:MOST_BYTES])
            writing.flush()
        except OSError:
            forget(workspace, name)
            raise
    return name


def forget(workspace: Path, name: str) -> None:
    """Nothing where it is gone already."""
    with suppress(OSError):
        folder = _folder(workspace)
        try:
            os.unlink(Path(name).name, dir_fd=folder)
        finally:
            os.close(folder)


def _create(workspace: Path) -> tuple[str, int]:
    """A new file's name in the workspace, and its handle."""
    folder = _folder(workspace)
    try:
        with os.scandir(folder) as entries:
            numbers = sorted(int(found[1]) for entry in entries if (found := _NAME.fullmatch(entry.name)))
        for number in numbers[: max(0, len(numbers) - KEPT + 1)]:
            with suppress(OSError):
                os.unlink(f"{number}.txt", dir_fd=folder)
        for number in count(max(numbers, default=0) + 1):
            with suppress(FileExistsError):  # taken by another command meanwhile
                return f"{FOLDER}/{number}.txt", os.open(f"{number}.txt", _NEW, 0o600, dir_fd=folder)
    finally:
        os.close(folder)
    raise FileExistsError(FOLDER)


def _folder(workspace: Path) -> int:
    """A handle of the folder, which is made, in a workspace that may have held nothing yet; a link or a file that
    stands in its place is taken away."""
    workspace.mkdir(mode=0o700, parents=True, exist_ok=True)
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
