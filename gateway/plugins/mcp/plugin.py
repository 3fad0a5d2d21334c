"""The plugin of MCP servers: the command /mcp, the screen, and what reaches the servers that owners have added."""

from collections.abc import Sequence

from gateway.admin.screen import Screen
from gateway.commands.command import Command
from gateway.plugin import Core, Plugin
from gateway.plugins.mcp.accounts import ServerAccounts
from gateway.plugins.mcp.command import McpCommand
from gateway.plugins.mcp.screen import McpScreen
from gateway.plugins.mcp.settings import McpSettings
from gateway.plugins.mcp.texts import TEXTS


class McpPlugin(Plugin):
    """Lets owners add MCP servers, and approve what servers say of their tools."""

    name = "mcp"
    texts = TEXTS
    settings = McpSettings

    def __init__(self, core: Core) -> None:
        super().__init__(core)
        core.servers.accounts = ServerAccounts(core)

    def commands(self) -> Sequence[Command]:
        return (McpCommand(self.core).command,)

    def screens(self) -> Sequence[Screen]:
        return (McpScreen(self.core),)


PLUGIN = McpPlugin
