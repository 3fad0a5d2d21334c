"""The plugin of the API: its paths, the command for keys, and what becomes of calls whose process died."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from channels.base import ChatKey
from gateway.commands.command import Command
from gateway.plugin import Core, Plugin, Running
from gateway.plugins.api.command import KeyCommand
from gateway.plugins.api.route import OPENINGS, ApiRoutes
from gateway.plugins.api.table import START, ApiKeys, erase
from gateway.plugins.api.texts import TEXTS
from gateway.runs.errands import Errands
from gateway.store.connection import Connection
from gateway.store.erasures import Forgotten
from gateway.web.route import Opening, Route


class ApiPlugin(Plugin):
    """An address that speaks OpenAI's protocol."""

    name = "api"
    texts = TEXTS
    migrations = (START,)
    unfinished = "api_calls"
    open_paths: ClassVar[Mapping[str, Opening]] = OPENINGS

    def __init__(self, core: Core) -> None:
        super().__init__(core)
        self.keys = core.store.table(ApiKeys)
        """The keys, and the calls under way."""
        self._errands: Errands | None = None

    def commands(self) -> Sequence[Command]:
        return (KeyCommand(self.core, self.keys).command,)

    def routes(self, running: Running) -> Mapping[str, Route]:
        self._errands = running.errands
        return ApiRoutes(self.core, self.keys, running.errands).routes

    async def taken_over(self, chat: ChatKey | None) -> None:
        """End the runs whose callers were left without an answer."""
        for run in await self.keys.left(chat):
            if self._errands is not None:
                await self._errands.leave(run)
            await self.keys.over(run)

    def erased(self, forgotten: Forgotten, connection: Connection) -> None:
        erase(connection, forgotten)


PLUGIN = ApiPlugin
