"""File handles, which a start, runs and commands need to read and write files, to connect and to start programs."""

import codecs
import os
import resource
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeVar

import structlog

from agent_core.clock import Clock
from agent_core.file_handles import lacks_handles
from gateway.errors import ParleyError

USUAL = 1_024
"""The limit on open files that a start asks for, where it is lower and may be raised."""
AT_START = 26
"""Handles of a start that fails nowhere."""
NEEDED = 12
"""Handles of a run with a program in its sandbox."""
LOOK_EVERY = 1.0
"""Seconds."""
FIRST_WAIT, LONGEST_WAIT = 30.0, 600.0
"""Seconds after which a run tries with fewer handles, as it may need less than others; doubling."""
MOST_TRIES = 5
"""Tries of a run that found as many handles each time, and still too few: it fails for another reason."""

CODECS = "ascii", "idna", "utf-8-sig", "utf-16-be", "utf-16-le"
"""Codecs that read and mask the text of events; Python imports each at its first use, which takes a handle."""

log = structlog.get_logger(__name__)

T = TypeVar("T")


class Handles:
    """Lets work wait that failed for want of a handle: runs, or what a command or another event asks for."""

    def __init__(self, clock: Clock, what: str = "a run") -> None:
        """`what` names the work in the log."""
        self._clock = clock
        self._what = what
        self._waits: Counter[str] = Counter()
        self._tries: Counter[str] = Counter()
        """Both by the ids of the work."""

    async def until_done(self, work: str, do: Callable[[], Awaitable[T]]) -> T:
        """Do what the next process could do again, too, and again each time it failed for want of a handle."""
        try:
            while True:
                try:
                    return await do()
                except Exception as error:
                    if not await self.awaited(work, error):
                        raise
        finally:
            self.over(work)

    async def awaited(self, work: str, error: Exception) -> bool:
        """Wait until there are handles, if those are what the work lacked. Return False if it failed otherwise."""
        if not lacks_handles(error) or self._tries[work] == MOST_TRIES:
            return False
        log.warning(f"{self._what} waits for file handles", id=work, fix="raise the limit on open files (ulimit -n)")
        until = self._clock.monotonic() + min(FIRST_WAIT * 2 ** self._waits[work], LONGEST_WAIT)
        self._waits[work] += 1
        while not (are_free := _are_free(NEEDED)) and self._clock.monotonic() < until:
            await self._clock.sleep(LOOK_EVERY)
        self._tries[work] += are_free
        return True

    def over(self, work: str) -> None:
        """Forget some work."""
        self._waits.pop(work, None)
        self._tries.pop(work, None)


def check_at_start() -> None:
    """Raise the limit on open files to the usual one, if that is allowed, and open what events need later.

    Raises ParleyError if there are too few.
    """
    limit, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = USUAL if most == resource.RLIM_INFINITY else min(USUAL, most)
    if limit != resource.RLIM_INFINITY and limit < wanted:
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))
    if not _are_free(AT_START):
        raise ParleyError(
            f"Parley may open too few files at a time: the limit is {max(limit, wanted)}, and {USUAL} is usual. "
            f"Raise it (ulimit -n {USUAL}, or LimitNOFILE={USUAL} for a service of systemd), then start it again."
        )
    for name in CODECS:
        codecs.lookup(name)


def _are_free(count: int) -> bool:
    held: list[int] = []
    try:
        while len(held) < count:
            held.append(os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC))
    except OSError:
        return False
    finally:
        for handle in held:
            os.close(handle)
    return True
