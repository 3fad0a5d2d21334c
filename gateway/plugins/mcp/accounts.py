"""Whose tokens servers are shown that owners have added, and which addresses these servers may have."""

from collections.abc import Collection

from agent_core.tools.tool import ToolContext
from agent_core.tools.web.fetch import MayReach
from gateway.plugin import Core
from gateway.plugins.mcp.addresses import may_reach
from gateway.plugins.mcp.settings import McpSettings
from gateway.runs.added_servers import AddedServer


class ServerAccess:
    """The access to one server."""

    def __init__(self, reach: MayReach) -> None:
        self._reach = reach

    @property
    def may_reach(self) -> MayReach:
        return self._reach

    async def token(self) -> str:
        return ""

    async def renewed(self, refused: str) -> str:
        return ""

    def challenged(self, header: str) -> None:
        """Do nothing."""


class ServerAccounts:
    """The accounts at servers."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def access(self, name: str, server: AddedServer, person: str) -> ServerAccess:
        return ServerAccess(may_reach(local=self._core.settings.of(McpSettings).local))

    async def signed_in(self, name: str) -> Collection[str]:
        return ()

    def who_asks(self, server: str, context: ToolContext) -> str:
        return ""
