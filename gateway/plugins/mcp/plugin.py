"""The plugin of MCP servers: the command /mcp, the screen, and how people sign in to servers that were added."""

import importlib
from collections.abc import Mapping, Sequence
from typing import ClassVar

from channels.checkup import Finding
from gateway.admin.screen import Screen
from gateway.commands.command import Command
from gateway.plugin import Core, Duty, Plugin, Running
from gateway.plugins.mcp.accounts import ServerAccounts
from gateway.plugins.mcp.asking import Asking
from gateway.plugins.mcp.command import McpCommand
from gateway.plugins.mcp.losing import LostRights
from gateway.plugins.mcp.route import OPENING, SIGNED_IN, SignInRoute
from gateway.plugins.mcp.screen import McpScreen
from gateway.plugins.mcp.settings import McpSettings
from gateway.plugins.mcp.signing_in import LINK, PATH, SigningIn
from gateway.plugins.mcp.table import START, erase
from gateway.plugins.mcp.texts import FINDINGS, TEXTS
from gateway.runs.owed import Doer
from gateway.settings.settings import Settings
from gateway.store.connection import Connection
from gateway.store.erasures import Forgotten
from gateway.web.route import Opening, Route

END_EVERY = 60.0
"""Seconds between two looks at the rights of people who have signed in."""


class McpPlugin(Plugin):
    """Lets owners add MCP servers and approve what servers say of their tools, and people sign in to them."""

    name = "mcp"
    texts = TEXTS
    findings = FINDINGS
    settings = McpSettings
    migrations = (START,)
    open_paths: ClassVar[Mapping[str, Opening]] = {PATH: OPENING}

    def __init__(self, core: Core) -> None:
        super().__init__(core)
        self._asking = Asking(core)
        core.servers.accounts = accounts = ServerAccounts(core, self._asking)
        self._lost = LostRights(core, accounts)
        self._signing_in = SigningIn(core, accounts)
        self._route = SignInRoute(core, accounts)

    def owed(self) -> Mapping[str, Doer]:
        return {LINK: self._signing_in.link, SIGNED_IN: self._route.told, **self._asking.doers, **self._lost.doers}

    def commands(self) -> Sequence[Command]:
        return (McpCommand(self.core, self._signing_in).command,)

    def screens(self) -> Sequence[Screen]:
        return (McpScreen(self.core),)

    def routes(self, running: Running) -> Mapping[str, Route]:
        return {PATH: self._route.answer}

    @classmethod
    async def examined(cls, settings: Settings, connection: Connection) -> Sequence[Finding]:
        examining = importlib.import_module("gateway.plugins.mcp.examining")  # of no use to a running Parley
        found: Sequence[Finding] = await examining.look_at_added(settings, connection)
        return found

    def duties(self, running: Running) -> Mapping[str, Duty]:
        return {"ask": self._asking.run, "end": self._end}

    async def _end(self) -> None:
        """End sign-ins of people who have lost the right, for as long as this runs."""
        while True:
            await self._lost.end()
            await self.core.clock.sleep(END_EVERY)

    def erased(self, forgotten: Forgotten, connection: Connection) -> None:
        erase(connection, forgotten)


PLUGIN = McpPlugin
