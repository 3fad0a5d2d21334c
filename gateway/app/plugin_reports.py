"""Reads which reports plugins make without a model, and contains what goes wrong in them."""

import re
from collections.abc import Iterable, Iterator
from functools import partial

import structlog
from msgspec.structs import replace

from agent_core.background import done_within
from agent_core.file_handles import lacks_handles
from gateway.app.plugins import asked, blamed
from gateway.commands.report import OFFERS
from gateway.plugin import Plugin
from gateway.records.plugin_failures import PluginFailures, check_each, expect, listed
from gateway.schedule.jobs.report_kinds import MadeReport, ReportKind, ReportKinds, ReportOrder, ReportRefused
from gateway.store.rule import Cron
from gateway.store.writer import may_pass
from gateway.texts.say import say

MAKE_WITHIN = 60.0
"""Longest time in seconds in which a report is made."""
log = structlog.get_logger(__name__)
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,30}")


def register_reports(plugins: Iterable[Plugin], kinds: ReportKinds, failures: PluginFailures) -> None:
    """Let the reports of plugins be asked for. Raises PluginFailed if two have the same name."""

    def wrong_with(kind: ReportKind) -> Iterator[str]:
        expect(kind, ReportKind, "an item of reports()")
        Cron(expression=kind.cron)
        if not _NAME.fullmatch(kind.name):
            yield f"a report has the name {kind.name}, which is no word of lower-case letters"
        if kind.name in OFFERS or kinds.find(kind.name) is not None:
            yield f"two reports have the name {kind.name}"

    for plugin in plugins:
        found = asked(type(plugin), "reports", partial(_reports_of, plugin))
        with blamed(plugin.name, "reports"):
            check_each(found, wrong_with)
            for kind in found:
                kinds.add(replace(kind, make=partial(_made, plugin, failures, kind)))


def _reports_of(plugin: Plugin) -> Iterable[ReportKind]:
    return listed("the result of reports()", plugin.reports())


async def _made(plugin: Plugin, failures: PluginFailures, kind: ReportKind, order: ReportOrder) -> MadeReport:
    async def attempted() -> MadeReport | ReportRefused:
        try:
            return await kind.make(order)
        except ReportRefused as refused:
            return refused

    try:
        with failures.kept(plugin.name, f"the report {kind.name}"):
            made = await done_within(attempted(), MAKE_WITHIN, plugin.core.clock)
            if not isinstance(made, ReportRefused):
                expect(made, MadeReport, f"the report {kind.name}")
    except Exception as error:
        if lacks_handles(error) or may_pass(error):  # it is made again once the machine allows it
            raise
        log.exception("a plugin failed", plugin=plugin.name, report=kind.name)
        raise ReportRefused(say("plugin_failed", order.language, name=plugin.name)) from error
    if isinstance(made, ReportRefused):
        raise made
    return made
