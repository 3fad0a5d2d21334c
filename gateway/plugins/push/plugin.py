"""The plugin that tells devices whose page is closed: its paths, its script, and what it does after messages."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import ClassVar

from gateway.plugin import Core, Plugin, Running
from gateway.plugins.push.looks import Looks
from gateway.plugins.push.notifications import Notifications, Reach
from gateway.plugins.push.route import LOOKED, LOOKED_OPENING, OPENING, PATH, PushRoute
from gateway.plugins.push.table import START, Devices, erase
from gateway.plugins.push.texts import TEXTS
from gateway.plugins.push.work import PushWork
from gateway.runs.owed import Doer
from gateway.store.connection import Connection
from gateway.store.erasures import Forgotten
from gateway.store.owed import Owed
from gateway.store.rows import Post, Run, RunEnd
from gateway.web.route import Opening, Route


class PushPlugin(Plugin):
    """Notifications of questions and reports on devices whose page is closed."""

    name = "push"
    texts = TEXTS
    migrations = (START,)
    open_paths: ClassVar[Mapping[str, Opening]] = {PATH: OPENING, LOOKED: LOOKED_OPENING}
    scripts: ClassVar[Mapping[str, Path]] = {"/push.js": Path(__file__).parent / "push.js"}
    reach: ClassVar[Reach] = Reach()

    def __init__(self, core: Core) -> None:
        super().__init__(core)
        self._devices, self._looks = core.store.table(Devices), Looks(core.clock)
        self._notifications = Notifications(core, self._devices, self.reach)
        self._work = PushWork(core, self._devices, self._notifications, self._looks)

    def routes(self, running: Running) -> Mapping[str, Route]:
        route = PushRoute(self._devices, self._notifications, self._looks)
        return {PATH: route.answer, LOOKED: route.looked}

    def owed(self) -> Mapping[str, Doer]:
        return self._work.doers

    def sent(self, post: Post, tx: Connection) -> Iterable[Owed]:
        return self._work.of_message(post, tx)

    def ended(self, run: Run, how: RunEnd, tx: Connection) -> Iterable[Owed]:
        return self._work.of_run(run, how, tx)

    def erased(self, forgotten: Forgotten, connection: Connection) -> None:
        erase(connection, forgotten)


PLUGIN = PushPlugin
"""Notifications of questions and reports on devices whose page is closed."""
