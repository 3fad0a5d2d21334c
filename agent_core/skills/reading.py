"""Reading of a skill's files without leaving its folder. All functions block."""

import hashlib
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from agent_core.skills.header import BadSkill
from agent_core.untrusted import harmless
from agent_core.workspace.safe_open import FILE, FOLDER, best_opener, open_root

MOST_BYTES = 256 * 1024
"""Size of one file that a model reads."""
MOST_ENTRIES = 10_000
"""Entries of a folder of skills that are read; it may have been flooded."""
MOST_APPROVED_BYTES = 4 * 1024 * 1024
MOST_APPROVED_FILES = 200

Names = tuple[str, ...]
Signature = tuple[int, ...]
"""Changes with the file or folder: programs can reset a file's modification time, but not its change time."""


@dataclass(frozen=True)
class Found:
    """One entry of a folder."""

    name: str
    is_folder: bool
    is_file: bool
    is_link: bool
    has_other_names: bool
    """True for a hard link, which may be another user's file."""
    signature: Signature


@contextmanager
def opened(base: Path, folder: Path) -> Iterator[int]:
    """Open the folder, which is `base` or beneath it. Only the path to `base` may contain links. Raises OSError."""
    outer = open_root(base)
    try:
        handle = best_opener()(outer, folder.relative_to(base).parts, FOLDER)
    finally:
        os.close(outer)
    try:
        yield handle
    finally:
        os.close(handle)


def entries(root: int, names: Names, most: int = MOST_ENTRIES) -> list[Found]:
    """Return the folder's entries sorted by name, without following links.

    Raises OSError, and BadSkill for more than `most`.
    """
    handle = best_opener()(root, names, FOLDER)
    try:
        with os.scandir(handle) as listed:
            found = [entry for each in islice(listed, most + 1) if (entry := _found(each))]
    finally:
        os.close(handle)
    if len(found) > most:
        raise BadSkill("there is too much in it", "take out what is no skill")
    return sorted(found, key=lambda entry: entry.name)


def read(root: int, names: Names, most: int = MOST_BYTES) -> bytes:
    """Read a regular file. Raises OSError, and BadSkill if it is larger than `most`."""
    handle = best_opener()(root, names, FILE)
    try:
        about = os.fstat(handle)
        if not stat.S_ISREG(about.st_mode):
            raise BadSkill("it is no regular file", "put a file in its place")
        if about.st_size > most:
            raise BadSkill(f"it is larger than {most // 1024} KB", "make it shorter, and keep details in references")
        with os.fdopen(handle, "rb", closefd=False) as file:
            return file.read(most)
    finally:
        os.close(handle)


def text_of(content: bytes) -> str:
    """Return the text of a reference or document, without invisible characters. Raises BadSkill."""
    try:
        return harmless(content.decode("utf-8-sig").replace("\r\n", "\n").strip())
    except UnicodeDecodeError as error:
        raise BadSkill("it is not UTF-8", "save it as UTF-8") from error


def read_all(root: int) -> dict[str, bytes]:
    """Read all files of a skill, by path. Raises OSError, and BadSkill for too many files or links."""
    left = MOST_APPROVED_BYTES
    contents: dict[str, bytes] = {}
    for path in list(_files(root)):
        content = contents["/".join(path)] = read(root, path, left)
        left -= len(content)
    return contents


def digest(files: Mapping[str, bytes]) -> str:
    """Return a hash of all files of a skill."""
    total = hashlib.sha256()
    for path, content in files.items():
        total.update(f"{path}\0{len(content)}\0".encode("utf-8", "surrogateescape"))
        total.update(content)
    return total.hexdigest()


def _files(root: int) -> Iterator[Names]:
    waiting: list[Names] = [()]
    seen = 0
    while waiting:
        folder = waiting.pop()
        for entry in entries(root, folder, MOST_APPROVED_FILES):
            seen += 1
            if seen > MOST_APPROVED_FILES:
                raise BadSkill(f"it has more than {MOST_APPROVED_FILES} files", "keep only what it needs")
            if entry.is_folder:
                waiting.append((*folder, entry.name))
            elif entry.is_file and not entry.has_other_names:
                yield (*folder, entry.name)
            else:
                raise BadSkill(f"{entry.name!r} is a link or no regular file", "put the file itself there")


def _found(entry: os.DirEntry[str]) -> Found | None:
    """Return the entry; None if it was deleted meanwhile."""
    try:
        about = entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        return None
    return Found(
        name=entry.name,
        is_folder=stat.S_ISDIR(about.st_mode),
        is_file=stat.S_ISREG(about.st_mode),
        is_link=stat.S_ISLNK(about.st_mode),
        has_other_names=about.st_nlink > 1,
        signature=(about.st_ctime_ns, about.st_mtime_ns, about.st_size, about.st_ino),
    )


def names_in(found: Sequence[Found]) -> Iterator[str]:
    """Yield the names of files that may be shown to a model."""
    return (entry.name for entry in found if entry.is_file and _is_plain(entry.name))


def _is_plain(name: str) -> bool:
    """Return True for a name that can be put into the prompt unchanged."""
    return not name.startswith(".") and name.isprintable() and "`" not in name and harmless(name) == name
