"""A limit for what a test computes, on any machine and beside any load."""

import gc
import time
from collections.abc import Iterator
from contextlib import contextmanager


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
