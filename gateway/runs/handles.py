"""File handles, which a start and each run need to read and write files, to connect and to start programs."""

import os
import resource
from collections import Counter
from contextlib import suppress

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

log = structlog.get_logger(__name__)


class Handles:
    """Lets runs wait that failed for want of a handle."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._waits: Counter[str] = Counter()
        self._tries: Counter[str] = Counter()
        """Both by the ids of the runs."""

    async def awaited(self, run: str, error: Exception) -> bool:
        """Wait until there are handles, if those are what the run lacked. Return False if it failed otherwise."""
        if not lacks_handles(error) or self._tries[run] == MOST_TRIES:
            return False
        log.warning("a run waits for file handles", run=run, fix="raise the limit on open files (ulimit -n)")
        until = self._clock.monotonic() + min(FIRST_WAIT * 2 ** self._waits[run], LONGEST_WAIT)
        self._waits[run] += 1
        while not (are_free := _are_free(NEEDED)) and self._clock.monotonic() < until:
            await self._clock.sleep(LOOK_EVERY)
        self._tries[run] += are_free
        return True

    def over(self, run: str) -> None:
        """Forget a run."""
        self._waits.pop(run, None)
        self._tries.pop(run, None)


def check_at_start() -> None:
    """Raise the limit on open files to the usual one, if that is allowed. Raises ParleyError if there are too few."""
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
