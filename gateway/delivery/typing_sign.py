"""The typing indicator, shown until an answer arrives and renewed as often as the platform needs."""

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial

from agent_core.clock import Clock
from channels.base import ChannelError, ChatKey
from gateway.delivery.delivery import Delivery
from gateway.delivery.limiter import ChatLimiter
from gateway.security.masked_channel import MaskedChannel

AGAIN_SECONDS = 1.0
"""Delay until an indicator that the rate limit had no room for is tried again."""


async def show_typing(
    masked_channel: MaskedChannel,
    chat: ChatKey,
    limiter: ChatLimiter,
    clock: Clock,
    is_wanted: Callable[[], bool] = lambda: True,
    *,
    after: float = 0.0,
) -> None:
    """Show the indicator until cancelled, or until the platform refuses it for good.

    Args:
        is_wanted: Skips the indicator while it returns False.
        after: Seconds before the first indicator.
    """
    shows = masked_channel.shows_typing
    if shows is None:
        return
    if after:
        await clock.sleep(after)
    every = masked_channel.channel.limits.typing_every.total_seconds()
    while True:
        shown = True
        try:
            if is_wanted() and not limiter.is_held(chat):
                shown = await shows.typing(chat)
            wait = every if shown else min(every, AGAIN_SECONDS)
        except ChannelError as error:
            if error.permanent:
                return
            wait = max(every, error.retry_after or 0.0)  # delays only the indicator, not the answers
        await clock.sleep(wait)


class Typing:
    """Shows the typing indicator of any chat."""

    def __init__(self, delivery: Delivery, clock: Clock) -> None:
        self._delivery = delivery
        self._clock = clock

    def shown(self, chat: ChatKey, is_wanted: Callable[[], bool] = lambda: True, *, after: float = 0.0) -> "Shown":
        """Show the indicator while the context is open; the arguments are those of `show_typing`."""
        masked_channel, limiter = self._delivery.masked_channel(chat), self._delivery.limiter(chat)
        return Shown(partial(show_typing, masked_channel, chat, limiter, self._clock, is_wanted, after=after))


class Shown:
    """Shows a typing indicator while the context is open."""

    def __init__(self, show: Callable[[], Coroutine[object, object, None]]) -> None:
        self._show = show

    async def __aenter__(self) -> None:
        self._task = asyncio.create_task(self._show())

    async def __aexit__(self, *_: object) -> None:
        self._task.cancel()
        await asyncio.wait((self._task,))
