"""The workspace folder that keeps outputs too long for the model, so that it can read them in full.

Programs can change anything here, so nothing in it is trusted. All functions block.
"""

import os
import re
from contextlib import suppress
from itertools import count
from pathlib import Path

FOLDER = ".output"
KEPT = 20
MOST_BYTES = 8_000_000
"""Size limit of a kept text; a longer one is cut."""

_NAME = re.compile(r"([1-9][0-9]{0,8})\.txt")
_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC


def next_output(workspace: Path) -> str:
    """Create a file for the next output and return its path in the workspace; the oldest ones are deleted. Raises
    OSError."""
    name, file = _create(workspace)
    os.close(file)
    return name


def keep_text(workspace: Path, text: str) -> str:
    """Write the text to a new file and return its path in the workspace. Raises OSError."""
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
    """Delete a kept output, if it still exists."""
    with suppress(OSError):
        folder = _folder(workspace)
        try:
            os.unlink(Path(name).name, dir_fd=folder)
        finally:
            os.close(folder)


def _create(workspace: Path) -> tuple[str, int]:
    """Create a file; returns its path in the workspace and its descriptor."""
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
    """Open the folder, creating it and the workspace if missing; a link or file in its place is removed."""
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
