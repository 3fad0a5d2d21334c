"""The bot's reaction on a message. Discord allows it several, so the old one is removed before the new one is added."""

from collections.abc import Set

from channels.base import ChatKey
from channels.capabilities import Emoji
from channels.discord.client import Call, Endpoint, Rest
from channels.discord.errors import UNKNOWN_EMOJI, Refused


async def react(rest: Rest, chat: ChatKey, message_id: str, emoji: Emoji | None, instead_of: Set[Emoji]) -> bool:
    """See `Reacts.react`."""
    for old in sorted(instead_of):
        try:
            if not await rest.offer(_call("DELETE", chat, message_id, old)):
                return False
        except Refused as error:
            if error.code != UNKNOWN_EMOJI:  # there is none to remove
                raise
    return emoji is None or await rest.offer(_call("PUT", chat, message_id, emoji))


def _call(method: str, chat: ChatKey, message_id: str, emoji: Emoji) -> Call:
    # The first message of a thread has the thread's id, and is outside of it.
    channel = chat.thread if chat.thread and chat.thread != message_id else chat.chat
    path = "/channels/{channel_id}/messages/{message_id}/reactions/{emoji}/@me"
    ids = {"channel_id": channel, "message_id": message_id, "emoji": emoji}
    return Call(Endpoint(method, path, ids), needs="Add Reactions, Read Message History" if method == "PUT" else "")
