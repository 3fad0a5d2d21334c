"""Facts about servers. The gateway tells them to the process that is connected for them; any other one asks."""

from collections.abc import Callable

from channels.discord.cache import FILE_LIMIT, Servers
from channels.discord.client import Call, Endpoint, Rest
from channels.discord.normalise import DIRECT


class Lookups:
    """Facts about the servers of one bot."""

    def __init__(self, rest: Rest, servers: Servers, is_told: Callable[[str], bool]) -> None:
        """`is_told` returns True while the gateway keeps what `servers` has of one of them up to date."""
        self._rest = rest
        self._servers = servers
        self._is_told = is_told

    async def roles(self, guild: str) -> dict[str, str]:
        """Return the names of a server's roles by id. Raises ChannelError."""
        if guild != DIRECT:
            await self._ask(guild)
        return self._servers.roles(guild)

    async def file_limit(self, guild: str, size: int) -> int:
        """Return the largest file size in bytes, which may be more if `size` fits anyway. Raises ChannelError."""
        if guild != DIRECT and size > FILE_LIMIT:
            await self._ask(guild)
        return self._servers.file_limit(guild)

    async def _ask(self, guild: str) -> None:
        if not self._is_told(guild):
            endpoint = Endpoint("GET", "/guilds/{guild_id}", {"guild_id": guild})
            self._servers.update("GUILD_UPDATE", await self._rest.call(Call(endpoint)))
