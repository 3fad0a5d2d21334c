"""The plugin of MCP servers: the command /mcp, the screen, and how people sign in to servers that were added."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from gateway.admin.screen import Screen
from gateway.commands.command import Command
from gateway.plugin import Core, Duty, Plugin, Running
from gateway.plugins.mcp.accounts import ServerAccounts
from gateway.plugins.mcp.asking import Asking
from gateway.plugins.mcp.command import McpCommand
from gateway.plugins.mcp.route import OPENING, SIGNED_IN, SignInRoute
from gateway.plugins.mcp.screen import McpScreen
from gateway.plugins.mcp.settings import McpSettings
from gateway.plugins.mcp.signing_in import LINK, PATH, SigningIn
from gateway.plugins.mcp.table import START, erase
from gateway.plugins.mcp.texts import TEXTS
from gateway.runs.owed import Doer
from gateway.store.connection import Connection
from gateway.store.erasures import Forgotten
from gateway.web.route import Opening, Route


class McpPlugin(Plugin):
    """Lets owners add MCP servers and approve what servers say of their tools, and people sign in to them."""

    name = "mcp"
    texts = TEXTS
    settings = McpSettings
    migrations = (START,)
    open_paths: ClassVar[Mapping[str, Opening]] = {PATH: OPENING}

    def __init__(self, core: Core) -> None:
        super().__init__(core)
        self._asking = Asking(core)
        core.servers.accounts = accounts = ServerAccounts(core, self._asking)
        self._signing_in = SigningIn(core, accounts)
        self._route = SignInRoute(core, accounts)

    def owed(self) -> Mapping[str, Doer]:
        return {LINK: self._signing_in.link, SIGNED_IN: self._route.told, **self._asking.doers}

    def commands(self) -> Sequence[Command]:
        return (McpCommand(self.core, self._signing_in).command,)

    def screens(self) -> Sequence[Screen]:
        return (McpScreen(self.core),)

    def routes(self, running: Running) -> Mapping[str, Route]:
        return {PATH: self._route.answer}

    def duties(self, running: Running) -> Mapping[str, Duty]:
        return {"ask": self._asking.run}

    def erased(self, forgotten: Forgotten, connection: Connection) -> None:
        erase(connection, forgotten)


PLUGIN = McpPlugin
