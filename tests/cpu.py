"""Limits for what a test computes and waits for, on any machine and beside any load."""

import gc
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PRESSURE = Path("/proc/pressure/cpu")
"""The file in which Linux tells for how long programs have waited for a CPU."""


@contextmanager
def cpu_seconds_at_most(most: float) -> Iterator[None]:
    """Fails if the block takes more CPU time of this thread. Others' and the garbage collector's does not count: it
    depends on what else the process holds."""
    gc.disable()
    try:
        began = time.thread_time()
        yield
        spent = time.thread_time() - began
    finally:
        gc.enable()
    assert spent <= most, f"{spent:.3f} s"


class Stopwatch:
    """Measures for how long something takes several programs, without the time in which any program waits for a CPU."""

    def __init__(self) -> None:
        self._began, self._waited = time.monotonic(), _waited()

    @property
    def seconds(self) -> float:
        """Seconds since this was created. Where the system tells of no waits, they count."""
        return time.monotonic() - self._began - (_waited() - self._waited)


def _waited() -> float:
    """Return the seconds since the start of the machine in which some program waited for a CPU."""
    try:
        some = PRESSURE.read_text().splitlines()[0]
    except OSError:
        return 0.0
    return int(some.rpartition("total=")[2]) / 1e6
