"""A limit of processes where Parley runs as root: the kernel counts none of root's but in a control group."""

import secrets
import time
from contextlib import suppress
from pathlib import Path

_ROOTS = (Path("/sys/fs/cgroup/pids"), Path("/sys/fs/cgroup"))
_PREFIX = "parley-"
_JOINED_BY = 60.0
"""Seconds after which whoever was to be in a group is there, or never will be."""


class ProcessGroups:
    """Makes a group for each command, and removes those whose commands have ended."""

    def __init__(self, parent: Path) -> None:
        self._parent = parent

    def new(self, most: int) -> Path:
        """A group that holds at most so many processes; who writes 0 to its `cgroup.procs` is in it. Raises OSError."""
        self.remove_empty()
        group = self._parent / f"{_PREFIX}{secrets.token_hex(8)}"
        group.mkdir()
        try:
            (group / "pids.max").write_text(str(most))
        except OSError:
            group.rmdir()
            raise
        return group

    def remove_empty(self) -> None:
        """Also those of a Parley that was killed. The kernel keeps one that holds a process."""
        for group in self._parent.glob(f"{_PREFIX}*"):
            with suppress(OSError):
                if time.time() - group.stat().st_mtime > _JOINED_BY:
                    group.rmdir()


def process_groups() -> ProcessGroups | None:
    """None where this machine lets us make no such group."""
    for root in _ROOTS:
        for parent in (root / _own_place(root), (root / _own_place(root)).parent):
            if not parent.is_relative_to(root):
                continue
            groups = ProcessGroups(parent)
            try:
                groups.new(1).rmdir()
            except OSError:
                continue
            return groups
    return None


def _own_place(root: Path) -> str:
    """Where in the tree of groups we are: a line is `8:pids:/place`, or `0::/place` in the newer, single tree."""
    wanted = "pids" if root.name == "pids" else ""
    with suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            _, controllers, place = line.split(":", 2)
            if wanted in controllers.split(","):
                return place.lstrip("/")
    return ""
