"""Limits how fast requests come, by any key: an address, a webhook, a token."""

from collections.abc import Callable

from msgspec import Struct

MOST_KNOWN = 2_000
"""Keys that are remembered; those used longest ago are forgotten, and have all their room again."""


class _Bucket(Struct):
    room: float
    at: float


class RateLimit:
    """Room for a number of requests at once by key, which comes back within a minute."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._known: dict[str, _Bucket] = {}

    def wait(self, key: str, a_minute: int) -> float:
        """Take room for one request. Returns 0, or the seconds until there is some, and then takes none."""
        now, rate = self._now(), a_minute / 60
        bucket = self._known.pop(key, None) or _Bucket(float(a_minute), now)
        bucket.room = min(float(a_minute), bucket.room + max(0.0, now - bucket.at) * rate)
        bucket.at = now
        self._known[key] = bucket
        if len(self._known) > MOST_KNOWN:
            del self._known[next(iter(self._known))]
        if bucket.room < 1:
            return (1 - bucket.room) / rate
        bucket.room -= 1
        return 0.0
