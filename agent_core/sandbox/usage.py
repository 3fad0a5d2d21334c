"""Disk space, files and memory that a command uses. All functions block."""

import errno
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from agent_core.sandbox.reaper import with_children

_BLOCK = 512
_PAGE = os.sysconf("SC_PAGESIZE")
_TOO_DEEP = 1 << 60
_TEMPORARY = ("/tmp", "/dev/shm")  # noqa: S108 - of a sandbox


@dataclass(frozen=True)
class Usage:
    """Bytes allocated on disk, so that holes cost nothing; number of files, folders and links."""

    bytes: int = 0
    files: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(self.bytes + other.bytes, self.files + other.files)


def usage_of(folder: Path, most_files: int = 1_000_000) -> Usage:
    """Return the usage of a folder, without following links; hard links count once. Counting stops after `most_files`.

    A part that cannot be read because its path is too long counts as more than any limit.
    """
    total = files = 0
    seen: set[tuple[int, int]] = set()
    waiting = [str(folder)]
    while waiting and files <= most_files:
        try:
            for about, path in _entries(waiting.pop()):
                files += 1
                if stat.S_ISDIR(about.st_mode):
                    waiting.append(path)
                elif about.st_nlink > 1:
                    if (key := (about.st_dev, about.st_ino)) in seen:
                        continue
                    seen.add(key)
                total += about.st_blocks * _BLOCK
        except OSError as error:
            if error.errno == errno.ENAMETOOLONG:
                return Usage(_TOO_DEEP, files)
    return Usage(total, files)


def _entries(folder: str) -> Iterator[tuple[os.stat_result, str]]:
    try:
        entries = os.scandir(folder)
    except PermissionError:  # a program may have changed the mode, but Parley owns it
        _open_up(folder)
        entries = os.scandir(folder)
    with entries:
        for each in entries:
            with suppress(FileNotFoundError):
                yield each.stat(follow_symlinks=False), each.path


def _open_up(folder: str) -> None:
    handle = os.open(folder, os.O_PATH | os.O_NOFOLLOW | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        Path(f"/proc/self/fd/{handle}").chmod(0o700)
    finally:
        os.close(handle)


@dataclass(frozen=True)
class Held:
    """Resources held by a command's processes besides visible files."""

    deleted: int = 0
    """Bytes of deleted files that are still open, on the workspace's disk."""
    memory: int = 0
    """Bytes, including files in memory; shared memory counts once."""


def held_by(pid: int, device: int, enough: int) -> Held:
    """Return what this process and its descendants hold. Memory is estimated until it might exceed `enough`."""
    pids = with_children({pid})
    deleted: dict[tuple[int, int], int] = {}
    in_memory: dict[tuple[int, int], int] = {}
    folders = _folders_in_memory(pids)
    for about in _nameless(pids):
        known = deleted if about.st_dev == device else in_memory
        if about.st_dev not in folders:
            known[about.st_dev, about.st_ino] = about.st_blocks * _BLOCK
    memory = sum(map(_resident, pids))
    if memory > enough:
        memory = sum(map(_share, pids))
    return Held(sum(deleted.values()), memory + sum(in_memory.values()) + sum(folders.values()))


def _folders_in_memory(pids: Iterable[int]) -> dict[int, int]:
    """Return the bytes in a sandbox's temporary folders in memory, by device; the machine's own do not count."""
    found = {}
    with suppress(OSError):
        ours = {Path(folder).stat().st_dev for folder in ("/", *_TEMPORARY)}
        for pid in pids:
            for folder in _TEMPORARY:
                with suppress(OSError):
                    inside = f"/proc/{pid}/root{folder}"
                    device = Path(inside).stat().st_dev
                    if device not in ours and device not in found:
                        about = os.statvfs(inside)
                        found[device] = (about.f_blocks - about.f_bfree) * about.f_frsize
    return found


def _nameless(pids: Iterable[int]) -> Iterator[os.stat_result]:
    for pid in pids:
        with suppress(OSError):
            for handle in Path(f"/proc/{pid}/fd").iterdir():
                with suppress(OSError):
                    about = handle.stat()
                    if stat.S_ISREG(about.st_mode) and about.st_nlink == 0:
                        yield about


def _resident(pid: int) -> int:
    with suppress(OSError, ValueError, IndexError):
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE
    return 0


def _share(pid: int) -> int:
    """Return a process's memory, with shared memory divided among its users."""
    with suppress(OSError, ValueError, IndexError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    return _resident(pid)
