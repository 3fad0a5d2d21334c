"""Slack's rate limits: who is told to wait, and who calls on regardless.

The rules (docs.slack.dev/apis/web-api/rate-limits): tiers allow so many calls of a method a minute in a workspace, with
some burst; posting is about one message a second in a channel, with short bursts. How much burst is said nowhere; here
a tier takes 20 at once, a channel 3.
"""

import math
from dataclasses import dataclass, field

from tests.emulators.buckets import Bucket
from tests.emulators.slack_wire import RateLimited

EARLY = 0.01
"""A client that waited as told may come this much early by its own clock."""
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
    "assistant.threads.setStatus": 600 / 60,
    "assistant.threads.setTitle": TIER_4,
    "assistant.threads.setSuggestedPrompts": TIER_4,
}

Counted = tuple[str, str]
"""The method, and the channel where it is counted by channel."""


@dataclass
class Pace:
    """Off (`on = False`) it limits nothing by itself; a window that a fault opened holds all the same."""

    on: bool = True
    calls_in_window: int = 0
    """Calls that were made although Slack had said when to come back: a well-behaved client makes none."""
    _windows: dict[Counted, float] = field(default_factory=dict)
    _buckets: dict[Counted, Bucket] = field(default_factory=dict)

    def counted(self, method: str, channel: str) -> Counted:
        return (method, channel) if method == "chat.postMessage" else (method, "")

    def open_window(self, what: Counted, seconds: float, now: float) -> None:
        self._windows[what] = max(self._windows.get(what, 0.0), now + seconds)

    def note(self, what: Counted, now: float) -> None:
        """Count the call when it comes inside a window."""
        if self._left(what, now) > 0:
            self.calls_in_window += 1

    def check(self, what: Counted, now: float) -> None:
        """Let the call pass, counted, or raise RateLimited."""
        left = self._left(what, now)
        if left > 0:
            raise RateLimited(math.ceil(left))
        bucket = self._bucket(what) if self.on else None
        if bucket is None:
            return
        wait = bucket.wait(now)
        if wait > 0:
            seconds = max(1, math.ceil(wait))
            self.open_window(what, seconds, now)
            raise RateLimited(seconds)
        bucket.take()

    def _left(self, what: Counted, now: float) -> float:
        until = self._windows.get(what)
        return 0.0 if until is None else until - EARLY - now

    def _bucket(self, what: Counted) -> Bucket | None:
        method = what[0]
        if method != "chat.postMessage" and method not in TIERS:
            return None
        if what not in self._buckets:
            self._buckets[what] = Bucket(3, 1) if method == "chat.postMessage" else Bucket(BURST, TIERS[method])
        return self._buckets[what]
