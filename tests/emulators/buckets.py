"""The pace that a platform allows, as tokens that refill. A quarter of a call is forgiven, so that a client that keeps
exactly the allowed pace is not punished for the jitter of the line.
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
        """Seconds until a call would pass; 0 if it passes now."""
        self.level = min(self.capacity, self.level + (now - self.at) * self.per_second)
        self.at = now
        return max(0.0, (1 - FORGIVEN - self.level) / self.per_second)

    def take(self) -> None:
        self.level -= 1
