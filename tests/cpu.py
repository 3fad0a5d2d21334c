"""Limits for what a test computes and waits for, on any machine and beside any load."""

import gc
import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

PRESSURE = Path("/proc/pressure/cpu")
"""The file in which Linux tells for how long programs have waited for a CPU."""


TRIES = 12
TICK = 1e-6
"""CPU seconds of what no clock can measure."""


@contextmanager
def cpu_seconds_at_most(most: float) -> Iterator[None]:
    """Fails if the block takes more CPU time of this thread."""
    with _measured() as spent:
        yield
    assert spent[0] <= most, f"{spent[0]:.3f} s"


def cpu_seconds(work: Callable[[], object]) -> float:
    """Return the CPU time that this takes this thread."""
    with _measured() as spent:
        work()
    return spent[0]


def growth(short: Callable[[], object], long: Callable[[], object], *, times: int, most: float) -> float:
    """Return how much longer the long work takes, which is so many `times` the short one, tried until it is `most`.

    A moment in which a busy machine leaves a short run alone is found sooner than one that is long enough for a long
    run. So the short one is repeated until both take about as long, and the quickest of several tries counts.
    """
    if (grown := cpu_seconds(long) / max(cpu_seconds(short), TICK)) <= most:
        return grown
    least, longest = math.inf, math.inf
    for _ in range(TRIES):
        least = min(least, sum(cpu_seconds(short) for _ in range(times)) / times)
        longest = min(longest, cpu_seconds(long))
        if longest <= most * least:
            break
    return longest / max(least, TICK)


@contextmanager
def _measured() -> Iterator[list[float]]:
    """Yield a list that holds the CPU time of this thread afterwards. Others' and the garbage collector's does not
    count: it depends on what else the process holds."""
    spent = list[float]()
    gc.disable()
    try:
        began = time.thread_time()
        yield spent
        spent.append(time.thread_time() - began)
    finally:
        gc.enable()


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
