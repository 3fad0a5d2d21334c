"""One send, made so that it is seen once wherever the platform gives a way to that."""

from channels.base import Channel, ChatKey, FindsSent, OutboundMessage, Posted


def sends_once(channel: Channel) -> bool:
    """Whether a send may be repeated without its being seen twice."""
    return channel.limits.keeps_keys or isinstance(channel, FindsSent)


async def find_sent(channel: Channel, chat: ChatKey, message: OutboundMessage, key: str) -> Posted | None:
    """What an earlier send with this key has made, where the platform lets us look. Raises ChannelError."""
    return await channel.find_sent(chat, message, key) if isinstance(channel, FindsSent) else None
