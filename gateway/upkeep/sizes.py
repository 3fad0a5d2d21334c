"""Disk usage of stored data, with the largest chats and users."""

import os
from collections import Counter
from pathlib import Path

from msgspec import Struct

from gateway.delivery.outgoing import FOLDER as OUTGOING
from gateway.permissions.quotas import filled_by_people
from gateway.permissions.workspaces import FOLDER as VERSIONS
from gateway.permissions.workspaces import key_of
from gateway.store.opening import FILE
from gateway.upkeep.kept import kept

ENOUGH = 200 * 1024 * 1024
"""Bytes of a disk that have to be free, or it is as good as full."""

MOST_NAMED = 3
"""The most chats and users named, unless more are asked for."""

Largest = tuple[tuple[str, int], ...]
"""Names with sizes in bytes, largest first."""


class Sizes(Struct, frozen=True):
    """Sizes in bytes."""

    store: int
    files: int
    """Files of chats, including those queued for sending."""
    versions: int
    """Former versions of files."""
    backups: int
    newest: Path | None
    """The latest backup."""
    chats: Largest
    """Chats by the size of their files and versions."""
    people: Largest
    """Users by the size of the files they created in all chats."""


def sizes(home: Path, most: int = MOST_NAMED) -> Sizes:
    """Compute all sizes by scanning every file, which may take a while. `most` chats and users are named."""
    backups = kept(home)
    store = sum(_size(home / f"{FILE}{end}") for end in ("", "-wal"))
    files, versions = _by_chat(home / "workspaces"), _by_chat(home / VERSIONS)
    people = Counter(filled_by_people(home / VERSIONS))
    return Sizes(
        store=store,
        files=files.total() + _folder(home / OUTGOING),
        versions=versions.total(),
        backups=sum(_size(each) for each in backups),
        newest=backups[0] if backups else None,
        chats=_largest(files + versions, most),
        people=_largest(people, most),
    )


def named(largest: Largest) -> str:
    """Format names and sizes, such as `telegram:42:7 3.4 MB, web:here:you 120.0 kB`."""
    return ", ".join(f"{name} {in_words(size)}" for name, size in largest)


def in_words(size: int) -> str:
    """Format a size, such as 3.4 MB."""
    for unit, many in (("kB", 2**20), ("MB", 2**30)):
        if size < many:
            return f"{size * 1024 / many:.1f} {unit}"
    return f"{size / 2**30:.1f} GB"


def _by_chat(folder: Path) -> Counter[str]:
    return Counter({key_of(each.name): _folder(each) for each in folder.glob("*/")})


def _largest(counted: Counter[str], most: int) -> Largest:
    return tuple((name, size) for name, size in counted.most_common(most) if size)


def _folder(folder: Path) -> int:
    return sum(_size(Path(place, name)) for place, _, names in os.walk(folder) for name in names)


def _size(file: Path) -> int:
    try:
        return file.lstat().st_size
    except OSError:
        return 0
