"""A report of what the models have cost in the last seven days."""

from agent_core.origin import DATA
from channels.base import Sender
from channels.text import literal
from gateway.plugin import Core
from gateway.records.spending_report import Span, Sum, began, first_of, report_of
from gateway.schedule.jobs.report_kinds import MadeReport, ReportOrder
from gateway.store.budget import Scope, chat_account
from gateway.texts.amounts import Unit, amount_words
from gateway.texts.say import Language, say

_TITLES = {Scope.ALL: "reports_costs_all", Scope.CHAT: "reports_costs_chat", Scope.PERSON: "reports_costs_person"}


class Costs:
    """The report of costs."""

    def __init__(self, core: Core) -> None:
        self._core = core

    async def make(self, order: ReportOrder) -> MadeReport:
        """Make the report. Raises ReportRefused."""
        access, person = self._core.access, Sender(id=order.person, name="")
        if access.is_group(order.chat):
            scope, subjects = Scope.CHAT, [chat_account(order.chat).subject]
        elif access.is_admin(order.chat, person):
            scope, subjects = Scope.ALL, list[str]()
        else:
            scope, subjects = Scope.PERSON, access.accounts(order.chat, person)
        since = began(first_of(Span.WEEK, order.at, order.zone), order.zone)
        rows = await self._core.store.spending.usage(since, scope, subjects)
        report = report_of([each for each in rows if each.at <= order.at], Span.WEEK, order.at, order.zone)
        language = order.language
        title = say(_TITLES[scope], language, first=f"{report.first}", last=f"{report.last}")
        if not report.total.calls:
            return MadeReport(f"{title}\n\n{say('reports_costs_none', language)}", DATA)
        total = f"**{say('reports_costs_total', language)}**"
        table = [_row(literal(model or "?"), each, language) for model, each in report.models.items()]
        head = say("reports_costs_head", language)
        text = [title, "", head, "| --- | --- | --- | --- |", *table, _row(total, report.total, language)]
        return MadeReport("\n".join(text), DATA)


def _row(name: str, used: Sum, language: Language) -> str:
    tokens = amount_words(used.spent.tokens, Unit.TOKENS, language)
    cost = amount_words(used.spent.cost, Unit.USD, language) if used.spent.cost else "–"
    return f"| {name} | {used.calls:,} | {tokens} | {cost} |"
