"""How often a chat may be written to: a short burst, then a steady pace; nothing while a platform says wait."""

import asyncio
from dataclasses import dataclass

from agent_core.clock import Clock
from channels.base import Channel, ChatKey

REMEMBERED = 1_000
"""Chats; with more, those that have rested are forgotten."""
MOMENT = 1e-6
"""Seconds; less is rounding."""
STEP_BACK = 1.0
"""Seconds for which a call that matters less stays away where all chats together are too many."""


@dataclass
class _Bucket:
    tokens: float
    filled_at: float
    held_until: float = 0.0


class ChatLimiter:
    """Counts the calls to each chat of one channel, and those of all chats together where the platform does."""

    def __init__(self, channel: Channel, clock: Clock) -> None:
        self._channel = channel
        self._clock = clock
        self._chats: dict[ChatKey, _Bucket] = {}
        self._sweep_at = REMEMBERED
        self._line = asyncio.Lock()
        """Only its holder waits for the pace of all chats together: a thousand that did would wake at each call."""
        self._all = _Bucket(tokens=channel.limits.calls_per_second, filled_at=clock.monotonic())

    def delay(self, chat: ChatKey, *, keep: int = 0) -> float:
        """Seconds until the chat may be written to and `keep` calls remain for what matters more; 0 = now."""
        crowd = self._crowd_delay()
        if keep and (crowd or self._line.locked()):
            crowd = STEP_BACK
        return max(self._chat_delay(chat, keep), crowd)

    def take(self, chat: ChatKey) -> None:
        """A call is made now."""
        self._bucket(chat, self._clock.monotonic()).tokens -= 1
        self._all.tokens -= 1

    async def wait(self, chat: ChatKey) -> None:
        """Return when the chat may be written to, with the call counted; where all chats together are too many, first
        come, first served."""
        while True:
            while (delay := self._chat_delay(chat)) > 0:
                await self._clock.sleep(delay)
            async with self._line:
                while (delay := self._crowd_delay()) > 0:
                    await self._clock.sleep(delay)
                if not self._chat_delay(chat):  # it may have been told to wait while it stood in line
                    self.take(chat)
                    return

    def hold(self, chat: ChatKey, seconds: float) -> None:
        """The platform told us to leave this chat alone for so long."""
        now = self._clock.monotonic()
        bucket = self._bucket(chat, now)
        bucket.held_until = max(bucket.held_until, now + seconds)

    def is_held(self, chat: ChatKey) -> bool:
        """Whether the platform told us to leave this chat alone."""
        bucket = self._chats.get(chat)
        return bucket is not None and bucket.held_until > self._clock.monotonic()

    def _chat_delay(self, chat: ChatKey, keep: int = 0) -> float:
        now = self._clock.monotonic()
        bucket = self._bucket(chat, now)
        short = max(0.0, 1 + keep - bucket.tokens) * self._every(chat)
        return _rounded(max(short, bucket.held_until - now))

    def _crowd_delay(self) -> float:
        rate = self._channel.limits.calls_per_second
        bucket = self._fill(self._all, self._clock.monotonic(), 1 / rate, rate)
        return _rounded(max(0.0, 1 - bucket.tokens) / rate)

    def _every(self, chat: ChatKey) -> float:
        limits = self._channel.limits
        every = limits.edit_every_in_groups if self._channel.is_group(chat) else limits.edit_every
        return every.total_seconds()

    def _bucket(self, chat: ChatKey, now: float) -> _Bucket:
        burst = self._channel.limits.burst
        if len(self._chats) >= self._sweep_at:
            self._forget_rested(now)
        bucket = self._chats.setdefault(chat, _Bucket(tokens=burst, filled_at=now))
        return self._fill(bucket, now, self._every(chat), burst)

    def _forget_rested(self, now: float) -> None:
        """A bucket that would be full by now is like a new one."""
        burst = self._channel.limits.burst
        self._chats = {
            chat: bucket
            for chat, bucket in self._chats.items()
            if bucket.held_until > now or self._fill(bucket, now, self._every(chat), burst).tokens < burst
        }
        self._sweep_at = max(REMEMBERED, 2 * len(self._chats))

    @staticmethod
    def _fill(bucket: _Bucket, now: float, every: float, most: float) -> _Bucket:
        bucket.tokens = min(most, bucket.tokens + (now - bucket.filled_at) / every) if every else most
        bucket.filled_at = now
        return bucket


def _rounded(delay: float) -> float:
    return delay if delay > MOMENT else 0.0
