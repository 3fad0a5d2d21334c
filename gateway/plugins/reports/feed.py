"""A report of what is new in a feed (RSS or Atom)."""

import asyncio
import hashlib
import re

from agent_core.origin import named
from agent_core.sources import page
from agent_core.tools.tool import ToolFailed
from agent_core.tools.web.fetch import AnswerRefused
from agent_core.tools.web.text import decode, is_feed, read_feed
from channels.text import literal
from gateway.plugin import Core
from gateway.plugins.reports.table import Told
from gateway.plugins.reports.web import read, refused
from gateway.schedule.jobs.report_kinds import MadeReport, ReportOrder, ReportRefused
from gateway.texts.say import say

FIRST = 5
"""Entries that are told the first time, and before a report is set."""
MOST = 20
"""Entries of one report."""
_ENTRY = re.compile(r"^- (.+)$", re.MULTILINE)
_LINK = re.compile(r"\]\((\S+?)\)")


class Feed:
    """The report of a feed."""

    def __init__(self, core: Core, told: Told) -> None:
        self._core = core
        self._told = told

    async def make(self, order: ReportOrder) -> MadeReport:
        """Make the report. Raises ReportRefused."""
        language, url = order.language, order.subject.strip().strip("<>")
        try:
            found = await read(self._core, url, language)
        except AnswerRefused as error:
            raise refused(error, language) from error
        content = decode(found.body, found.charset, markup=True)
        if not is_feed(content):
            raise ReportRefused(say("reports_no_feed", language, url=literal(url)))
        try:
            shown = await asyncio.to_thread(read_feed, content, found.url)
        except ToolFailed as error:
            raise refused(error, language) from error
        entries = {_name(line): line for line in _ENTRY.findall(shown.text)}
        new = await self._told.new(order, list(entries)) if order.job else None
        is_told = list(entries)[:FIRST] if new is None else new
        lines = [line for name, line in entries.items() if name in is_told]
        origin = named(page(found.url))
        if not lines:
            return MadeReport("", origin, url)
        title = say("reports_feed", language, title=literal(shown.title or url))
        left = len(lines) - MOST
        more = [say("reports_more", language, count=left)] if left > 0 else []
        return MadeReport("\n".join([title, "", *(f"- {line}" for line in lines[:MOST]), *more]), origin, url)


def _name(line: str) -> str:
    """Return a short name of an entry: by its address, or by its words if it has none."""
    link = _LINK.search(line)
    return hashlib.sha256((link[1] if link else line).encode(errors="replace")).hexdigest()[:24]
