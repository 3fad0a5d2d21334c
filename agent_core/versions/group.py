"""The changes of one tool call, stored as one JSON file each, numbered in the order of the calls."""

import json
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct, convert
from msgspec.structs import asdict, replace

from agent_core.file_handles import raise_lack
from agent_core.json_text import UNREADABLE, read_json

FILE, FOLDER, LINK, OTHER = "file", "folder", "link", "other"

SETTLED_NS = 50_000_000
"""Nanoseconds. A file changed more recently than this before it was read may change again within the same timestamp:
file system clocks tick every 4 to 10 ms."""


class Entry(NamedTuple):
    """The state of a path. `digest` names the stored content of a file, and is empty if that was not stored."""

    kind: str
    mode: int
    size: int = 0
    mtime: int = 0
    ctime: int = 0
    inode: int = 0
    digest: str = ""
    target: str = ""
    """Target of a link."""
    settled: bool = True
    """True if equal times mean equal content."""

    @classmethod
    def of(cls, about: os.stat_result, target: str = "", *, now_ns: int) -> "Entry":
        return cls(
            kind=kind_of(about.st_mode),
            mode=stat.S_IMODE(about.st_mode),
            size=about.st_size if stat.S_ISREG(about.st_mode) else 0,
            mtime=about.st_mtime_ns,
            ctime=about.st_ctime_ns,
            inode=about.st_ino,
            target=target,
            settled=about.st_ctime_ns + SETTLED_NS < now_ns,
        )

    def looks_like(self, other: "Entry") -> bool:
        """Return True if the entry is unchanged, as far as the file system tells."""
        if self.kind != other.kind or self.mode != other.mode:
            return False
        if self.kind == FOLDER:  # its times change with its contents
            return True
        if self.kind == LINK:
            return self.target == other.target
        return self.stamp == other.stamp

    @property
    def stamp(self) -> tuple[int, int, int, int]:
        """Return size, times and inode; the change time is included because programs cannot set it."""
        return self.size, self.mtime, self.ctime, self.inode


def kind_of(mode: int) -> str:
    if stat.S_ISREG(mode):
        return FILE
    if stat.S_ISDIR(mode):
        return FOLDER
    return LINK if stat.S_ISLNK(mode) else OTHER


class Change(Struct, frozen=True, array_like=True):
    """One path of the workspace before and after; None if it did not exist. It is stored as a list."""

    path: str
    before: Entry | None
    after: Entry | None


class Group(Struct, frozen=True):
    """The changes of one call; `is_open` while it runs, or if Parley was stopped during it."""

    number: int
    at: float
    person: str | None
    tool: str
    call: str = ""
    changes: tuple[Change, ...] = ()
    memory: str = ""
    """The memory folder that was changed, if any."""
    removed: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    undoes: int | None = None
    undone_by: int | None = None
    is_open: bool = False

    @property
    def is_empty(self) -> bool:
        return not (self.changes or self.removed or self.added)

    @property
    def digests(self) -> Iterator[str]:
        """Return the digests of all contents that the group needs."""
        for change in self.changes:
            for entry in (change.before, change.after):
                if entry and entry.digest:
                    yield entry.digest


class Groups:
    """The files of all groups of a chat. All methods block."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.writes = 0
        """How often a group was written by way of this object."""

    def numbers(self) -> list[int]:
        """Return the numbers, oldest first."""
        try:
            return sorted(int(file.stem) for file in self._folder.glob("*.json") if file.stem.isdecimal())
        except OSError as error:
            raise_lack(error)
            return []

    def next_number(self) -> int:
        return max(self.numbers(), default=0) + 1

    def read(self, number: int) -> Group | None:
        """Return a group, or None if it does not exist or cannot be read."""
        try:
            return convert(read_json((self._folder / f"{number}.json").read_bytes()), Group)
        except (OSError, *UNREADABLE) as error:
            raise_lack(error)
            return None

    def newest_first(self) -> Iterator[Group]:
        for number in reversed(self.numbers()):
            if group := self.read(number):
                yield group

    def write(self, group: Group) -> None:
        """Replace the file atomically, so that a crash leaves the old or the new one. Raises OSError."""
        values = asdict(replace(group, changes=()))
        values["changes"] = [[each.path, each.before, each.after] for each in group.changes]
        write_json(self._folder / f"{group.number}.json", values)
        self.writes += 1

    def drop(self, number: int) -> None:
        with suppress(OSError):
            (self._folder / f"{number}.json").unlink()


def write_json(file: Path, values: object) -> None:
    """Write JSON in ASCII, because file names may be invalid Unicode. Raises OSError."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    arriving = file.with_name(f".{file.name}.new")
    arriving.touch(mode=0o600)
    arriving.write_text(json.dumps(values, separators=(",", ":")), encoding="ascii")
    arriving.replace(file)
