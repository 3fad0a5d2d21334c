"""The screen of costs: what the model has cost by day, model, chat, person and job, and the budgets."""

import json
from collections.abc import Callable
from datetime import date, datetime, timedelta
from pathlib import Path
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from msgspec import Struct
from msgspec.structs import replace

from gateway.admin.insight import Insight
from gateway.admin.screen import Group, NoSuchItem, View, Visit
from gateway.admin.times import date_words
from gateway.permissions.budget_notices import raised, target_of
from gateway.plugin import Core
from gateway.records.cost_report import CostReport, Days
from gateway.records.spending_report import Span, Sum, first_of
from gateway.store.budget import ALL, Account, Budget, Scope, Spent
from gateway.store.spending import By
from gateway.texts.amounts import Unit, allowance_words, amount_words, exact

MOST_LISTED = 200
TEMPLATE = Path(__file__).with_name("costs.html")
_WITHOUT = {
    By.MODEL: "page_costs_no_model",
    By.CHAT: "page_costs_no_chat",
    By.PERSON: "page_costs_no_person",
    By.JOB: "page_costs_no_job",
}
"""Texts for calls without a model, a chat, a person or a job."""


class Row(Struct, frozen=True):
    """The usage of one model, chat, person or job."""

    name: str
    sum: Sum
    colour: int
    """Number of its colour in the chart, from 1."""
    link: str
    """Address of its runs; empty for a model."""


class BudgetRow(Struct, frozen=True):
    """A budget, with what is used and reserved of it, and the arguments of the commands that change it."""

    whose: str
    allowance: str
    used: str
    reserved: str
    percent: int
    is_default: bool
    raise_to: str
    raise_label: str
    remove: str
    """Empty for a budget of the settings."""


