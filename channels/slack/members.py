"""The members of a channel."""

from pydantic import JsonValue

from channels.base import ChannelError
from channels.slack.client import Client

A_PAGE = 1_000
"""Most people in one answer."""
MOST_PAGES = 10


async def is_member(client: Client, channel: str, person: str) -> bool:
    """Return True if a user is in a channel. Raises ChannelError, also for a channel with too many people."""
    asked: dict[str, JsonValue] = {"channel": channel, "limit": A_PAGE}
    for _ in range(MOST_PAGES):
        answer = await client.call("conversations.members", asked)
        found, more = answer.get("members"), answer.get("response_metadata")
        if isinstance(found, list) and person in found:
            return True
        cursor = more.get("next_cursor") if isinstance(more, dict) else None
        if not cursor:
            return False
        asked["cursor"] = cursor
    raise ChannelError("the channel has too many people to look through", permanent=True)
