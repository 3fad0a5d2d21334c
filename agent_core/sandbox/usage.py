"""Disk space, files and memory that a command uses, and the watch over them while it runs.

A full check counts the workspace's files and asks its processes, four times a second. In between, twenty times a
second, only the machine's free resources are read: if they dropped by half of what the command had left, a full check
follows at once. Shared memory limits are checked even if a control group limits the command's own. `python -m bench
quotas` measures how far a command can exceed its limits.
"""

import asyncio
import errno
import os
import stat
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from agent_core.clock import Clock
from agent_core.sandbox.cgroup import Group
from agent_core.sandbox.command import Command
from agent_core.sandbox.limits import CommandLimits
from agent_core.sandbox.reaper import with_children

_BLOCK = 512
_PAGE = os.sysconf("SC_PAGESIZE")
_TOO_DEEP = 1 << 60
_TEMPORARY = ("/tmp", "/dev/shm")  # noqa: S108 - of a sandbox
LOOK_EVERY = 0.25
"""Seconds between full checks."""
GLANCE_EVERY = 0.05
"""Seconds between quick checks."""
_PLENTY = 1 << 60


class Usage(Struct, frozen=True):
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


class Held(Struct, frozen=True):
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


class Amount(Struct, frozen=True):
    """Amounts of the monitored resources: free on the machine, or left to a command."""

    bytes: int
    files: int
    memory: int

    def is_nearly_gone(self, then: "Amount", now: "Amount") -> bool:
        """Return True if the machine lost more than half of an amount between `then` and `now`; half, because the
        command continues during a check."""
        return (
            then.bytes - now.bytes > self.bytes / 2
            or then.files - now.files > self.files / 2
            or then.memory - now.memory > self.memory / 2
        )


class Watch:
    """The monitor of one command, created before it starts."""

    def __init__(self, command: Command, before: Usage, clock: Clock) -> None:
        self._folder = command.workspace
        self._limits = command.limits
        self._pools = command.pools
        self._before = before
        self._clock = clock
        memory = min([self._limits.all_memory_bytes, *(pool.left_to(self) for pool in self._pools)])
        self._left = Amount(self._limits.grow_bytes, self._limits.grow_files, memory)
        self._free = free_on_machine(self._folder)
        self._looked = time.monotonic()
        self.excess = ""
        """The limit that was exceeded, as text; empty if none."""

    @classmethod
    async def begin(cls, command: Command, clock: Clock) -> "Watch":
        return cls(command, await asyncio.to_thread(usage_of, command.workspace), clock)

    async def until_exceeded(self, pid: int, group: Group | None) -> None:
        """Wait until the process and its descendants exceed a limit."""
        for pool in self._pools:
            pool.use(self, 0)
        while not self.excess:
            await self._clock.sleep(GLANCE_EVERY)
            look = asyncio.ensure_future(asyncio.to_thread(self._glance, pid, group))
            try:
                self.excess = await asyncio.shield(look)
            finally:
                await asyncio.wait([look])  # the thread continues after a cancellation and holds its open files

    def at_the_end(self, group: Group | None) -> str:
        """Return the limit that an ended command exceeded, or an empty string."""
        if group and group.ran_out_of_memory():
            return _too_much_memory(self._limits)
        return self.excess

    def release(self) -> None:
        """Release the shared memory of an ended command."""
        for pool in self._pools:
            pool.release(self)

    def _glance(self, pid: int, group: Group | None) -> str:
        free = free_on_machine(self._folder)
        if free.bytes < self._limits.free_bytes or free.files < self._limits.free_files:
            return "all but the last of the disk"
        is_time = time.monotonic() - self._looked >= LOOK_EVERY
        if not is_time and not self._left.is_nearly_gone(self._free, free):
            return ""
        self._free, self._looked = free, time.monotonic()
        return self._look(pid, group)

    def _look(self, pid: int, group: Group | None) -> str:
        limits = self._limits
        most_files = self._before.files + limits.grow_files
        now = usage_of(self._folder, most_files)
        if now.files > most_files:
            return f"more than {limits.grow_files:,} new files"
        held = held_by(pid, self._folder.stat().st_dev, self._enough())
        grown = now.bytes - self._before.bytes + held.deleted
        if grown > limits.grow_bytes:
            return f"more than {limits.grow_bytes / 1e6:,.0f} MB of disk"
        is_held = group is not None and group.holds_memory
        if group and is_held and group.ran_out_of_memory():
            return _too_much_memory(limits)
        if not is_held and held.memory > limits.all_memory_bytes:
            return _too_much_memory(limits)
        for pool in self._pools:
            if excess := pool.use(self, held.memory):
                return excess
        bounds = [_PLENTY if is_held else limits.all_memory_bytes, *(pool.left_to(self) for pool in self._pools)]
        self._left = Amount(limits.grow_bytes - grown, most_files - now.files, min(bounds) - held.memory)
        return ""

    def _enough(self) -> int:
        """Return the memory up to which an estimate suffices; 0 if it is shared with running commands."""
        return min([self._limits.all_memory_bytes, *(0 if pool.is_shared else pool.most // 2 for pool in self._pools)])


def free_on_machine(folder: Path) -> Amount:
    """Return what is free on the folder's disk and in memory; unknown amounts count as plenty. Blocks."""
    disk = files = memory = _PLENTY
    with suppress(OSError):
        about = os.statvfs(folder)
        disk = about.f_bavail * about.f_frsize
        files = about.f_favail if about.f_files else _PLENTY  # some file systems create inodes on demand
    with suppress(OSError, ValueError, IndexError, StopIteration):
        lines = Path("/proc/meminfo").read_text("ascii").splitlines()
        memory = 1024 * int(next(line for line in lines if line.startswith("MemAvailable:")).split()[1])
    return Amount(disk, files, memory)


def _too_much_memory(limits: CommandLimits) -> str:
    return f"more than {limits.all_memory_bytes / 1e6:,.0f} MB of memory"
