"""Discord's rate limits, and calls that ignore them.

Discord publishes no numbers; clients read them from headers. Those used here are what bots observe: 5 messages, 5 edits
and 5 typing indicators in 5 seconds per channel, a reaction in a quarter of a second, and 50 requests per second over
all, interaction responses excluded.
"""

import hashlib
import math
from dataclasses import dataclass, field

EARLY = 0.01
"""Tolerance for clocks: a client that waited as told may come this much early, in seconds."""
NEWS_TRAVELS = 1.0
"""Time in seconds after a global limit in which calls do not count as violations, as they were sent before the client
could know."""
OVERALL = 50


@dataclass(frozen=True)
class Wait:
    """Content of a 429."""

    seconds: float
    scope: str = "user"


@dataclass
class Window:
    """A number of calls in a period, counted from the first."""

    limit: int
    seconds: float
    began: float = -math.inf
    used: int = 0

    def left(self, now: float) -> float:
        """Return the seconds until the window restarts."""
        return max(0.0, self.began + self.seconds - now)

    def take(self, now: float) -> bool:
        if now >= self.began + self.seconds - EARLY:
            self.began, self.used = now, 0
        self.used += 1
        return self.used <= self.limit


@dataclass
class Pace:
    """Rate limits. With `on = False` only windows opened by faults apply."""

    on: bool = True
    quickness: float = 1.0
    """Seconds of the limits that pass in a second of the clock, for clients whose clock is quick as well."""
    calls_in_window: int = 0
    """Calls made despite being told to wait; a correct client makes none."""
    _windows: dict[str, Window] = field(default_factory=dict)
    _closed: dict[str, float] = field(default_factory=dict)
    _overall: Window = field(default_factory=lambda: Window(OVERALL, 1.0))
    _all_closed: tuple[float, float] = (-math.inf, -math.inf)

    def close(self, key: str, seconds: float, now: float) -> None:
        """Refuse the calls of this bucket for so many seconds."""
        self._closed[key] = max(self._closed.get(key, 0.0), now * self.quickness + seconds)

    def close_all(self, seconds: float, now: float) -> None:
        self._all_closed = (now * self.quickness, now * self.quickness + seconds)

    def refuse(self, key: str | None, limit: tuple[int, float] | None, now: float, *, overall: bool) -> Wait | None:
        """Return the wait, or None if the call passes and is counted. `overall`: it counts towards the global limit."""
        if key is None:
            return None
        passed = now * self.quickness
        shut = self._shut(key, passed, overall=overall)
        if shut is not None or not self.on:
            return shut
        if overall and not self._overall.take(passed):
            left = self._overall.left(passed)
            self.close_all(left, now)
            return Wait(left, "global")
        if limit is None or self._window(key, limit).take(passed):
            return None
        left = self._window(key, limit).left(passed)
        self.close(key, left, now)
        return Wait(left)

    def _shut(self, key: str, now: float, *, overall: bool) -> Wait | None:
        since, until = self._all_closed
        if overall and now < until - EARLY:
            self.calls_in_window += now > since + NEWS_TRAVELS
            return Wait(until - now, "global")
        until = self._closed.get(key, 0.0)
        if now < until - EARLY:
            self.calls_in_window += 1
            return Wait(until - now)
        return None

    def headers(self, key: str | None, limit: tuple[int, float] | None, now: float, wall: float) -> dict[str, str]:
        """Return the rate limit headers of a response; empty for routes without their own limit."""
        if key is None or limit is None or not self.on:
            return {}
        window = self._window(key, limit)
        left = math.ceil(window.left(now * self.quickness) * 1000) / 1000
        return {
            "X-RateLimit-Limit": str(limit[0]),
            "X-RateLimit-Remaining": str(max(0, limit[0] - window.used)),
            "X-RateLimit-Reset": f"{wall + left:.3f}",
            "X-RateLimit-Reset-After": f"{left:.3f}",
            "X-RateLimit-Bucket": hashlib.sha256(key.partition(":")[0].encode()).hexdigest()[:32],
        }

    def _window(self, key: str, limit: tuple[int, float]) -> Window:
        if key not in self._windows:
            self._windows[key] = Window(*limit)
        return self._windows[key]
