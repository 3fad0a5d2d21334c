"""The state of one file, folder or link of a workspace."""

import os
import stat
from typing import NamedTuple

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
