"""`parley chat` in a process in which, on SIGUSR1, everything that can write to a terminal does so.

With the argument `at-once` it does so when the chat begins.
"""

import asyncio
import logging
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable

from gateway.cli import main

SIGN = "NOISE"
"""In all that is written."""


def make_noise(*_: object) -> None:
    """Write in all ways; called by a signal, while the event loop runs."""
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:  # the chat has not begun
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        return
    for way in WAYS:
        way()
    loop.create_task(failing())  # noqa: RUF006 - nobody waits for it
    loop.call_soon_threadsafe(fail, "in a callback")
    threading.Thread(target=fail, args=("in a thread",)).start()
    print(SIGN, "last", flush=True)  # noqa: T201 - the noise


def fail(where: str) -> None:
    raise RuntimeError(f"{SIGN} {where}")


async def failing() -> None:
    fail("in a task")


class Failing:
    def __del__(self) -> None:
        fail("while it is deleted")


WAYS: tuple[Callable[[], object], ...] = (
    lambda: print(SIGN, "printed"),  # noqa: T201 - the noise
    lambda: sys.stderr.write(f"{SIGN} to standard error\n"),
    lambda: os.write(1, f"{SIGN} by a library in C\n".encode()),
    lambda: os.write(2, f"{SIGN} by a library in C, as an error\n".encode()),
    lambda: logging.getLogger("some.library").error("%s logged", SIGN),
    lambda: logging.getLogger("asyncio").warning("%s logged by asyncio", SIGN),
    lambda: warnings.warn(f"{SIGN} as a warning", RuntimeWarning, stacklevel=1),
    lambda: os.system(f"echo {SIGN} by a child; echo {SIGN} by a child, as an error >&2"),  # noqa: S605 - the noise
    Failing,
)

if __name__ == "__main__":
    for each in (signal.SIGUSR1, signal.SIGALRM):
        signal.signal(each, make_noise)
    if "at-once" in sys.argv:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
    sys.exit(main(["chat"]))
