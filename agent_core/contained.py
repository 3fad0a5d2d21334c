"""A `with` block whose failure is logged and goes no further."""

from types import TracebackType
from typing import Self

import structlog

log = structlog.get_logger(__name__)


class Contained:
    """Logs an exception of the body as `event` and continues after the block; cancellation passes through."""

    event = ""

    def __init__(self, name: str) -> None:
        """Set the name of the body or of its owner, for the log."""
        self._name = name
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
        log.error(self.event, name=self._name, exc_info=(type(error), error, trace))
        return True
