"""Waits between calls: exponential backoff, and the waits that a platform asks for."""

import asyncio
import logging
import random
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from channels.base import ChannelError

log = logging.getLogger(__name__)

T = TypeVar("T")
FIRST_WAIT = 0.5
LONGEST_WAIT = 3.0
"""Upper limit in seconds, so that a channel is back within 5 s of the network."""
LONGEST_HOLD = 5.0
"""Longest wait in seconds before a replacement for a refused call."""
EARLY = 0.005
"""Seconds by which a timer of an event loop may fire early; a call takes longer than that to reach the platform."""
MOST = 10_000
"""Number of kinds above which expired ones are forgotten."""


class Backoff:
    """Waits that double, with jitter, until a call succeeds."""

    def __init__(self) -> None:
        self._next = FIRST_WAIT
        self._failing_since: float | None = None

    @property
    def is_failing(self) -> bool:
        """True from a failure until the next success."""
        return self._failing_since is not None

    def failed(self, what: str) -> None:
        """Log a failure; only the first of an outage is a warning, so that a long one does not fill the log."""
        log.log(logging.WARNING if self._failing_since is None else logging.DEBUG, "%s", what)
        self._failing_since = self._failing_since or time.monotonic()

    def succeeded(self, what: str) -> None:
        """Reset the wait, and log the recovery if a failure was logged."""
        if self._failing_since is not None:
            log.info("%s after %.0f s", what, time.monotonic() - self._failing_since)
        self._failing_since = None
        self._next = FIRST_WAIT

    def seconds(self, at_least: float = 0.0) -> float:
        """Return the next wait in seconds: at least `at_least`, and little more if that is long."""
        jitter = self._next * random.uniform(0.0, 0.3)  # noqa: S311
        seconds = max(at_least, self._next) + jitter
        self._next = min(2 * self._next, LONGEST_WAIT)
        return seconds

    async def wait(self, at_least: float = 0.0) -> None:
        await asyncio.sleep(self.seconds(at_least))


async def replacement_call(make: Callable[[], Awaitable[T]]) -> T:
    """Make a call that replaces one which was just refused. Raises ChannelError.

    A short wait that the platform asks for is spent here: starting over would repeat the refused call each time, and
    that would use up the rate limit of this one.
    """
    try:
        return await make()
    except ChannelError as error:
        if error.retry_after is None or error.retry_after > LONGEST_HOLD:
            raise
        await asyncio.sleep(error.retry_after)
    return await make()


async def until_answered(platform: str, ask: Callable[[], Awaitable[T]]) -> T:
    """Return the platform's first answer, retrying while it is unreachable. Raises permanent ChannelErrors."""
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


class Cooldowns:
    """Waiting times by kind of call. Cosmetic calls count too: platforms extend the wait of a client that keeps
    calling."""

    def __init__(self) -> None:
        self._until: dict[str, float] = {}

    @contextmanager
    def call(self, kind: str) -> Iterator[None]:
        """Wrap one call. Raises ChannelError with `retry_after` instead of making it while an earlier wait is not
        over."""
        left = self._until.get(kind, 0.0) - time.monotonic()
        if left > EARLY:
            raise ChannelError(f"waiting as the platform asked before the next call ({kind})", retry_after=left)
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
