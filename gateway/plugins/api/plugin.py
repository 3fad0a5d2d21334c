"""The plugin of the API: its paths, the command for keys, plans, and what becomes of calls whose process died."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from channels.base import ChatKey
from gateway.commands.command import Command
from gateway.commands.press import Press
from gateway.plugin import Core, Plugin, Running
from gateway.plugins.api.command import KeyCommand
from gateway.plugins.api.mcp import OPENING as MCP_OPENING
from gateway.plugins.api.mcp import PATH as MCP
from gateway.plugins.api.plans import KIND, PLANS, PlanWork, erase_plans
from gateway.plugins.api.route import OPENINGS, ApiRoutes
from gateway.plugins.api.table import START, ApiKeys, erase
from gateway.plugins.api.texts import TEXTS
from gateway.runs.errands import Errands
from gateway.runs.owed import Doer
from gateway.store.connection import Connection
from gateway.store.erasures import Forgotten
from gateway.web.route import Opening, Route


class ApiPlugin(Plugin):
    """Addresses that speak OpenAI's protocol and MCP."""

    name = "api"
    texts = TEXTS
    migrations = (START, PLANS)
    unfinished = "api_calls"
    open_paths: ClassVar[Mapping[str, Opening]] = {**OPENINGS, MCP: MCP_OPENING}

    def __init__(self, core: Core) -> None:
        super().__init__(core)
        self.keys = core.store.table(ApiKeys)
        """The keys, and the calls under way."""
        self._plans = PlanWork(core)
        self._errands: Errands | None = None

    def commands(self) -> Sequence[Command]:
        return (KeyCommand(self.core, self.keys).command,)

    def routes(self, running: Running) -> Mapping[str, Route]:
        self._errands = running.errands
        return ApiRoutes(self.core, self.keys, running.errands, self._plans).routes

    def presses(self) -> Sequence[Press]:
        return self._plans.presses

    def owed(self) -> Mapping[str, Doer]:
        return {KIND: self._plans.show}

    async def taken_over(self, chat: ChatKey | None) -> None:
        """End the runs whose callers were left without an answer."""
        for run in await self.keys.left(chat):
            if self._errands is not None:
                await self._errands.leave(run)
            await self.keys.over(run)

    def erased(self, forgotten: Forgotten, connection: Connection) -> None:
        erase(connection, forgotten)
        erase_plans(connection, forgotten.principal, forgotten.direct)


PLUGIN = ApiPlugin
