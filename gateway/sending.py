"""One send, made so that it is seen once wherever the platform gives a way to that."""

import structlog

from channels.base import Channel, ChannelError, ChatKey, FindsSent, OutboundMessage, Posted

log = structlog.get_logger(__name__)


def sends_once(channel: Channel) -> bool:
    """Whether a send may be repeated without its being seen twice."""
    return channel.limits.keeps_keys or isinstance(channel, FindsSent)


async def find_sent(channel: Channel, chat: ChatKey, message: OutboundMessage, key: str) -> Posted | None:
    """What an earlier send with this key has made. Where the platform does not let us look, there is nothing: that it
    may be seen twice is better than that it is not seen. Raises ChannelError where looking again is of use."""
    if not isinstance(channel, FindsSent):
        return None
    try:
        return await channel.find_sent(chat, message, key)
    except ChannelError as error:
        if not error.permanent:
            raise
        log.warning("not looked whether it was sent", key=key, chat=str(chat), reason=error.reason)
        return None
