"""Memory of the calls that a platform refused, and until when no call of the same kind is made."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from channels.base import ChannelError

MOST = 10_000
"""Number of kinds above which expired ones are forgotten."""


class Holds:
    """Waiting times by kind of call. Cosmetic calls count too: platforms extend the wait of a client that keeps
    calling."""

    def __init__(self) -> None:
        self._until: dict[str, float] = {}

    @contextmanager
    def kept(self, kind: str) -> Iterator[None]:
        """Wrap one call. Raises ChannelError with `retry_after` instead of making it while an earlier wait is not
        over."""
        left = self._until.get(kind, 0.0) - time.monotonic()
        if left > 0:
            raise ChannelError(f"not called before the platform's wait is over ({kind})", retry_after=left)
        try:
            yield
        except ChannelError as error:
            if error.retry_after is not None:
                self._note(kind, error.retry_after)
            raise

    def _note(self, kind: str, seconds: float) -> None:
        now = time.monotonic()
        if len(self._until) >= MOST:
            self._until = {each: until for each, until in self._until.items() if until > now}
        self._until[kind] = max(self._until.get(kind, 0.0), now + seconds)
