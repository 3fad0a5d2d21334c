"""Leaves out warnings that say again what has just been said, as each part does that meets the same trouble."""

from collections import OrderedDict
from collections.abc import Callable

import structlog
from msgspec import Struct
from structlog.typing import EventDict, WrappedLogger

EVERY = 60.0
"""Seconds in which the same warning is written once."""
MOST = 200
"""Warnings that are remembered."""


class _Written(Struct):
    at: float
    left_out: int = 0


class Repeated:
    """Drops a warning with the same event and values as one of the last minute; the next one says how many it was."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._written: OrderedDict[str, _Written] = OrderedDict()

    def __call__(self, _: WrappedLogger, method: str, event: EventDict) -> EventDict:
        if method != "warning" or "exc_info" in event:
            return event
        said, now = repr(sorted(event.items())), self._now()
        before = self._written.get(said)
        if before is not None and now - before.at < EVERY:
            before.left_out += 1
            raise structlog.DropEvent
        self._written[said] = _Written(now)
        self._written.move_to_end(said)
        if len(self._written) > MOST:
            self._written.popitem(last=False)
        return {**event, "repeated": before.left_out} if before is not None and before.left_out else event
