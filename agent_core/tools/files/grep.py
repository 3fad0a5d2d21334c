"""The tool `grep`: searches files of the chat's workspace.

Parley finds and opens the files itself, so that nothing leads out of the workspace. ripgrep, if installed, only gets
open files and only reports the numbers of matching lines.
"""

import asyncio
import os
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from agent_core.cancel import CancelToken
from agent_core.tool_result import ToolResult
from agent_core.tools.files.confined import failure, names_of, printable
from agent_core.tools.files.contents import is_binary
from agent_core.tools.files.line_search import (
    PATTERN_CHARS,
    Search,
    Unsearchable,
    has_handles,
    lines_of,
    python_search,
    ripgrep_search,
)
from agent_core.tools.files.tree import Names, files_beneath, fits, open_searched
from agent_core.tools.tool import Tool, ToolContext, ToolFailed, tool
from agent_core.workspace.safe_open import Opener, open_root

MOST_FILES = 10_000
MOST_HITS = 100
PAGE_CHARS = 12_000
LINE_CHARS = 300
SECONDS = 20.0

_BATCH = 32
"""Files open at the same time."""
_START = 8192


def find_ripgrep() -> str | None:
    """Return ripgrep's path, if it is installed and can be given open files."""
    return shutil.which("rg") if has_handles() else None


def grep_tool(opener: Opener, ripgrep: str | None, seconds: float = SECONDS) -> Tool:
    """Return the tool `grep`, which stops after so many seconds."""

    @tool(execution="parallel", label="Searching for {pattern}")
    async def grep(pattern: str, context: ToolContext, path: str = ".", glob: str = "") -> ToolResult:
        """Search workspace files for a regular expression."""
        if not pattern or len(pattern) > PATTERN_CHARS:
            raise ToolFailed(f"a pattern has 1 to {PATTERN_CHARS} characters")
        hunt = _Hunt(pattern, path, glob, opener, time.monotonic() + seconds, context.cancel)
        said = await asyncio.to_thread(hunt.run, context.workspace, ripgrep)
        return ToolResult.of(said).from_(await asyncio.to_thread(context.files.of, hunt.found))

    return grep


@dataclass
class _Hunt:
    """One search."""

    pattern: str
    path: str
    glob: str
    opener: Opener
    until: float
    """Deadline on the monotonic clock."""
    cancel: CancelToken
    searched: int = 0
    refused: int = 0
    hits: list[str] = field(default_factory=list)
    found: list[str] = field(default_factory=list)
    """Paths of files with matches."""
    notes: list[str] = field(default_factory=list)

    def run(self, workspace: Path, ripgrep: str | None) -> str:
        names = names_of(self.path)
        if not names and not workspace.exists():
            return self._answer()
        search = ripgrep_search(ripgrep, self.pattern) if ripgrep else python_search(self.pattern)
        try:
            root = open_root(workspace)
            try:
                self._search_all(root, names, search)
            finally:
                os.close(root)
        except OSError as error:
            raise failure(error.errno or 0, self.path) from error
        return self._answer()

    def _search_all(self, root: int, folder: Names, search: Search) -> None:
        beneath = files_beneath(root, folder, self.opener, self._goes_on)
        found = (names for names in beneath if fits(names, self.glob))
        wanted = islice(found, MOST_FILES)
        while not self.cancel.cancelled and (batch := list(islice(wanted, _BATCH))):
            with self._opened(root, batch) as files:
                search = self._search_batch(files, search)
            if self._is_enough():
                return
        if not self._is_enough() and not self.cancel.cancelled and next(found, None):
            self.notes.append(f"only {MOST_FILES} files were searched; narrow the path or the glob")

    def _goes_on(self) -> bool:
        return not self.cancel.cancelled and time.monotonic() < self.until

    @contextmanager
    def _opened(self, root: int, batch: Sequence[Names]) -> Iterator[dict[Names, int]]:
        files: dict[Names, int] = {}
        try:
            for names in batch:
                handle = open_searched(root, names, self.opener)
                if handle is None:
                    self.refused += 1
                    continue
                files[names] = handle
            yield {names: handle for names, handle in files.items() if not is_binary(os.pread(handle, _START, 0))}
        finally:
            for handle in files.values():
                os.close(handle)

    def _search_batch(self, files: dict[Names, int], search: Search) -> Search:
        """Search a batch and return the search for the next one: Python's replaces ripgrep's if that fails."""
        if not files:
            return search
        try:
            numbers = search(tuple(files.values()), MOST_HITS + 1, self.until)
        except Unsearchable:
            return self._search_batch(files, python_search(self.pattern))
        except TimeoutError:
            numbers = []
            self.until = 0
        for (names, handle), lines in zip(files.items(), numbers, strict=False):
            if lines:
                self._add("/".join(names), lines, lines_of(handle))
        self.searched += len(files)
        return search

    def _add(self, path: str, numbers: Sequence[int], lines: Sequence[str]) -> None:
        self.found.append(path)
        for number in numbers:
            if number <= len(lines):
                line = lines[number - 1]
                short = line if len(line) <= LINE_CHARS else f"{line[:LINE_CHARS]}…"
                self.hits.append(f"{printable(path)}:{number}: {short}")

    def _is_enough(self) -> bool:
        if time.monotonic() >= self.until:
            self.notes.append("the search took too long and was stopped; narrow the path, the glob or the pattern")
            return True
        return len(self.hits) > MOST_HITS

    def _answer(self) -> str:
        page: list[str] = []
        room = PAGE_CHARS
        for hit in self.hits[:MOST_HITS]:
            room -= len(hit) + 1
            if room < 0:
                break
            page.append(hit)
        if len(page) < len(self.hits):
            self.notes.insert(0, f"only the first {len(page)} matches; narrow the path, the glob or the pattern")
        if self.refused:
            self.notes.append(f"{_files(self.refused)} not searched: too large, hard links, or no permission")
        if not self.hits:
            page.append(f"(no match in {_files(self.searched)})")
        return "\n".join([*page, *(f"[{note}]" for note in self.notes)])


def _files(count: int) -> str:
    return "1 file" if count == 1 else f"{count} files"
