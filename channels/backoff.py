"""Waits between tries, which grow while nothing succeeds."""

import asyncio
import logging
import random
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from channels.base import ChannelError

T = TypeVar("T")
log = logging.getLogger(__name__)

FIRST_WAIT = 0.5
LONGEST_WAIT = 3.0
"""Seconds: short enough to be back within 5 s of the network."""


class Backoff:
    """Waits that double, with jitter, until something succeeds."""

    def __init__(self) -> None:
        self._next = FIRST_WAIT
        self._failing_since: float | None = None

    def failed(self, what: str) -> None:
        """Tell it, the first time as a warning: an outage of an hour is one line, not a thousand."""
        log.log(logging.WARNING if self._failing_since is None else logging.DEBUG, "%s", what)
        self._failing_since = self._failing_since or time.monotonic()

    def succeeded(self, what: str) -> None:
        """Begin anew with short waits, and tell it where a failure was told."""
        if self._failing_since is not None:
            log.info("%s after %.0f s", what, time.monotonic() - self._failing_since)
        self._failing_since = None
        self._next = FIRST_WAIT

    def seconds(self, at_least: float = 0.0) -> float:
        """How long to wait this time: never shorter than asked for, nor much longer, however long that is."""
        jitter = self._next * random.uniform(0.0, 0.3)  # noqa: S311
        seconds = max(at_least, self._next) + jitter
        self._next = min(2 * self._next, LONGEST_WAIT)
        return seconds

    async def wait(self, at_least: float = 0.0) -> None:
        await asyncio.sleep(self.seconds(at_least))


async def until_answered(platform: str, ask: Callable[[], Awaitable[T]]) -> T:
    """The first answer of a platform that may be away at first. Raises ChannelError for what waiting does not mend."""
    backoff = Backoff()
    while True:
        try:
            answer = await ask()
        except ChannelError as error:
            if error.permanent:
                raise
            backoff.failed(f"{platform} does not answer: {error.reason}")
            await backoff.wait(error.retry_after or 0.0)
        else:
            backoff.succeeded(f"{platform} answers")
            return answer
