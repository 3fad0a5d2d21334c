"""How often a chat may be written to: a short burst, then a steady pace; nothing while a platform says wait."""

import asyncio
from contextlib import AsyncExitStack
from dataclasses import dataclass

from agent_core.clock import Clock
from channels.base import Channel, ChatKey, Limits

REMEMBERED = 1_000
"""Chats; with more, those that have rested are forgotten."""
MOMENT = 1e-6
"""Seconds; less is rounding."""
STEP_BACK = 1.0
"""Seconds for which a call that matters less stays away where all chats together are too many."""
BURST_OF_EDITS = 0.2
"""The share of a minute's edits that may be made at once; the rest is spread, so that no minute has more than all."""

Place = tuple[str, str, str, str | None]
"""What a platform counts together."""


@dataclass
class _Bucket:
    most: float
    every: float
    """Seconds until there is another token; 0 is without a pace."""
    filled_at: float
    tokens: float
    held_until: float = 0.0

    def fill(self, now: float) -> None:
        gained = (now - self.filled_at) / self.every if self.every else self.most
        self.tokens = min(self.most, self.tokens + gained)
        self.filled_at = now

    def delay(self, calls: float, now: float) -> float:
        """Seconds until so many calls may be made."""
        self.fill(now)
        return _rounded(max((calls - self.tokens) * self.every, self.held_until - now, 0.0))

    def hold(self, until: float) -> None:
        self.held_until = max(self.held_until, until)


class _Crowd:
    """The calls of all chats together."""

    def __init__(self, *, per_second: float, burst: float, clock: Clock) -> None:
        self._clock = clock
        self._bucket = _Bucket(most=burst, every=1 / per_second, filled_at=clock.monotonic(), tokens=burst)
        self._waiting = 0
        self._promised = 0
        """Calls that were decided on and do not stand in line yet."""
        self.line = asyncio.Lock()
        """Only its holder waits for the pace: a thousand that did would wake at each call."""
        self.side_line = asyncio.Lock()
        """Only its holder stands in the line, of those for whom nobody waits."""

    @property
    def is_crowded(self) -> bool:
        """Whether what matters less should stay away: somebody waits, or half of the burst is gone."""
        return self.line.locked() or self.delay(1 + self._bucket.most / 2) > 0

    @property
    def queue(self) -> float:
        """Seconds that a call waits which is decided on now."""
        return self.delay(1 + max(self._waiting, self._promised))

    def promise(self) -> None:
        self._promised += 1

    def kept(self) -> None:
        """A call was made that was promised, or one that an earlier life had decided on."""
        self._promised = max(0, self._promised - 1)

    def delay(self, calls: float = 1) -> float:
        """Seconds until so many calls may be made."""
        return self._bucket.delay(calls, self._clock.monotonic())

    def hold(self, seconds: float) -> None:
        self._bucket.hold(self._clock.monotonic() + seconds)

    def take(self) -> None:
        self._bucket.tokens -= 1

    async def wait(self) -> None:
        """Return when a call may be made. To be called by the holder of the line."""
        while (delay := self.delay()) > 0:
            await self._clock.sleep(delay)

    async def __aenter__(self) -> None:
        self._waiting += 1
        try:
            await self.line.acquire()
        except asyncio.CancelledError:
            self._waiting -= 1
            raise

    async def __aexit__(self, *_: object) -> None:
        self._waiting -= 1
        self.line.release()


