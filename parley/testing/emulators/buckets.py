"""Rate limits of a platform as tokens that refill.

A quarter of a call is forgiven, so that a client at exactly the allowed rate is not punished for jitter.
"""

import math
from dataclasses import dataclass

FORGIVEN = 0.25


@dataclass
class Bucket:
    """Tokens that refill; a call takes one."""

    capacity: float
    per_second: float
    level: float = math.inf
    at: float = 0.0

    def wait(self, now: float) -> float:
        """Return the seconds until a call would pass, or 0."""
        self.level = min(self.capacity, self.level + (now - self.at) * self.per_second)
        self.at = now
        return max(0.0, (1 - FORGIVEN - self.level) / self.per_second)

    def take(self) -> None:
        self.level -= 1
