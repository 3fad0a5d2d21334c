"""The reports plugin: reports that need neither a model nor an account."""

from collections.abc import Sequence

from gateway.plugin import Core, Plugin
from gateway.plugins.reports.costs import Costs
from gateway.plugins.reports.feed import Feed
from gateway.plugins.reports.files import Files
from gateway.plugins.reports.github import GitHub
from gateway.plugins.reports.table import START, Told, erase
from gateway.plugins.reports.texts import TEXTS
from gateway.plugins.reports.weather import Weather
from gateway.plugins.reports.week import Week
from gateway.schedule.jobs.report_kinds import ReportKind
from gateway.store.connection import Connection
from gateway.store.erasures import Forgotten


class Reports(Plugin):
    """Weather, feeds, files, GitHub repositories, the week in review, and costs."""

    name = "reports"
    texts = TEXTS
    migrations = (START,)

    def __init__(self, core: Core) -> None:
        super().__init__(core)
        self._told = core.store.table(Told)

    def reports(self) -> Sequence[ReportKind]:
        core = self.core
        return (
            Weather(core).kind,
            Feed(core, self._told).kind,
            Files(core).kind,
            GitHub(core).kind,
            Week(core).kind,
            Costs(core).kind,
        )

    def erased(self, forgotten: Forgotten, connection: Connection) -> None:
        erase(connection, forgotten)


PLUGIN = Reports
