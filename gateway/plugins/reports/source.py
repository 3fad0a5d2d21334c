"""Reads a report's entries from the MCP server that has them, and says what to do where none can be read."""

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from agent_core.messages import JsonObject, text_of
from agent_core.origin import Origin
from agent_core.sources import parted
from agent_core.tools.tool import ToolFailed
from channels.text import in_code, literal
from gateway.plugin import Core
from gateway.plugins.reports.entries import entries_in
from gateway.plugins.reports.fitting import Fit, Wanted, best_fits
from gateway.runs.server_tool import NotSignedIn
from gateway.schedule.jobs.report_kinds import ReportOrder, ReportRefused
from gateway.texts.say import Language, say


class Lacks(Struct, frozen=True):
    """The keys of texts that say what to do: if there is no server at all, and if no tool fits."""

    server: str
    tool: str


class Read(Struct, frozen=True):
    """The entries that a server has answered."""

    server: str
    entries: Sequence[JsonObject]
    origin: Origin


class Source:
    """Reads entries of one kind: events, or messages."""

    def __init__(self, core: Core, lacks: Lacks, is_one: Callable[[JsonObject], bool]) -> None:
        """`is_one` tells whether an object in an answer is such an entry."""
        self._core = core
        self._lacks = lacks
        self._is_one = is_one

    async def read(self, order: ReportOrder, wanted: Wanted) -> Read:
        """Return the entries for an order. Raises ReportRefused."""
        calls, language = self._core.server_calls, order.language
        fit = self._chosen(order, best_fits(calls.tools(), wanted))
        try:
            result = await calls.call(fit.tool, fit.arguments, order.chat, order.person, here=not order.job)
        except NotSignedIn as error:
            raise self._to_sign_in(order, [error.server]) from error
        except ToolFailed as error:
            raise ReportRefused(say("reports_unreadable", language, why=literal(error.fact))) from error
        entries = entries_in(text_of(result.content), self._is_one)
        if entries is None:
            raise ReportRefused(
                say("reports_odd_tool", language, name=literal(fit.server), tool=f"`{in_code(fit.tool.name)}`")
            )
        return Read(fit.server, entries, result.origin)

    def _chosen(self, order: ReportOrder, fits: Mapping[str, Fit]) -> Fit:
        """Return the tool of the server that is meant. Raises ReportRefused."""
        language, asked = order.language, order.subject.strip().strip("`")
        if not asked:
            if len(fits) > 1:
                raise ReportRefused(say("reports_which_server", language), sorted(fits))
            if fits:
                return next(iter(fits.values()))
        elif asked in fits:
            return fits[asked]
        raise self._lacking(order, asked, sorted(fits), language)

    def _lacking(self, order: ReportOrder, asked: str, others: Sequence[str], language: Language) -> ReportRefused:
        """Return what to do where no server, or not the one that was asked for, can be read."""
        calls, added = self._core.server_calls, self._core.servers.added
        names = sorted({parted(each.source)[1] for each in calls.tools()} | set(added))
        if asked and asked not in names:
            return ReportRefused(say("reports_no_such_server", language, name=literal(asked)), others)
        if not names:
            return ReportRefused(say(self._lacks.server, language, slash=self._slash(order)))
        meant = [asked] if asked else names
        if signed_out := [each for each in calls.signed_out(order.chat, order.person) if each in meant]:
            return self._to_sign_in(order, signed_out)
        for name in meant:
            trouble = self._core.servers.trouble(name) if name in added else None
            if trouble is not None:
                return ReportRefused(
                    say("reports_server_away", language, name=literal(name), why=literal(trouble.fact))
                )
        listed = ", ".join(f"`{in_code(each)}`" for each in meant)
        return ReportRefused(say(self._lacks.tool, language, names=listed, slash=self._slash(order)))

    def _to_sign_in(self, order: ReportOrder, servers: Sequence[str]) -> ReportRefused:
        names = ", ".join(f"`{self._slash(order)}mcp in {name}`" for name in servers)
        return ReportRefused(say("reports_sign_in", order.language, names=names))

    def _slash(self, order: ReportOrder) -> str:
        return self._core.delivery.channel(order.chat).limits.slash
