"""Ending what outlived the process that it was started by.

Bubblewrap's inner process is for a moment neither in the group of the outer one nor bound to die with it; who kills
the outer one in that moment has to look for the inner one. What it says goes into our pipe.
"""

import os
import signal
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

_WRITING = 0o200


def end_writers(pipe: int) -> None:
    """Kill every process but this one that can write into the pipe, and whatever those have started, for it may have
    closed it. Nothing where there is no /proc. It blocks.

    They are stopped first, until no new ones appear: who is only killed one by one may have new children meanwhile.
    """
    try:
        name = str(Path(f"/proc/self/fd/{pipe}").readlink())
    except OSError:
        return
    stopped: set[int] = set()
    while new := _with_children({pid for pid in _processes() if pid != os.getpid() and _writes(pid, name)}) - stopped:
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


def _with_children(pids: set[int]) -> set[int]:
    """And theirs, and so on."""
    found: set[int] = set()
    parents = {pid: _parent(pid) for pid in _processes()} if pids else {}
    while pids:
        found |= pids
        pids = {pid for pid, parent in parents.items() if parent in pids} - found
    return found


def _parent(pid: int) -> int:
    """0 where it has ended."""
    with suppress(OSError):
        return int(Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[1])
    return 0


def _writes(pid: int, name: str) -> bool:
    """Only its end for writing counts: a process that is just being started has a copy of all that we have open."""
    with suppress(OSError):
        for handle in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(OSError):
                if str(handle.readlink()) == name and handle.lstat().st_mode & _WRITING:
                    return True
    return False
