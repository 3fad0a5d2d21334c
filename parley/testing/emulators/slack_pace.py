"""Slack's rate limits, and calls that ignore them.

The rules (docs.slack.dev/apis/web-api/rate-limits): a tier allows a number of calls of a method per minute and
workspace, with some burst; posting is about one message per second and channel, with short bursts. The burst sizes are
undocumented; here a tier takes 20 at once and a channel 3.
"""

import math
from dataclasses import dataclass, field

from parley.testing.emulators.buckets import Bucket
from parley.testing.emulators.slack_wire import RateLimited

EARLY = 0.01
"""Tolerance for clocks: a client that waited as told may come this much early, in seconds."""
NEWS_TRAVELS = 1.0
"""Time in seconds after a workspace-wide limit in which calls do not count as violations, as they were sent before the
client could know."""
BURST = 20
TIER_2, TIER_3, TIER_4 = 20 / 60, 50 / 60, 100 / 60
TIERS = {
    "chat.update": TIER_3,
    "chat.delete": TIER_3,
    "chat.postEphemeral": TIER_4,
    "chat.startStream": TIER_2,
    "chat.appendStream": TIER_4,
    "chat.stopStream": TIER_2,
    "conversations.info": TIER_3,
    "conversations.list": TIER_2,
    "conversations.history": TIER_3,
    "conversations.replies": TIER_3,
    "conversations.open": TIER_3,
    "conversations.members": TIER_4,
    "users.info": TIER_4,
    "bots.info": TIER_3,
    "team.info": TIER_3,
    "reactions.add": TIER_3,
    "reactions.remove": TIER_2,
    "views.open": TIER_4,
    "views.update": TIER_4,
    "views.publish": TIER_4,
    "files.getUploadURLExternal": TIER_4,
    "files.completeUploadExternal": TIER_4,
    "files.info": TIER_4,
    "agents.sessions.setStatus": TIER_3,
    "agents.sessions.rename": TIER_3,
    "assistant.threads.setStatus": 600 / 60,
    "assistant.threads.setTitle": TIER_4,
    "assistant.threads.setSuggestedPrompts": TIER_4,
}

Counted = tuple[str, str]
"""A method, with the channel if it is limited per channel."""


@dataclass
class Pace:
    """Rate limits. With `on = False` only windows opened by faults apply."""

    on: bool = True
    quickness: float = 1.0
    """Seconds of the limits that pass in a second of the clock, for clients whose clock is quick as well."""
    calls_in_window: int = 0
    """Calls made before the time that Slack had named; a correct client makes none."""
    _windows: dict[Counted, float] = field(default_factory=dict)
    _told: dict[Counted, float] = field(default_factory=dict)
    """Start of each window."""
    _buckets: dict[Counted, Bucket] = field(default_factory=dict)

    def forget(self) -> None:
        """Forget all calls and windows, as after minutes without calls."""
        self._windows.clear()
        self._told.clear()
        self._buckets.clear()

    def counted(self, method: str, channel: str) -> Counted:
        return (method, channel) if method == "chat.postMessage" else (method, "")

    def open_window(self, what: Counted, seconds: float, now: float) -> None:
        if self._left(what, now) <= 0:
            self._told[what] = now
        self._windows[what] = max(self._windows.get(what, 0.0), now * self.quickness + seconds)

    def note(self, what: Counted, now: float) -> None:
        """Count a call that comes inside a window."""
        _, channel = what
        known_from = self._told.get(what, 0.0) + (0.0 if channel else NEWS_TRAVELS)
        if self._left(what, now) > 0 and now >= known_from:
            self.calls_in_window += 1

    def check(self, what: Counted, now: float) -> None:
        """Count the call, or raise RateLimited."""
        left = self._left(what, now)
        if left > 0:
            raise RateLimited(math.ceil(left))
        bucket = self._bucket(what) if self.on else None
        if bucket is None:
            return
        wait = bucket.wait(now * self.quickness)
        if wait > 0:
            seconds = max(1, math.ceil(wait))
            self.open_window(what, seconds, now)
            raise RateLimited(seconds)
        bucket.take()

    def _left(self, what: Counted, now: float) -> float:
        until = self._windows.get(what)
        return 0.0 if until is None else until - EARLY - now * self.quickness

    def _bucket(self, what: Counted) -> Bucket | None:
        method = what[0]
        if method != "chat.postMessage" and method not in TIERS:
            return None
        if what not in self._buckets:
            self._buckets[what] = Bucket(3, 1) if method == "chat.postMessage" else Bucket(BURST, TIERS[method])
        return self._buckets[what]
