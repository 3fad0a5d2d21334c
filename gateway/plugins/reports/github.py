"""A report of what happened in a public repository on GitHub."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from http import HTTPStatus
from urllib.parse import urlencode

from pydantic import BaseModel, TypeAdapter

from agent_core.origin import named
from agent_core.sources import page
from agent_core.tools.web.fetch import AnswerRefused
from channels.text import literal
from gateway.plugin import Core
from gateway.plugins.reports.web import read_json, refused
from gateway.schedule.jobs.report_kinds import MadeReport, ReportOrder, ReportRefused
from gateway.texts.say import Language, say

API = "https://api.github.com"
FIRST_DAYS = 7
"""Days that are told the first time, and before a report is set."""
MOST = 10
"""Items of a kind."""
_DAY = 86_400.0
_NAME = re.compile(r"(?:https?://)?(?:www\.)?(?:github\.com/)?([A-Za-z0-9-]{1,39}/[A-Za-z0-9._-]{1,100}?)(?:\.git)?/?")
_BUSY = (HTTPStatus.FORBIDDEN, HTTPStatus.TOO_MANY_REQUESTS)


class _Release(BaseModel):
    name: str | None = None
    tag_name: str
    html_url: str
    published_at: datetime | None = None


class _Issue(BaseModel):
    number: int
    title: str
    html_url: str
    created_at: datetime
    closed_at: datetime | None = None
    pull_request: dict[str, object] | None = None


class GitHub:
    """The report of a repository."""

    def __init__(self, core: Core) -> None:
        self._core = core

    async def make(self, order: ReportOrder) -> MadeReport:
        """Make the report. Raises ReportRefused."""
        language = order.language
        repository = _NAME.fullmatch(order.subject.strip().strip("<>"))
        if repository is None:
            raise ReportRefused(say("reports_no_repository", language, name=literal(order.subject)))
        name = repository[1]
        since = order.at - FIRST_DAYS * _DAY if order.since is None else order.since
        query = urlencode(
            {"state": "all", "sort": "updated", "per_page": 100, "since": f"{_moment(since):%Y-%m-%dT%H:%M:%SZ}"}
        )
        try:
            releases = await read_json(
                self._core, f"{API}/repos/{name}/releases?per_page=10", TypeAdapter(list[_Release]), language
            )
            issues = await read_json(
                self._core, f"{API}/repos/{name}/issues?{query}", TypeAdapter(list[_Issue]), language
            )
        except AnswerRefused as error:
            raise _why(error, name, language) from error
        window = _moment(since), _moment(order.at)
        found = [
            *_part("reports_releases", _links(releases, window), language),
            *_part("reports_pulls", _opened(issues, window, are_pulls=True), language),
            *_part("reports_issues", _opened(issues, window, are_pulls=False), language),
        ]
        closed = sum(each.closed_at is not None and _is_in(each.closed_at, window) for each in issues)
        if closed:
            found += ["", say("reports_closed", language, count=closed)]
        origin = named(page(f"https://github.com/{name}"))
        title = say("reports_github", language, name=literal(name))
        return MadeReport("\n".join([title, *found]) if found else "", origin, name)


def _why(error: AnswerRefused, name: str, language: Language) -> ReportRefused:
    if error.status == HTTPStatus.NOT_FOUND:
        return ReportRefused(say("reports_no_repository", language, name=literal(name)))
    if error.status in _BUSY:
        return ReportRefused(say("reports_github_busy", language))
    return refused(error, language)


def _moment(at: float) -> datetime:
    return datetime.fromtimestamp(at, UTC)


def _is_in(at: datetime, window: tuple[datetime, datetime]) -> bool:
    since, until = window
    return since < at <= until


def _links(releases: Sequence[_Release], window: tuple[datetime, datetime]) -> list[str]:
    new = [each for each in releases if each.published_at is not None and _is_in(each.published_at, window)]
    return [_link(each.name or each.tag_name, each.html_url) for each in new]


def _link(words: str, address: str) -> str:
    return f"[{literal(words)}]({address})"


def _opened(issues: Sequence[_Issue], window: tuple[datetime, datetime], *, are_pulls: bool) -> list[str]:
    new = [each for each in issues if _is_in(each.created_at, window) and (each.pull_request is not None) == are_pulls]
    return [_link(f"#{each.number} {each.title}", each.html_url) for each in new]


def _part(key: str, lines: Sequence[str], language: Language) -> list[str]:
    if not lines:
        return []
    left = len(lines) - MOST
    more = [f"- {say('reports_more', language, count=left)}"] if left > 0 else []
    return ["", say(key, language, count=len(lines)), *(f"- {line}" for line in lines[:MOST]), *more]
