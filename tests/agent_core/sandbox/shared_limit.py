"""The limit of a user's processes, by which tests of one user disturb each other where all are counted together."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agent_core.file_lock import file_locked

BOMB = 30
"""Processes that a fork bomb in a test may make. Other programs may make 256, so enough is left to them meanwhile."""


@contextmanager
def only_bomb() -> Iterator[None]:
    """Wait until no other test of this user has a fork bomb, and keep it so while the context is open."""
    with file_locked(Path(tempfile.gettempdir(), f"parley-tests-{os.getuid()}", "bomb")):
        yield


def counted_with_it() -> int:
    """Return the number of threads that count towards a program's process limit: all of an ordinary user, none of root.

    Threads that other tests start or end meanwhile change it.
    """
    if os.geteuid() == 0:
        return 0
    return sum(map(_our_threads, Path("/proc").iterdir()))


def _our_threads(entry: Path) -> int:
    try:
        is_ours = entry.name.isdigit() and entry.stat().st_uid == os.getuid()
        return len(list((entry / "task").iterdir())) if is_ours else 0
    except OSError:  # it has ended
        return 0
