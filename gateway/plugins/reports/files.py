"""A report of the chat's files that are new or were changed."""

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from agent_core.origin import named
from agent_core.sources import file
from channels.text import in_code, literal
from gateway.plugin import Core
from gateway.schedule.jobs.report_kinds import MadeReport, ReportOrder, ReportRefused
from gateway.texts.moments import moment_words
from gateway.texts.say import say

FIRST_DAYS = 7
"""Days of which changes are told the first time, and before a report is set."""
MOST = 20
MOST_SEARCHED = 20_000
_DAY = 86_400.0
_KB = 1024


class _Changed(Struct, frozen=True):
    name: str
    at: float
    size: int


class Files:
    """The report of changed files."""

    def __init__(self, core: Core) -> None:
        self._core = core

    async def make(self, order: ReportOrder) -> MadeReport:
        """Make the report. Raises ReportRefused."""
        since = order.at - FIRST_DAYS * _DAY if order.since is None else order.since
        found = await asyncio.to_thread(self._changed, order, since)
        origin = named(file(order.subject))
        if not found:
            return MadeReport("", origin)
        rows = [
            f"| {_cell(each.name)} | {moment_words(each.at, order.zone, '%m-%d %H:%M')} | {_size(each.size)} |"
            for each in found[:MOST]
        ]
        left = len(found) - MOST
        more = ["", say("reports_more", order.language, count=left)] if left > 0 else []
        title = say("reports_files", order.language, path=_code(order.subject), count=len(found))
        head = say("reports_files_head", order.language)
        return MadeReport("\n".join([title, "", head, "| --- | --- | --- |", *rows, *more]), origin)

    def _changed(self, order: ReportOrder, since: float) -> list[_Changed]:
        """Return the files that changed after a moment, newest first. Blocks. Raises ReportRefused."""
        top = self._core.workspaces.folder(order.chat).resolve()
        try:
            wanted = (top / order.subject).resolve()
            is_there = wanted.is_relative_to(top) and wanted.exists()
        except (OSError, ValueError):  # it is too long for a path, or has a character that none has
            is_there = False
        if not is_there:
            raise ReportRefused(say("reports_no_file", order.language, path=_code(order.subject)))
        found = []
        for number, path in enumerate(_files(wanted)):
            if number >= MOST_SEARCHED:
                break
            try:
                facts = path.lstat()
            except OSError:  # it is gone
                continue
            if since < facts.st_mtime <= order.at:
                found.append(_Changed(path.relative_to(top).as_posix(), facts.st_mtime, facts.st_size))
        return sorted(found, key=lambda each: (-each.at, each.name))


def _files(wanted: Path) -> Iterator[Path]:
    """Yield a file, or those in a folder. Links and hidden ones are left out."""
    if wanted.is_file():
        yield wanted
        return
    for folder, folders, names in os.walk(wanted):
        folders[:] = sorted(each for each in folders if not each.startswith("."))
        for name in sorted(names):
            path = Path(folder, name)
            if not name.startswith(".") and not path.is_symlink():
                yield path


def _cell(name: str) -> str:
    """Return a name as a cell of a table, which a bar would end, in code as well."""
    return literal(" ".join(name.split())) if "|" in name else _code(name)


def _code(name: str) -> str:
    return f"`{in_code(name)}`"


def _size(size: int) -> str:
    return f"{size} B" if size < _KB else f"{size / _KB:,.0f} KB"
