"""The reports plugin: reports that need no model."""

from collections.abc import Sequence

from gateway.plugin import Core, Plugin
from gateway.plugins.reports.kinds import Kinds
from gateway.plugins.reports.table import START, Told, erase
from gateway.plugins.reports.texts import TEXTS
from gateway.schedule.jobs.report_kinds import ReportKind
from gateway.store.connection import Connection
from gateway.store.erasures import Forgotten


class Reports(Plugin):
    """Weather, feeds, files, GitHub repositories, the week in review, costs, calendars and mail."""

    name = "reports"
    texts = TEXTS
    migrations = (START,)

    def __init__(self, core: Core) -> None:
        super().__init__(core)
        self._told = core.store.table(Told)

    def reports(self) -> Sequence[ReportKind]:
        return Kinds(self.core, self._told).all

    def erased(self, forgotten: Forgotten, connection: Connection) -> None:
        erase(connection, forgotten)


PLUGIN = Reports
