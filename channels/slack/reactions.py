"""The bot's reaction on a message. Slack allows it several, so the old one is removed before the new one is added."""

from collections.abc import Set

from channels.base import ChatKey
from channels.capabilities import Emoji
from channels.slack.client import Client
from channels.slack.errors import Nothing

NAMES: dict[Emoji, str] = {"👀": "eyes", "⚡": "zap", "😴": "sleeping", "👌": "ok_hand"}


async def react(client: Client, chat: ChatKey, message_id: str, emoji: Emoji | None, instead_of: Set[Emoji]) -> bool:
    """See `Reacts.react`."""
    for old in sorted(instead_of):
        if not await _offer(client, "reactions.remove", chat, message_id, old):
            return False
    return emoji is None or await _offer(client, "reactions.add", chat, message_id, emoji)


async def _offer(client: Client, method: str, chat: ChatKey, message_id: str, emoji: Emoji) -> bool:
    try:
        return await client.offer(method, {"channel": chat.chat, "timestamp": message_id, "name": NAMES[emoji]})
    except Nothing:
        return True
