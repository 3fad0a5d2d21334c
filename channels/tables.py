"""Tables of Markdown as blocks of code, for platforms that have none."""

import re
import unicodedata
from collections.abc import Sequence
from typing import Literal

from channels.fences import prose_and_code
from channels.text import visible

_DELIMITER = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*")
_CELL = re.compile(r"(?<!\\)\|")
IMAGE = re.compile(r"!\[([^\[\]\n]*)\]\(<?([^\s()<>]+(?:\([^\s()]*\))?)>?(?:[ \t]+\"[^\"\n]*\")?\)")
LINK = re.compile(r"(?<!\\)\[([^\[\]\n]+)\]\(<?([^\s()<>]+(?:\([^\s()]*\)[^\s()]*)?)>?(?:[ \t]+\"[^\"\n]*\")?\)")
BREAK = re.compile(r"<br[ ]*/?>", re.IGNORECASE)

Side = Literal["left", "centre", "right"]


def table_rows(lines: Sequence[str], at: int) -> int:
    """Return how many lines from here on form a table."""
    if at + 1 >= len(lines) or "|" not in lines[at] or "|" not in lines[at + 1]:
        return 0
    if not _DELIMITER.fullmatch(lines[at + 1]) or len(cells(lines[at])) != len(cells(lines[at + 1])):
        return 0
    end = at + 2
    while end < len(lines) and "|" in lines[end]:
        end += 1
    return end - at


def cells(line: str) -> list[str]:
    return [cell.strip().replace("\\|", "|") for cell in _CELL.split(line.strip().removeprefix("|").removesuffix("|"))]


def without_tables(markdown: str, widest: int) -> str:
    """Return a text in which each table is a block of code, or paragraphs if that would be wider."""
    if "|" not in markdown:
        return markdown
    shown: list[str] = []
    for is_code, part in prose_and_code(markdown):
        lines, at = part.split("\n"), 0
        while at < len(lines):
            rows = 0 if is_code else table_rows(lines, at)
            shown.append(readable(lines[at : at + rows], widest) if rows else lines[at])
            at += rows or 1
    return "\n".join(shown)


def readable(lines: Sequence[str], widest: int) -> str:
    """Return a table as a block of code, or as a paragraph for each row if the block would have wider lines.

    On a phone such lines break, and nobody can read the columns any more.
    """
    block = table(lines)
    if max(map(shown_width, block.split("\n"))) <= widest:
        return block
    names, *rows = [cells(line) for number, line in enumerate(lines) if number != 1]
    return "\n\n".join(filter(None, (_paragraph(names, row) for row in rows))) or block


def _paragraph(names: Sequence[str], row: Sequence[str]) -> str:
    """Return a row as Markdown: its first cell in bold, then a line for each further cell."""
    title = plain(row[0]) if row else ""
    lines = [f"**{title}**"] if visible(title) else []
    for name, cell in zip(names[1:], row[1:], strict=False):
        if visible(cell):
            lines.append(f"{name}: {cell}" if visible(name) else cell)
    return "\n".join(lines)


def table(lines: Sequence[str]) -> str:
    """Render a table as a code block, the only place with letters of one width."""
    rows = [[plain(cell) for cell in cells(line)] for number, line in enumerate(lines) if number != 1]
    columns = len(rows[0])
    rows = [(row + [""] * columns)[:columns] for row in rows]
    widths = [max(shown_width(row[column]) for row in rows) for column in range(columns)]
    sides = [_side(cell) for cell in cells(lines[1])]
    text = ["  ".join(map(_padded, row, widths, sides)).rstrip() for row in rows]
    text.insert(1, "  ".join("─" * width for width in widths))
    return "```\n" + "\n".join(text).replace("```", "'''") + "\n```"


def _side(delimiter: str) -> Side:
    """Return where the cells of a column stand, by the line below its name."""
    if delimiter.endswith(":"):
        return "centre" if delimiter.startswith(":") else "right"
    return "left"


def plain(cell: str) -> str:
    """Remove formatting marks, which a code block would show."""
    cell = BREAK.sub(" ", LINK.sub(r"\1", IMAGE.sub(r"\1", cell)))
    return re.sub(r"\*\*|__|~~|`", "", cell)


def shown_width(text: str) -> int:
    return sum(0 if unicodedata.combining(char) else 1 + (unicodedata.east_asian_width(char) in "WF") for char in text)


def _padded(text: str, width: int, side: Side) -> str:
    left = width - shown_width(text)
    before = {"left": 0, "centre": left // 2, "right": left}[side]
    return " " * before + text + " " * (left - before)
