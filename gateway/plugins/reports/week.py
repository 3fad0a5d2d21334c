"""The last seven days of a chat in review."""

from datetime import datetime

from agent_core.origin import DATA, joined
from channels.text import literal
from gateway.plugin import Core
from gateway.schedule.jobs.report_kinds import MadeReport, ReportOrder
from gateway.store.budget import Scope, chat_account
from gateway.store.job import CheckIn, FiringState
from gateway.texts.amounts import Unit, amount_words
from gateway.texts.say import say

DAYS = 7
MOST = 10
"""Conversations that are named."""
_DAY = 86_400.0
_SEARCHED = 100


class Week:
    """The report of a week."""

    def __init__(self, core: Core) -> None:
        self._core = core

    async def make(self, order: ReportOrder) -> MadeReport:
        """Make the report. Raises ReportRefused."""
        store, language, since = self._core.store, order.language, order.at - DAYS * _DAY
        only = self._core.access.only_of(order.chat, order.person)
        talks = await store.sessions.of(order.chat, _SEARCHED, person=only)
        talks = [each for each in talks if since < each.last <= order.at and each.runs]
        fired = await store.firings.in_chat_since(order.chat, since)
        jobs = {each.job: await store.jobs.find(each.job) for each in fired}
        came = [each for each in fired if each.state is FiringState.DONE and each.due <= order.at]
        reports = [each for each in came if not isinstance(getattr(jobs[each.job], "work", None), CheckIn)]
        failed = sum(each.state is FiringState.FAILED for each in fired)
        used = await store.spending.usage(since, Scope.CHAT, [chat_account(order.chat).subject])
        tokens, cost = sum(each.spent.tokens for each in used), sum(each.spent.cost for each in used)
        facts = (
            ("reports_week_talks", f"{len(talks)}"),
            ("reports_week_answers", f"{sum(each.runs for each in talks)}"),
            ("reports_week_came", f"{len(reports)}"),
            ("reports_week_failed", f"{failed}" if failed else ""),
            ("reports_week_tokens", amount_words(tokens, Unit.TOKENS, language) if tokens else ""),
            ("reports_week_cost", amount_words(cost, Unit.USD, language) if cost else ""),
        )
        first, last = (datetime.fromtimestamp(at, order.zone).date() for at in (since, order.at))
        lines = [say("reports_week", language, first=f"{first}", last=f"{last}"), ""]
        lines += [say("reports_week_head", language), "| --- | --- |"]
        lines += [f"| {say(key, language)} | {value} |" for key, value in facts if value]
        if named := [each for each in talks if each.title][:MOST]:
            lines += ["", say("reports_week_titles", language), *(f"- {literal(each.title)}" for each in named)]
        said = [await store.transcript.session_origin(each.id) for each in named]
        return MadeReport("\n".join(lines), joined([DATA, *said]))