class ChatLimiter:
    """Counts the calls to each chat of one channel, and those of all chats together where the platform does."""

    def __init__(self, channel: Channel, clock: Clock) -> None:
        self._channel = channel
        self._clock = clock
        self._chats: dict[Place, _Bucket] = {}
        self._sweep_at = REMEMBERED
        limits = channel.limits
        self._all = _Crowd(per_second=limits.calls_per_second, burst=limits.calls_per_second, clock=clock)
        self._edits = _edits(limits, clock)

    def delay(self, chat: ChatKey, *, keep: int = 0, edit: bool = False) -> float:
        """Seconds until the chat may be written to and `keep` calls remain for what matters more; 0 = now."""
        crowds = [crowd.delay() if not (keep and crowd.is_crowded) else STEP_BACK for crowd in self._crowds(edit=edit)]
        return max(self._chat_delay(chat, keep), *crowds)

    def edit_queue(self) -> float:
        """Seconds that an edit would wait by now for those of other chats."""
        return self._edits.queue if self._edits else 0.0

    def promise_edit(self) -> None:
        """An edit was decided on, and is soon waited for: a hundred that decide at once must know of each other."""
        if self._edits:
            self._edits.promise()

    def take(self, chat: ChatKey, *, edit: bool = False) -> None:
        """A call is made now."""
        self._bucket(chat).tokens -= 1
        for crowd in self._crowds(edit=edit):
            crowd.take()

    async def wait(self, chat: ChatKey, *, edit: bool = False, yields: bool = False) -> None:
        """Return when the chat may be written to, with the call counted; where all chats together are too many, first
        come, first served. `yields`: nobody waits for it; however many of these there are, one at a time is in others'
        way."""
        while True:
            while (delay := self._chat_delay(chat)) > 0:
                await self._clock.sleep(delay)
            async with AsyncExitStack() as lines:
                if yields:
                    await lines.enter_async_context(self._all.side_line)
                for crowd in self._crowds(edit=edit):
                    await lines.enter_async_context(crowd)
                    await crowd.wait()
                if not self._chat_delay(chat):  # it may have been told to wait while it stood in line
                    self.take(chat, edit=edit)
                    if edit and self._edits:
                        self._edits.kept()
                    return

    def hold(self, chat: ChatKey, seconds: float, *, edit: bool = False) -> None:
        """Leave this chat alone for so long. `edit`: the platform refused an edit and said how long. Where it counts
        edits over all chats, those of all chats rest then, and nothing else does."""
        if edit and self._edits:
            self._edits.hold(seconds)
            return
        self._bucket(chat).hold(self._clock.monotonic() + seconds)

    def is_held(self, chat: ChatKey) -> bool:
        """Whether the platform told us to leave this chat alone."""
        bucket = self._chats.get(self._place(chat))
        return bucket is not None and bucket.held_until > self._clock.monotonic()

    def _crowds(self, *, edit: bool) -> tuple[_Crowd, ...]:
        return (self._edits, self._all) if edit and self._edits else (self._all,)

    def _chat_delay(self, chat: ChatKey, keep: int = 0) -> float:
        return self._bucket(chat).delay(1 + keep, self._clock.monotonic())

    def _place(self, chat: ChatKey) -> Place:
        thread = None if self._channel.limits.threads_share_pace else chat.thread
        return chat.platform, chat.account, chat.chat, thread

    def _every(self, chat: ChatKey) -> float:
        limits = self._channel.limits
        every = limits.edit_every_in_groups if self._channel.is_group(chat) else limits.edit_every
        return every.total_seconds()

    def _bucket(self, chat: ChatKey) -> _Bucket:
        now, burst = self._clock.monotonic(), self._channel.limits.burst
        if len(self._chats) >= self._sweep_at:
            self._forget_rested(now)
        new = _Bucket(most=burst, every=self._every(chat), filled_at=now, tokens=burst)
        return self._chats.setdefault(self._place(chat), new)

    def _forget_rested(self, now: float) -> None:
        """A bucket that would be full by now is like a new one."""
        self._chats = {place: bucket for place, bucket in self._chats.items() if bucket.delay(bucket.most, now) > 0}
        self._sweep_at = max(REMEMBERED, 2 * len(self._chats))


def _edits(limits: Limits, clock: Clock) -> _Crowd | None:
    if limits.edits_per_minute is None:
        return None
    burst = BURST_OF_EDITS * limits.edits_per_minute
    return _Crowd(per_second=(limits.edits_per_minute - burst) / 60, burst=burst, clock=clock)


def _rounded(delay: float) -> float:
    return delay if delay > MOMENT else 0.0
