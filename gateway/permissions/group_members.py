"""Finds out who has left a group by asking the platform, since nothing tells Parley of it reliably."""

import asyncio

import structlog

from channels.base import ChannelError, ChatKey, Sender
from channels.capabilities import KnowsMembers
from gateway.permissions.access import Access

PATIENCE = 5.0
"""Seconds for the platform's answer."""

log = structlog.get_logger(__name__)


class GroupMembers:
    """Asks platforms who is in their groups."""

    def __init__(self, access: Access) -> None:
        self._access = access

    async def has_left(self, chat: ChatKey, person: Sender) -> bool:
        """Return True if a group's platform says that somebody is not in it. Owners may act in any group."""
        channel, known = self._access.channel(chat), self._access.known_in(chat, chat, person)
        is_theirs = not self._access.is_group(chat) or self._access.is_owner(chat, person)
        if is_theirs or known is None or not isinstance(channel, KnowsMembers):
            return False
        try:
            async with asyncio.timeout(PATIENCE):
                return not await channel.is_member(chat, known.id)
        except (ChannelError, TimeoutError) as error:
            log.info("nobody knows who is in a group", chat=str(chat), reason=str(error))
            return False
