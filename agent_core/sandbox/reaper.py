"""Killing of processes that outlived the process they were started by.

For a moment, bubblewrap's inner process is neither in the group of the outer one nor bound to die with it. If the outer
one is killed in that moment, the inner one is found by the pipe to which its output goes.
"""

import os
import signal
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

_WRITING = 0o200


def end_writers(pipe: int) -> None:
    """Kill all other processes that can write into the pipe, and their descendants, which may have closed it.

    They are stopped first until no new ones appear, because processes killed one by one could still fork. Does nothing
    without /proc. Blocks.
    """
    try:
        name = str(Path(f"/proc/self/fd/{pipe}").readlink())
    except OSError:
        return
    stopped: set[int] = set()
    while new := with_children({pid for pid in _processes() if pid != os.getpid() and _writes(pid, name)}) - stopped:
        _signal(new, signal.SIGSTOP)
        stopped |= new
    _signal(stopped, signal.SIGKILL)


def _signal(pids: Iterable[int], number: signal.Signals) -> None:
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def _processes() -> Iterator[int]:
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            yield int(entry.name)


def with_children(pids: set[int]) -> set[int]:
    """Return these processes and all their descendants. Blocks."""
    found: set[int] = set()
    parents = {pid: _parent(pid) for pid in _processes()} if pids else {}
    while pids:
        found |= pids
        pids = {pid for pid, parent in parents.items() if parent in pids} - found
    return found


def _parent(pid: int) -> int:
    """Return the parent's id; 0 if the process has ended."""
    with suppress(OSError):
        return int(Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[1])
    return 0


def _writes(pid: int, name: str) -> bool:
    """Return True if the process can write. Read ends do not count: a process being started has copies of all our
    descriptors."""
    with suppress(OSError):
        for handle in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(OSError):
                if str(handle.readlink()) == name and handle.lstat().st_mode & _WRITING:
                    return True
    return False
