"""The screen of the overview: whether all is well, what waits, what it costs, what comes next, and what happened."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta

from msgspec import Struct

from gateway.admin.insight import ChatNames, Insight
from gateway.admin.questions import asked_of, chat_of
from gateway.admin.screen import Badge, Feed, Group, View, Visit
from gateway.admin.state import Line, State
from gateway.permissions.budgets import Budgets
from gateway.permissions.question_text import one_line, shown
from gateway.records.cost_report import CostReport, Days
from gateway.records.spending_report import Sum
from gateway.store.budget import ALL
from gateway.store.job import CheckIn, Job
from gateway.store.run_records import RunFilter, RunRecord
from gateway.store.spending import By
from gateway.store.store import Store
from gateway.texts.amounts import USD, Unit, allowance_words, amount_words

MOST_LISTED = 5
"""Jobs and runs."""
MOST_WORDS = 90
"""Characters of a job's text."""
KNOWN = 30
"""Runs after which nobody needs first steps."""


class _Run(Struct, frozen=True):
    run: RunRecord
    asked: str
    may_read: bool
    chat: str
    cost: str


class _Next(Struct, frozen=True):
    job: Job
    words: str
    chat: str


class _Today(Struct, frozen=True):
    """The cost of today, against the budget of the whole installation."""

    cost: str
    calls: int
    yesterday: str
    """Cost of the day before; empty if there was none."""
    day_before: date
    allowance: str
    """Empty if there is no budget."""
    used: str
    percent: int


class _Step(Struct, frozen=True):
    """One of the first steps."""

    what: str
    link: str
    is_done: bool


class OverviewScreen:
    """Shows in one look whether Parley works, what it costs, and what it wants."""

    name = "overview"
    group = Group.START
    icon = "house"

    def __init__(
        self,
        state: State,
        store: Store,
        insight: Insight,
        budgets: Budgets,
        *,
        waiting: Mapping[str, Badge],
        inbox: Feed,
        has_costs: bool,
    ) -> None:
        """Create the screen.

        Args:
            state: Reads whether all is well.
            waiting: Counts what waits on other screens than the inbox, by their names.
            inbox: Returns what waits in the inbox.
            has_costs: True if there is a screen of costs, where budgets are set, too.
        """
        self._state = state
        self._store = store
        self._insight = insight
        self._budgets = budgets
        self._current = state.current
        self._clock = state.clock
        self._waiting = waiting
        self._inbox = inbox
        self._has_costs = has_costs
        self._set_budget = "/admin/costs" if has_costs else "/?text=/budget%20all%20"

    async def view(self, visit: Visit) -> View:
        """Return all of it, read anew."""
        lines = await self._state.lines(visit)
        runs, due = await self._store.run_records.listed(RunFilter(), MOST_LISTED, 0), await self._due()
        chats = [*map(chat_of, runs), *(each.chat for each in due)]
        names = self._insight.names(visit, await self._store.conversations.titles(chats))
        steps = await self._steps(visit, runs)
        facts = {
            "lines": lines,
            "verdict": _verdict(lines, steps),
            "inbox": await self._inbox(visit),
            "elsewhere": [(name, count) for name, badge in self._waiting.items() if (count := await badge())],
            "today": await self._today(visit),
            "set_budget": self._set_budget,
            "has_costs": self._has_costs,
            "next": [self._next(each, visit, names) for each in due],
            "runs": await self._runs(runs, visit, names),
            "steps": steps,
        }
        return View("overview.html", facts)

    async def _runs(self, runs: Sequence[RunRecord], visit: Visit, names: ChatNames) -> list[_Run]:
        readable = [each for each in runs if self._insight.may_read(visit, chat_of(each), each.person)]
        asked = await asked_of(self._store, readable)
        return [
            _Run(
                each,
                asked.get(each.run, ""),
                each.run in asked,
                names.beside(each.chat, asked.get(each.run, "")),
                amount_words(round(each.cost_usd * USD), Unit.USD, visit.language) if each.cost_usd else "",
            )
            for each in runs
        ]

    async def _due(self) -> list[Job]:
        """Return the jobs that are due next."""
        found = [each for each in await self._store.jobs.active() if not isinstance(each.work, CheckIn)]
        due = sorted((each.next_at, each.id, each) for each in found if each.next_at is not None)
        return [job for _, _, job in due[:MOST_LISTED]]

    def _next(self, job: Job, visit: Visit, names: ChatNames) -> _Next:
        may_read = self._insight.may_read(visit, job.chat, job.person)
        return _Next(job, one_line(shown(job.words), MOST_WORDS) if may_read else "", names.of(job.chat))

    async def _today(self, visit: Visit) -> _Today:
        zone, language = self._current.zone, visit.language
        day = datetime.fromtimestamp(self._clock.time(), zone).date()
        before = day - timedelta(days=1)
        total, earlier = await self._total(Days(day, day, zone)), await self._total(Days(before, before, zone))
        await self._budgets.refresh()
        budget = next(iter(self._budgets.of(ALL)), None)
        used = self._budgets.used(budget) if budget else 0
        return _Today(
            cost=amount_words(total.spent.cost, Unit.USD, language),
            calls=total.calls,
            yesterday=amount_words(earlier.spent.cost, Unit.USD, language) if earlier.spent.cost else "",
            day_before=before,
            allowance=allowance_words(budget.allowance, language) if budget else "",
            used=amount_words(used, budget.allowance.unit, language) if budget else "",
            percent=used * 100 // budget.allowance.amount if budget else 0,
        )

    async def _total(self, days: Days) -> Sum:
        return CostReport(days, await self._store.spending.shares(days.since, days.until, By.MODEL)).total

    async def _steps(self, visit: Visit, runs: list[RunRecord]) -> list[_Step]:
        """Return the first steps; none once all are done, or once Parley has been used a while."""
        if not visit.is_owner or await self._store.run_records.listed(RunFilter(), 1, KNOWN):
            return []
        steps = [
            _Step(visit.say("overview_step_model"), "/admin/connect/model", self._state.has_model),
            _Step(visit.say("overview_step_ask"), "/", bool(runs)),
            _Step(visit.say("overview_step_platform"), "/admin/connect", bool(self._state.platforms())),
            _Step(visit.say("overview_step_budget"), self._set_budget, bool(self._budgets.of(ALL))),
        ]
        return [] if all(each.is_done for each in steps) else steps


def _verdict(lines: Sequence[Line], steps: Sequence[_Step]) -> str:
    """Return the worst of the lines. A model that is yet to be connected is a step and no problem."""
    problems = [each for each in lines if each.mark == "problem"]
    to_do = {each.link for each in steps if not each.is_done}
    return "ok" if not problems else "note" if all(each.link in to_do for each in problems) else "problem"
