"""The typing sign: says at once that an answer is on its way, and again as often as the platform needs."""

from collections.abc import Callable

from agent_core.clock import Clock
from channels.base import Channel, ChannelError, ChatKey, ShowsTyping
from gateway.limiter import ChatLimiter


async def show_typing(
    channel: Channel, chat: ChatKey, limiter: ChatLimiter, clock: Clock, is_wanted: Callable[[], bool] = lambda: True
) -> None:
    """Go on until cancelled, or until the platform says that it is no use; silent while it is not wanted."""
    if not isinstance(channel, ShowsTyping):
        return
    every = channel.limits.typing_every.total_seconds()
    while True:
        try:
            if is_wanted() and not limiter.is_held(chat):
                await channel.typing(chat)
        except ChannelError as error:
            limiter.hold(chat, error.retry_after or 0.0)
            if error.permanent:
                return
        await clock.sleep(every)
