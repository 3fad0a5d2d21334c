"""How many messages one person may send: ten at once, then ten a minute (S2-42, D-18)."""

from dataclasses import dataclass

from agent_core.clock import Clock

BURST = 10
PER_SECOND = 10 / 60
REMEMBERED = 10_000
"""People; beyond that the oldest are forgotten, which only does them good."""


@dataclass
class _Bucket:
    tokens: float
    filled_at: float
    told: bool = False


class RateLimit:
    """One bucket a person."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._people: dict[str, _Bucket] = {}

    def take(self, person: str) -> int:
        """Count one message: 0 where it may pass, else the seconds until the next may."""
        now = self._clock.monotonic()
        bucket = self._people.setdefault(person, _Bucket(BURST, now))
        bucket.tokens = min(BURST, bucket.tokens + (now - bucket.filled_at) * PER_SECOND)
        bucket.filled_at = now
        if len(self._people) > REMEMBERED:
            del self._people[next(iter(self._people))]
        if bucket.tokens >= 1:
            bucket.tokens -= 1
            bucket.told = False
            return 0
        return round((1 - bucket.tokens) / PER_SECOND) + 1

    def give_back(self, person: str) -> None:
        """The message was not taken in after all."""
        if bucket := self._people.get(person):
            bucket.tokens = min(BURST, bucket.tokens + 1)

    def tell(self, person: str) -> bool:
        """Whether the person is still to be told; True once until a message passes again."""
        bucket = self._people[person]
        told, bucket.told = bucket.told, True
        return not told
