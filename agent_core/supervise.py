"""Supervision of work that must never end: it is restarted after a pause when it fails."""

from collections.abc import Awaitable, Callable

import structlog

from agent_core.clock import Clock
from agent_core.log_errors import Bulkhead, Contained

FIRST_PAUSE = 1.0
LONGEST_PAUSE = 60.0
"""Seconds before failed work is restarted; the pause doubles while it keeps failing."""
STEADY = 300.0
"""Seconds of work after which a failure counts as a new one."""

Failed = Callable[[str, Exception], None]

log = structlog.get_logger(__name__)


def _tell_nobody(_name: str, _error: Exception) -> None:
    """Ignore the failure; it is in the log."""


async def supervise(
    name: str,
    work: Callable[[], Awaitable[None]],
    clock: Clock,
    *,
    told: Failed = _tell_nobody,
    fatal: tuple[type[Exception], ...] = (),
    contained: Callable[[], Contained] | None = None,
) -> None:
    """Run `work` until it returns or is cancelled, and restart it each time it fails.

    `told` is called for the first failure of a series. Exceptions in `fatal`, which no restart can cure, are raised.
    `contained` logs what fails; None: it is a mistake of ours.
    """
    pause, failing = FIRST_PAUSE, False
    while True:
        began = clock.monotonic()
        stopped_by: Exception | None = None
        with contained() if contained else Bulkhead(name) as bulkhead:
            try:
                return await work()
            except fatal as error:
                stopped_by = error
        if stopped_by is not None:
            raise stopped_by
        if bulkhead.error is None:
            return None
        if clock.monotonic() - began > STEADY:
            pause, failing = FIRST_PAUSE, False
        log.warning("work that must not end is started again", work=name, seconds=pause)
        if not failing:
            told(name, bulkhead.error)
        failing = True
        await clock.sleep(pause)
        pause = min(2 * pause, LONGEST_PAUSE)
