"""`with` blocks whose failure is logged and stops nothing else: Parley's own work, and callbacks of callers."""

from types import TracebackType
from typing import Self

import structlog

log = structlog.get_logger(__name__)


class Contained:
    """Logs an exception of the body as `event` and continues after the block; cancellation passes through."""

    def __init__(self, event: str, **names: str) -> None:
        """Set the text of the log entry, and what it names: the body or its owner."""
        self._event = event
        self._names = names
        self.error: Exception | None = None
        """The exception that the body raised, after the block."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if not isinstance(error, Exception):
            return False
        self.error = error
        log.error(self._event, **self._names, exc_info=(type(error), error, trace))
        return True


class Bulkhead(Contained):
    """`with Bulkhead("firing") as bulkhead:` contains an exception of Parley's own code.

    For other people's code there is `log_errors`. The caller must check `error`, and report it or try again.
    """

    def __init__(self, name: str) -> None:
        super().__init__("a mistake of ours", name=name)


def log_errors(name: str) -> Contained:
    """Contain and log an exception of a callback that a caller passed in: `with log_errors("listener"):`."""
    return Contained("a callback failed", name=name)
