"""Fenced code blocks of a Markdown text, and how to close and reopen them when the text is split.

Quotes and list items may contain fences; a fence that is never closed reaches to the end of the text.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

_TICKS = re.compile(r"`+")
_RUN = re.compile(r"`{3,}|~{3,}")
_PREFIX = re.compile(r"[ \t>]*+(?:(?:[-*+]|\d{1,9}[.)])[ \t]++[ \t>]*+)*+")
_QUOTED_LINE = re.compile(r"[ \t]*>")
_LONGEST_PREFIX = 200
_LONGEST_RUN = 100
_LONGEST_LANGUAGE = 40
_LEAST_CODE_INDENT = 4


class Fence(NamedTuple):
    """Offsets of a fenced block: opening line at `start`, code from `inside` to `code_end`, closing line up to
    `end`."""

    start: int
    inside: int
    code_end: int
    end: int
    opener: str
    """Line that reopens the block in the next part."""
    closer: str


class _Open(NamedTuple):
    start: int
    inside: int
    run: str
    prefix: str
    language: str

    def closed(self, code_end: int, end: int) -> Fence:
        again = re.sub(r"[^\s>]", " ", self.prefix)
        if ">" not in again and len(again.expandtabs()) >= _LEAST_CODE_INDENT:
            again = "   "
        return Fence(self.start, self.inside, code_end, end, again + self.run + self.language, again + self.run)


def prose_and_code(markdown: str) -> Iterator[tuple[bool, str]]:
    """Yield the text in pieces, in order: (True, a block with its fences) or (False, the lines between blocks)."""
    fences = Fences(markdown)
    text, at, prose = fences.text, 0, 0
    while at < len(text):
        fence = fences.around(at + 1)
        if fence is None or fence.start != at:
            line_end = text.find("\n", at)
            at = len(text) if line_end < 0 else line_end + 1
            continue
        if prose < at:
            yield False, text[prose : at - 1]
        yield True, text[fence.start : fence.code_end].rstrip("\n") + "\n" + fence.closer
        at = prose = fence.end + 1
    if prose < len(text):
        yield False, text[prose:]


def code_spans(line: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each piece of inline code, backticks included.

    As in CommonMark, a run of backticks is closed by the next run of the same length.
    """
    runs = [(found.start(), found.end()) for found in _TICKS.finditer(line)]
    later: dict[int, list[int]] = {}
    for number in range(len(runs) - 1, -1, -1):
        later.setdefault(runs[number][1] - runs[number][0], []).append(number)
    number = 0
    while number < len(runs):
        start, end = runs[number]
        same = later[end - start]
        while same and same[-1] <= number:
            same.pop()
        if same:
            number = same[-1]
            yield start, runs[number][1]
        number += 1


class Fences:
    """The fences of one text; `text` is the given one with its last fence closed."""

    def __init__(self, markdown: str) -> None:
        self.text = markdown
        self._fences: list[Fence] = []
        opened = self._scan() if "```" in markdown or "~~~" in markdown else None
        if opened is not None:
            fence = opened.closed(len(markdown), len(markdown))
            separator = "" if markdown.endswith("\n") else "\n"
            self.text = markdown + separator + fence.closer
            self._fences.append(fence._replace(code_end=len(markdown + separator), end=len(self.text)))
        self._starts = [fence.start for fence in self._fences]

    def blocks(self) -> Iterator[tuple[int, int]]:
        """Yield the start and end of each fenced block."""
        return ((fence.start, fence.end) for fence in self._fences)

    def around(self, position: int) -> Fence | None:
        """Return the fence that a cut at `position` would split."""
        index = bisect_right(self._starts, position) - 1
        if index < 0:
            return None
        fence = self._fences[index]
        return fence if fence.start < position < fence.end else None

    def last_end(self, position: int) -> int:
        """Return the end of the last fence that lies wholly before `position`, or 0."""
        index = bisect_right(self._starts, position) - 1
        while index >= 0 and self._fences[index].end > position:
            index -= 1
        return self._fences[index].end if index >= 0 else 0

    def _scan(self) -> _Open | None:
        """Collect the closed fences; return the one that stays open."""
        opened: _Open | None = None
        line_end = -1
        for run in _RUN.finditer(self.text):
            if run.start() < line_end:
                continue
            line_start = self.text.rfind("\n", 0, run.start()) + 1
            line_end = self._line_end(run.end())
            prefix = self.text[line_start : run.start()]
            if len(prefix) > _LONGEST_PREFIX or not _PREFIX.fullmatch(prefix):
                continue
            rest = self.text[run.end() : line_end].strip()
            opened = self._left_quote(opened, line_start)
            if opened is None:
                opened = self._opening(line_start, line_end, prefix, run.group(), rest)
            elif _closes(opened, prefix, run.group(), rest):
                self._fences.append(opened.closed(line_start, line_end))
                opened = None
        return self._left_quote(opened, len(self.text))

    def _opening(self, line_start: int, line_end: int, prefix: str, run: str, rest: str) -> _Open | None:
        if len(run) > _LONGEST_RUN or (run[0] == "`" and "`" in rest):
            return None
        inside = min(line_end + 1, len(self.text))
        return _Open(line_start, inside, run, prefix, rest if len(rest) <= _LONGEST_LANGUAGE else "")

    def _left_quote(self, opened: _Open | None, before: int) -> _Open | None:
        """Close a fence that began inside a quote at the first line that is no longer quoted."""
        if opened is None or ">" not in opened.prefix:
            return opened
        line = opened.inside
        while line < before:
            if not _QUOTED_LINE.match(self.text, line):
                self._fences.append(opened.closed(line, line))
                return None
            line = self._line_end(line) + 1
        return opened

    def _line_end(self, position: int) -> int:
        end = self.text.find("\n", position)
        return len(self.text) if end < 0 else end


def _closes(opened: _Open, prefix: str, run: str, rest: str) -> bool:
    return not rest and run[0] == opened.run[0] and len(run) >= len(opened.run) and not prefix.strip(" \t>")
