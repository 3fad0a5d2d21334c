"""Facts about servers, which the gateway tells the process that is connected for them, and about private chats."""

from collections.abc import Callable

from channels.base import ChannelError, ChatKey
from channels.discord.cache import FILE_LIMIT, RecentMessages, Servers
from channels.discord.client import Call, Endpoint, Rest
from channels.discord.errors import UNKNOWN_MEMBER, UNKNOWN_USER, Refused
from channels.discord.normalise import DIRECT


class Lookups:
    """Facts about the servers of one bot."""

    def __init__(self, rest: Rest, servers: Servers, is_told: Callable[[str], bool]) -> None:
        """`is_told` returns True while the gateway keeps what `servers` has of one of them up to date."""
        self._rest = rest
        self._servers = servers
        self._is_told = is_told
        self._private: dict[str, ChatKey] = {}

    async def private_chat(self, person: str) -> ChatKey:
        """Return the private chat with a user, which "creating" it returns if it exists. Raises ChannelError."""
        if person not in self._private:
            opened = await self._rest.call(Call(Endpoint("POST", "/users/@me/channels"), json={"recipient_id": person}))
            channel = opened.get("id") if isinstance(opened, dict) else None
            if not isinstance(channel, str):
                raise ChannelError("Discord's response names no private chat")
            if len(self._private) >= RecentMessages.most:
                self._private.clear()
            self._private[person] = ChatKey(platform="discord", account=DIRECT, chat=channel)
        return self._private[person]

    async def roles(self, guild: str) -> dict[str, str]:
        """Return the names of a server's roles by id. Raises ChannelError."""
        if guild != DIRECT:
            await self._ask(guild)
        return self._servers.roles(guild)

    async def is_member(self, guild: str, person: str) -> bool:
        """Return True if a user is on a server. Raises ChannelError."""
        about = {"guild_id": guild, "user_id": person}
        try:
            await self._rest.call(Call(Endpoint("GET", "/guilds/{guild_id}/members/{user_id}", about)))
        except Refused as error:
            if error.code not in (UNKNOWN_MEMBER, UNKNOWN_USER):
                raise
            return False
        return True

    async def file_limit(self, guild: str, size: int) -> int:
        """Return the largest file size in bytes, which may be more if `size` fits anyway. Raises ChannelError."""
        if guild != DIRECT and size > FILE_LIMIT:
            await self._ask(guild)
        return self._servers.file_limit(guild)

    async def _ask(self, guild: str) -> None:
        if not self._is_told(guild):
            endpoint = Endpoint("GET", "/guilds/{guild_id}", {"guild_id": guild})
            self._servers.update("GUILD_UPDATE", await self._rest.call(Call(endpoint)))