class CostsScreen:
    """Shows sums of the ledger of model calls, and what is left of the budgets."""

    name = "costs"
    after = "people"
    group = Group.PEOPLE
    icon = "wallet"

    def __init__(self, core: Core) -> None:
        self._spending = core.store.spending
        self._budgets = core.budgets
        self._access = core.access
        self._insight = Insight(core.access, core.roles)
        self._current = core.settings
        self._clock = core.clock

    async def view(self, visit: Visit) -> View:
        """Return the costs of the day or span in the query, by the property that it names."""
        by, span, days = self._asked(visit)
        shares = await self._spending.shares(days.since, days.until, by)
        if by is By.PERSON:
            people = {each: self._access.person_with(each) for each in {each.subject for each in shares}}
            shares = [
                each if people[each.subject] == each.subject else replace(each, subject=people[each.subject])
                for each in shares
            ]
        report, named = (
            CostReport(days, shares),
            _Named(visit, self._insight.account, self._insight.names(visit).of_key),
        )
        rows = _rows(named, by, report)
        facts = {
            "by": by,
            "ways": list(By),
            "span": span,
            "yesterday": _day(self._clock.time(), self._current.zone) - timedelta(days=1),
            "spans": list(Span),
            "days": days,
            "query": urlencode({"day": days.first} if span is None else {"span": span}),
            "report": report,
            "rows": rows[:MOST_LISTED],
            "left_out": max(0, len(rows) - MOST_LISTED),
            "chart": json.dumps(
                {"labels": list(report.bars), "series": report.series(), "unit": visit.say(f"page_in_{report.unit}")}
            ),
            "day_words": lambda label: date_words(date.fromisoformat(label), visit.language),
            "usd": lambda amount: amount_words(amount, Unit.USD, visit.language),
            "budgets": await self._budget_rows(named),
            "defaults": self._defaults(visit),
            "targets": self._targets(named),
        }
        return View(TEMPLATE, facts)

    def _asked(self, visit: Visit) -> tuple[By, Span | None, Days]:
        """Return what the query asks for; there is no span if it names a day. Raises NoSuchItem."""
        now, zone, query = self._clock.time(), self._current.zone, visit.query
        today = _day(now, zone)
        try:
            by = By(query.get("by", By.MODEL))
            if "day" in query:
                day = min(date.fromisoformat(query["day"]), today)
                return by, None, Days(day, day, zone)
            span = Span(query.get("span", Span.WEEK))
        except ValueError as error:
            raise NoSuchItem from error
        return by, span, Days(first_of(span, now, zone), today, zone)

    async def _budget_rows(self, named: "_Named") -> list[BudgetRow]:
        """Return all budgets, those of everything first, then those of which most is used."""
        await self._budgets.refresh()
        reserved, ledger = await self._budgets.reserved(), self._budgets.ledger
        rows = []
        for account in {ledger.shared(each)[0] for each in self._budgets.accounts}:
            for budget in self._budgets.of(account):
                sums = reserved[budget.allowance.period]
                held = sum((sums.get(each, Spent()) for each in ledger.shared(account)), Spent())
                rows.append(((account != ALL), self._budget_row(named, budget, held)))
        rows.sort(key=lambda pair: (pair[0], -pair[1].percent, pair[1].whose))
        return [row for _, row in rows[:MOST_LISTED]]

    def _budget_row(self, named: "_Named", budget: Budget, reserved: Spent) -> BudgetRow:
        allowance, target, language = budget.allowance, target_of(budget.account), named.visit.language
        used, held = self._budgets.used(budget), reserved.of(allowance.unit)
        more = raised(budget, used, self._budgets.needed(budget))
        return BudgetRow(
            whose=named.account(budget.account),
            allowance=allowance_words(allowance, language),
            used=amount_words(used, allowance.unit, language),
            reserved=amount_words(held, allowance.unit, language) if held else "",
            percent=used * 100 // allowance.amount,
            is_default=budget.is_default,
            raise_to=f"raise {target} {exact(more)}",
            raise_label=named.visit.say("budget_raise_button", allowance=allowance_words(more, language)),
            remove="" if budget.is_default else f"{target} off a {allowance.period}",
        )

    def _defaults(self, visit: Visit) -> list[tuple[str, str]]:
        """Return the budgets that the settings give to each chat, person and job: text key and allowance."""
        return [
            (f"page_costs_each_{scope}", allowance_words(each, visit.language))
            for scope in (Scope.CHAT, Scope.PERSON, Scope.JOB)
            for each in self._current.allowances(scope)
        ]

    def _targets(self, named: "_Named") -> dict[str, str]:
        """Return the accounts for which a budget can be set, by the words by which /budget names them."""
        accounts = {self._budgets.ledger.shared(each)[0] for each in self._budgets.accounts} - {ALL}
        known = sorted(accounts, key=lambda each: (each.scope, each.subject))[:MOST_LISTED]
        return {target_of(each): named.account(each) for each in (ALL, *known)}


class _Named(Struct, frozen=True):
    """Names of what calls were paid for."""

    visit: Visit
    name_of_account: Callable[[str], str]
    name_of_chat: Callable[[str], str]

    def subject(self, by: By, subject: str) -> str:
        if not subject:
            return self.visit.say(_WITHOUT[by])
        if by is By.CHAT:
            return self.name_of_chat(subject)
        return self.name_of_account(subject) if by is By.PERSON else subject

    def account(self, account: Account) -> str:
        match account.scope:
            case Scope.ALL:
                return self.visit.say("budget_of_all")
            case Scope.JOB:
                return self.visit.say("budget_of_job", name=account.subject)
            case _:
                return self.subject(By(account.scope), account.subject)


def _day(at: float, zone: ZoneInfo) -> date:
    return datetime.fromtimestamp(at, zone).date()


def _rows(named: _Named, by: By, report: CostReport) -> list[Row]:
    """Return the subjects, what cost most first."""
    day = {"day": f"{report.days.first}"} if report.days.is_one else {}
    return [
        Row(
            name=named.subject(by, subject),
            sum=used,
            colour=report.colours[subject],
            link=f"/admin/runs?{urlencode({by: subject, **day})}" if subject and by is not By.MODEL else "",
        )
        for subject, used in report.subjects.items()
    ]
