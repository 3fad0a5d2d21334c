"""Telegram's flood control, and calls that ignore it.

The rule (Telegram's bot FAQ): about one message per second in a chat, 20 per minute in a group, 30 per second overall;
edits count. Telegram allows undocumented short bursts. Here a chat takes 3 at once and refills one per second, a group
in addition takes 20 at once and refills 20 per minute, and the bot takes 30 at once and refills 30 per second. Drafts
are typing actions: they count here as well, but one that is refused lets only drafts wait.
"""

import math
from dataclasses import dataclass, field

from parley.testing.emulators.buckets import Bucket

EARLY = 0.01
"""Tolerance for clocks: a client that waited as told may come this much early, in seconds."""


@dataclass
class FloodPolicy:
    """Rate limits. With `on = False` only windows opened by faults apply."""

    on: bool = True
    quickness: float = 1.0
    """Seconds of the limits that pass in a second of the clock, for clients whose clock is quick as well."""
    calls_in_window: int = 0
    """Calls made in chats that had been told to wait; a correct client makes none."""
    _windows: dict[tuple[int, bool], float] = field(default_factory=dict)
    """Ends of the waits by chat, those of drafts apart."""
    _chats: dict[int, list[Bucket]] = field(default_factory=dict)
    _overall: Bucket = field(default_factory=lambda: Bucket(30, 30))

    def open_window(self, chat: int, seconds: float, now: float, *, draft: bool = False) -> None:
        """Refuse all messages and edits in this chat for so many seconds, or its drafts alone."""
        until = self._windows.get((chat, draft), 0.0)
        self._windows[chat, draft] = max(until, now * self.quickness + seconds)

    def note(self, chat: int, now: float, *, draft: bool = False) -> None:
        """Count a call that comes inside a window."""
        if self._left(chat, now, draft=draft) > 0:
            self.calls_in_window += 1

    def refuse(self, chat: int, now: float, *, group: bool, draft: bool = False) -> int | None:
        """Return the wait in whole seconds, or None if the call passes and is counted."""
        left = self._left(chat, now, draft=draft)
        if left > 0:
            return math.ceil(left)
        if not self.on:
            return None
        buckets = [self._overall, *self._of(chat, group=group)]
        wait = max(bucket.wait(now * self.quickness) for bucket in buckets)
        if wait > 0:
            seconds = max(1, math.ceil(wait))
            self.open_window(chat, seconds, now, draft=draft)
            return seconds
        for bucket in buckets:
            bucket.take()
        return None

    def _left(self, chat: int, now: float, *, draft: bool) -> float:
        until = self._windows.get((chat, draft))
        return 0.0 if until is None else until - EARLY - now * self.quickness

    def _of(self, chat: int, *, group: bool) -> list[Bucket]:
        if chat not in self._chats:
            self._chats[chat] = [Bucket(3, 1), Bucket(20, 20 / 60)] if group else [Bucket(3, 1)]
        return self._chats[chat]
