"""`with` blocks whose failure is logged and stops nothing else: Parley's own work, and callbacks of callers."""

from functools import partial
from types import TracebackType
from typing import Self

import structlog

log = structlog.get_logger(__name__)


class Contained:
    """Logs an exception of the body as `event` and continues after the block; cancellation passes through."""

    def __init__(self, name: str, event: str) -> None:
        """Set the name of the body or of its owner, and the text of the log entry."""
        self._name = name
        self._event = event
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
        log.error(self._event, name=self._name, exc_info=(type(error), error, trace))
        return True


class Bulkhead(Contained):
    """`with Bulkhead("firing") as bulkhead:` contains an exception of Parley's own code.

    For other people's code there is `log_errors`. The caller must check `error`, and report it or try again.
    """

    def __init__(self, name: str) -> None:
        super().__init__(name, "a mistake of ours")


log_errors = partial(Contained, event="a callback failed")
"""`with log_errors("listener"):` contains and logs an exception of a callback that a caller passed in."""
