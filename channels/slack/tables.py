"""Slack's table block, made of a Markdown table. Pure.

A message may have one table block. More tables, or one that is larger than Slack allows, stay Markdown.
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from pydantic import JsonValue

from channels.fences import Fences, code_spans

MOST_ROWS = 100
MOST_COLUMNS = 20
MOST_CHARS = 10_000
"""Characters of all cells together, a limit that those who use the block report."""
_DELIMITERS = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*")
_INLINE = re.compile(
    r"\*\*(?P<bold>[^*\n]+)\*\*|`(?P<code>[^`\n]+)`|\[(?P<label>[^\[\]\n]+)\]\((?P<url>https?://[^()\s]+)\)"
)
_BACKSLASH = re.compile(r"\\([!-/:-@\[-`{-~])")
_BLANK = " "
Json = dict[str, JsonValue]


class Table(NamedTuple):
    """A table of a Markdown text, and where it stands in it."""

    start: int
    end: int
    rows: tuple[tuple[str, ...], ...]
    aligns: tuple[str, ...]

    @property
    def fits(self) -> bool:
        """True if Slack accepts it as a table block."""
        return (
            len(self.rows) <= MOST_ROWS
            and len(self.aligns) <= MOST_COLUMNS
            and sum(len(cell) for row in self.rows for cell in row) <= MOST_CHARS
        )


def only_table(markdown: str) -> Table | None:
    """Return the text's table; None if it has none or several, or one that does not fit."""
    if "|" not in markdown:
        return None
    found = list(_tables(markdown))
    return found[0] if len(found) == 1 and found[0].fits else None


def block(table: Table) -> Json:
    """Return the block that shows a table."""
    rows: list[JsonValue] = [[_cell(cell) for cell in row] for row in table.rows]
    settings: list[JsonValue] = [{"align": align, "is_wrapped": True} for align in table.aligns]
    return {"type": "table", "rows": rows, "column_settings": settings}


def _tables(markdown: str) -> Iterator[Table]:
    fences = Fences(markdown)
    lines = list(_lines(markdown))
    number = 1
    while number < len(lines):
        (head_at, head), (at, delimiters) = lines[number - 1], lines[number]
        number += 1
        if "|" not in delimiters or "|" not in head or not _DELIMITERS.fullmatch(delimiters) or fences.around(at):
            continue
        cells, aligns = _cells(head), tuple(_align(each) for each in _cells(delimiters))
        if len(cells) != len(aligns):
            continue
        rows, end = [cells], at + len(delimiters)
        while number < len(lines) and lines[number][1].strip() and "|" in lines[number][1]:
            at, line = lines[number]
            row = _cells(line)
            rows.append((*row, *("",) * len(cells))[: len(cells)])
            end, number = at + len(line), number + 1
        yield Table(head_at, end, tuple(rows), aligns)


def _lines(markdown: str) -> Iterator[tuple[int, str]]:
    at = 0
    for line in markdown.split("\n"):
        yield at, line
        at += len(line) + 1


def _cells(line: str) -> tuple[str, ...]:
    code = {at for start, end in code_spans(line) for at in range(start, end)}
    cuts = [at for at, char in enumerate(line) if char == "|" and at not in code and line[at - 1 : at] != "\\"]
    edges = [-1, *cuts, len(line)]
    cells = [line[left + 1 : right].strip() for left, right in pairwise(edges)]
    inner = cells[1 if cuts and not cells[0] else 0 :]
    return tuple(inner[:-1] if len(inner) > 1 and not inner[-1] and line.rstrip().endswith("|") else inner)


def _align(cell: str) -> str:
    if cell.endswith(":"):
        return "center" if cell.startswith(":") else "right"
    return "left"


def _cell(markdown: str) -> Json:
    parts = list(_parts(markdown))
    if not parts:
        return {"type": "raw_text", "text": _BLANK}
    if all(set(part) == {"type", "text"} for part in parts):
        return {"type": "raw_text", "text": "".join(str(part["text"]) for part in parts)}
    elements: list[JsonValue] = [*parts]
    return {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": elements}]}


def _parts(markdown: str) -> Iterator[Json]:
    at = 0
    for found in _INLINE.finditer(markdown):
        yield from _plain(markdown[at : found.start()])
        if found["bold"]:
            yield {"type": "text", "text": _unescaped(found["bold"]), "style": {"bold": True}}
        elif found["code"]:
            yield {"type": "text", "text": found["code"].replace("\\|", "|"), "style": {"code": True}}
        else:
            yield {"type": "link", "url": found["url"], "text": _unescaped(found["label"])}
        at = found.end()
    yield from _plain(markdown[at:])


def _plain(text: str) -> Iterator[Json]:
    if text:
        yield {"type": "text", "text": _unescaped(text)}


def _unescaped(text: str) -> str:
    return _BACKSLASH.sub(r"\1", text)
