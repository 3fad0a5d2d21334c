"""The reach of a platform from this machine, which others may reach meanwhile."""

import time

CUT_OFF_AFTER = 10.0
"""Seconds of failures in a row after which a platform counts as out of reach. Channels try again after 3 s at most, so
at least three tries have failed by then, and a break that is over sooner would cost less than to pass the work on."""


class Reach:
    """Notes which calls were answered, by a refusal too, and which came to nobody.

    A platform may be reached in several ways, such as calls and a socket; all of them have to work.
    """

    def __init__(self) -> None:
        self._failures: dict[str, tuple[float, float]] = {}
        """The times of the first and of the last failure since the last answer, by way."""

    def answered(self, way: str = "calls") -> None:
        """Note that a call was answered."""
        self._failures.pop(way, None)

    def failed(self, way: str = "calls") -> None:
        """Note that a call came to nobody."""
        now = time.monotonic()
        since, _ = self._failures.get(way, (now, now))
        self._failures[way] = since, now

    def is_failing(self, way: str | None = None) -> bool:
        """Return True if the last try came to nobody, by this way or by any."""
        return bool(self._failures) if way is None else way in self._failures

    @property
    def is_cut_off(self) -> bool:
        """True if all tries by some way have failed for a while."""
        return any(last - since >= CUT_OFF_AFTER for since, last in self._failures.values())
