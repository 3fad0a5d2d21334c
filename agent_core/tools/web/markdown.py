"""A writer of Markdown, fed with a page's elements and text.

Headings, lists, quotes, tables, code, links and alternative texts are kept; bold and italics are not, because they cost
tokens and say little.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

from msgspec import Struct

from agent_core.tools.web.invisible_characters import visible

MOST_CHARS = 400_000
ALT_CHARS = 120
MOST_INDENT = 6
MOST_QUOTE = 4
MOST_TICKS = 8

_SPACE = re.compile(r"[ \t\n\r\f]+")
_SPACES = re.compile(" {2,}")
_TICKS = re.compile(f"`{{{MOST_TICKS},}}")
_BROKEN = re.compile(" *\n *")
_ESCAPES = str.maketrans({" ": "%20", "(": "%28", ")": "%29", "<": "%3C", ">": "%3E", "\n": "", "\t": ""})


class Block(NamedTuple):
    text: str
    tight: bool
    """True for list items and table rows, which follow each other without an empty line."""
    main: bool


class _Link(Struct):
    place: str
    """As written in the page."""
    start: int
    """Index in the line where its text begins."""


class MarkdownWriter:
    """Builds Markdown from opening and closing elements; `blocks` are complete after the final `flush`.

    `address_of` returns the absolute address of a link, or an empty string if it is useless or too long.
    """

    def __init__(self, address_of: Callable[[str], str]) -> None:
        self._address_of = address_of
        self.blocks: list[Block] = []
        self.in_main = 0
        """Number of open elements that are marked as the main content."""
        self._size = 0
        self._line: list[str] = []
        self._link: _Link | None = None
        self._heading = 0
        self._quotes = 0
        self._lists: list[int | None] = []
        self._bullet = ""
        self._row: list[str] | None = None
        self._rows = 0
        self._code: list[str] | None = None

    @property
    def full(self) -> bool:
        return self._size >= MOST_CHARS

    def text(self, words: str) -> None:
        if self._code is not None:
            self._code.append(words)
        else:
            self._line.append(_SPACE.sub(" ", words))
        self._size += len(words)

    def mark(self, sign: str) -> None:
        """Add Markdown syntax, except inside code."""
        if self._code is None:
            self._line.append(sign)

    def line_break(self) -> None:
        (self._line if self._code is None else self._code).append("\n")

    def picture(self, words: str) -> None:
        if words := " ".join(words.split()):
            self.text(f"[image: {words[:ALT_CHARS]}]")

    def open_link(self, place: str) -> None:
        self.close_link()
        if self._code is None and place:
            self._link = _Link(place, len(self._line))

    def close_link(self) -> None:
        """End a link. One without letters (arrows) is written as text only, and dropped if it points into the same page
        (¶)."""
        link, self._link = self._link, None
        if link is None:
            return
        words = "".join(self._line[link.start :])
        inner = " ".join(words.split())
        if not any(letter.isalnum() for letter in inner):
            if link.place.startswith("#"):
                del self._line[link.start :]
            return
        url = self._address_of(link.place)
        if url and inner != url:
            before, after = words[:1].isspace() * " ", words[-1:].isspace() * " "
            self._line[link.start :] = [f"{before}[{inner}]({url.translate(_ESCAPES)}){after}"]
            self._size += len(url)

    def block(self) -> None:
        """Start a new block; inside a table, only a space."""
        if self._code is not None:
            if self._code and not self._code[-1].endswith("\n"):
                self._code.append("\n")
        elif self._row is not None:
            self._line.append(" ")
        else:
            self.flush()

    def heading(self, level: int) -> None:
        """Start a heading; level 0 ends it."""
        self.block()
        self._heading = level

    def open_quote(self) -> None:
        self.block()
        self._quotes += 1

    def close_quote(self) -> None:
        self.block()
        self._quotes -= 1

    def open_list(self, first: int | None = None) -> None:
        """Start a list with the number of its first item; None for an unordered list."""
        self.block()
        self._lists.append(first)

    def close_list(self) -> None:
        self.block()
        if self._lists:
            self._lists.pop()

    def open_item(self) -> None:
        self.block()
        number = self._lists[-1] if self._lists else None
        self._bullet = "- " if number is None else f"{number}. "
        if number is not None:
            self._lists[-1] = number + 1

    def close_item(self) -> None:
        self.block()
        self._bullet = ""

    def open_table(self) -> None:
        """Start a table. Nested tables are layout, so both are dissolved."""
        self._leave_row()
        self._rows = 0

    def close_table(self) -> None:
        self.open_table()

    def open_row(self) -> None:
        self._leave_row()
        self._row = []

    def close_cell(self) -> None:
        if self._row is not None:
            self._row.append(" ".join(self._taken().split()).replace("|", "\\|"))

    def close_row(self) -> None:
        if self._row is None:
            return
        if stray := self._taken().strip():
            self._row.append(stray)
        row, self._row = self._row, None
        if len([cell for cell in row if cell]) <= 1 and not self._rows:
            self._emit("".join(row))
        elif any(row):
            self._emit(f"| {' | '.join(row)} |", tight=True)
            self._rows += 1
            if self._rows == 1:
                self._emit("|" + " --- |" * len(row), tight=True)

    def open_code(self) -> None:
        if self._code is None:
            self._leave_row()
            self._code = []

    def close_code(self) -> None:
        code, self._code = visible("".join(self._code or ())).strip("\n").expandtabs(4), None
        if code.strip():
            code = _TICKS.sub("`" * MOST_TICKS, code.rstrip())
            fence = "`" * (max([2, *map(len, re.findall("`+", code))]) + 1)
            self._emit(f"{fence}\n{code}\n{fence}")

    def rule(self) -> None:
        self.block()
        if self._row is None:
            self._emit("---")

    def flush(self) -> None:
        """End the paragraph."""
        self._emit(self._taken())

    def _taken(self) -> str:
        """Take the line's text so far; a link that has no text yet continues in the next block."""
        link = self._link
        waiting = link is not None and not "".join(self._line[link.start :]).strip()
        if not waiting:
            self.close_link()
        line, self._line = visible("".join(self._line)), []
        self._link = _Link(link.place, 0) if link and waiting else None
        return _BROKEN.sub("\n", _SPACES.sub(" ", line)).strip()

    def _leave_row(self) -> None:
        row, self._row = self._row, None
        for cell in row or ():
            self._emit(cell)
        self.flush()

    def _emit(self, text: str, *, tight: bool = False) -> None:
        if not text:
            return
        if self._heading:
            text = "#" * self._heading + " " + text.replace("\n", " ")
        indent = "  " * (min(len(self._lists), MOST_INDENT) - 1)
        bullet, self._bullet = self._bullet, ""
        hang = indent + ("  " if self._lists else "")
        prefix = "> " * min(self._quotes, MOST_QUOTE)
        first, *rest = text.split("\n")
        lines = [prefix + (indent + bullet if bullet else hang) + first, *(prefix + hang + line for line in rest)]
        self.blocks.append(Block("\n".join(lines), tight or bool(bullet), self.in_main > 0))
        self._size += 20


def joined(blocks: list[Block]) -> str:
    """Join the blocks."""
    parts: list[str] = []
    before = False
    for block in blocks:
        if parts:
            parts.append("\n" if block.tight and before else "\n\n")
        parts.append(block.text)
        before = block.tight
    return "".join(parts)
