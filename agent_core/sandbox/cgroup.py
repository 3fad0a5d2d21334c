"""Control groups, in which the kernel limits what all processes of a command use together.

Root needs them to limit the number of processes, because the kernel does not count root's otherwise. Others use them
where they can be created (such as in a user's systemd); else `watch` takes over.
"""

import secrets
import subprocess
import time
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

_TREE = Path("/sys/fs/cgroup")
_PROCESSES, _MEMORY = "pids", "memory"
_PREFIX = "parley-"
_JOINED_BY = 60.0
"""Seconds after which a process that was to join a group has done so, or never will."""
_NO_SWAP = {"memory.max": ("memory.swap.max", 0), "memory.limit_in_bytes": ("memory.memsw.limit_in_bytes", None)}
"""The file for the swap limit beside each memory limit, and its value (None: same as the limit). In version 1 it counts
memory and swap together. Kernels without swap accounting lack the file."""
_TRIES, _PAUSE = 50, 0.004
"""Attempts to remove a group, and the seconds between them; leftovers are removed with a later command."""
_TRIAL = 30.0
"""Seconds allowed for joining a group in the trial."""


class Group(Struct, frozen=True):
    """The control group of one command."""

    folders: tuple[Path, ...]
    """A process joins by writing 0 to `cgroup.procs` in each. Version 1 has one tree for each controller."""
    holds_memory: bool
    holds_processes: bool

    def ran_out_of_memory(self) -> bool:
        """Return True if the kernel has killed a process of the group for lack of memory."""
        for folder in self.folders:
            for name in ("memory.events", "memory.oom_control"):
                with suppress(OSError):
                    counts = dict(line.split() for line in (folder / name).read_text().splitlines())
                    return counts.get("oom_kill", "0") != "0"
        return False

    def remove(self) -> None:
        """Remove the group. Blocks shortly, because the kernel keeps it while a process in it is exiting."""
        for folder in self.folders:
            for _ in range(_TRIES):
                try:
                    folder.rmdir()
                except FileNotFoundError:
                    break
                except OSError:
                    time.sleep(_PAUSE)
                else:
                    break


class ControlGroups:
    """Creates a group for each command, and removes those of ended commands."""

    def __init__(self, parents: dict[str, Path]) -> None:
        self.parents = parents
        """The folder for new groups, by controller."""

    @property
    def count_processes(self) -> bool:
        return _PROCESSES in self.parents

    def new(self, processes: int, memory: int) -> Group:
        """Create a group with limits for processes and bytes of memory. Raises OSError."""
        self.remove_empty()
        name = f"{_PREFIX}{secrets.token_hex(8)}"
        folders = tuple(dict.fromkeys(parent / name for parent in self.parents.values()))
        group = Group(folders, _MEMORY in self.parents, self.count_processes)
        try:
            for folder in folders:
                folder.mkdir()
            for controller, limit in ((_PROCESSES, processes), (_MEMORY, memory)):
                if controller in self.parents:
                    _limit(self.parents[controller] / name, controller, limit)
        except OSError:
            group.remove()
            raise
        return group

    def remove_empty(self) -> None:
        """Remove empty groups, also those left by a killed Parley. The kernel keeps groups with processes."""
        for parent in set(self.parents.values()):
            for group in parent.glob(f"{_PREFIX}*"):
                with suppress(OSError):
                    if time.time() - group.stat().st_mtime > _JOINED_BY:
                        group.rmdir()


def control_groups(tree: Path = _TREE) -> ControlGroups | None:
    """Return the control groups; None if this machine allows no group that a command could join."""
    parents = {}
    for controller in (_PROCESSES, _MEMORY):
        parent = _parent(tree, controller)
        if parent is not None:
            parents[controller] = parent
    return ControlGroups(parents) if parents else None


def _parent(tree: Path, controller: str) -> Path | None:
    """Return the folder for usable groups of this controller: Parley's own, or its parent, because in version 2 only
    leaves may have processes."""
    for root in (tree / controller, tree):
        own = root / _own_place(controller if root.name == controller else "")
        for parent in (own, own.parent):
            if parent.is_relative_to(root) and _works(parent, controller):
                return parent
    return None


def _works(parent: Path, controller: str) -> bool:
    try:
        group = ControlGroups({controller: parent}).new(1000, 1 << 40)
    except OSError:
        return False
    try:
        joined = subprocess.run(  # noqa: S603 - a fixed command
            ["/bin/sh", "-c", 'echo 0 >"$1/cgroup.procs"', "sh", str(group.folders[0])],
            stderr=subprocess.DEVNULL,
            check=False,
            timeout=_TRIAL,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    finally:
        group.remove()
    return joined.returncode == 0


def _limit(folder: Path, controller: str, limit: int) -> None:
    names = {_PROCESSES: ("pids.max",), _MEMORY: ("memory.max", "memory.limit_in_bytes")}[controller]
    name = next((each for each in names if (folder / each).exists()), names[0])  # if none exists, opening it raises
    _write(folder / name, limit)
    for_swap, value = _NO_SWAP.get(name, ("", None))
    if for_swap and (folder / for_swap).exists():
        _write(folder / for_swap, limit if value is None else value)


def _write(file: Path, value: int) -> None:
    with file.open("r+") as opened:  # "r+" fails if the controller is missing
        opened.write(str(value))


def _own_place(controller: str) -> str:
    """Return Parley's own group, from a line such as `8:pids:/place`, or `0::/place` in version 2."""
    with suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            _, controllers, place = line.split(":", 2)
            if controller in controllers.split(","):
                return place.lstrip("/")
    return ""
