"""The border to callbacks that others hand in: their failure is logged and stops nobody else."""

from types import TracebackType

import structlog

log = structlog.get_logger(__name__)


class Guest:
    """`with Guest("listener"):` swallows and logs what the body raises; cancellation passes (S2-32, C-33)."""

    def __init__(self, role: str) -> None:
        self._role = role
        self.error: Exception | None = None
        """What the body raised, once it has ended."""

    def __enter__(self) -> "Guest":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if not isinstance(error, Exception):
            return False
        self.error = error
        log.error("a guest failed", role=self._role, exc_info=(type(error), error, trace))
        return True
