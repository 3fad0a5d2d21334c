"""The plugin of webhooks: its address, command, screen, and what it does for each event."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from gateway.admin.screen import Screen
from gateway.commands.command import Command
from gateway.plugin import Core, Duty, Plugin, Running
from gateway.plugins.hooks.command import HookCommand
from gateway.plugins.hooks.route import OPENING, PATH, HooksRoute
from gateway.plugins.hooks.screen import HooksScreen
from gateway.plugins.hooks.settings import HooksSettings
from gateway.plugins.hooks.table import START, Hooks, erase
from gateway.plugins.hooks.texts import TEXTS
from gateway.plugins.hooks.work import HooksWork
from gateway.runs.owed import Doer
from gateway.store.connection import Connection
from gateway.store.erasures import Forgotten
from gateway.web.route import Opening, Route

TIDY_EVERY = 3_600.0


class HooksPlugin(Plugin):
    """Webhooks: events of other programs that are told in a chat, or looked at by an agent."""

    name = "hooks"
    texts = TEXTS
    settings = HooksSettings
    migrations = (START,)
    open_paths: ClassVar[Mapping[str, Opening]] = {PATH: OPENING}

    def __init__(self, core: Core) -> None:
        super().__init__(core)
        self._hooks = core.store.table(Hooks)

    def owed(self) -> Mapping[str, Doer]:
        return HooksWork(self.core, self._hooks).doers

    def commands(self) -> Sequence[Command]:
        return (HookCommand(self.core, self._hooks).command,)

    def screens(self) -> Sequence[Screen]:
        return (HooksScreen(self.core, self._hooks),)

    def routes(self, running: Running) -> Mapping[str, Route]:
        return {PATH: HooksRoute(self.core, self._hooks).answer}

    def duties(self, running: Running) -> Mapping[str, Duty]:
        return {"tidy": self._tidy}

    def erased(self, forgotten: Forgotten, connection: Connection) -> None:
        erase(connection, forgotten)

    async def _tidy(self) -> None:
        while True:
            await self._hooks.tidy(self.core.clock.time())
            await self.core.clock.sleep(TIDY_EVERY)


PLUGIN = HooksPlugin
