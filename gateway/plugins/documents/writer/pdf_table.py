"""Tables on the pages of a PDF: their columns, and rows that go on to the next page below the head again."""

from collections.abc import Sequence

from gateway.plugins.documents.writer.blocks import Table
from gateway.plugins.documents.writer.lines import lines, width_of
from gateway.plugins.documents.writer.pages import HEIGHT, LEADING, MARGIN, ROOM, SMALL, Pages
from gateway.plugins.documents.writer.signs import Mark, Signs

MOST_COLUMNS = 20
_PAD = 4.0
"""Points between a text and the border of its cell."""
_HEIGHT = SMALL * LEADING
_GREY = 0.92
_FREE = {"": 0.0, "left": 0.0, "center": 0.5, "right": 1.0}
"""The part of the free room of a line that stands before it, by the side of its column."""


class TooWide(Exception):
    """A table has more columns than a page has room for."""


class _Row:
    """A row as the lines of its cells."""

    def __init__(self, cells: Sequence[Sequence[Sequence[Mark]]], *, is_head: bool) -> None:
        self.cells = cells
        self.is_head = is_head
        self.count = max(map(len, cells), default=0)
        self.height = self.count * _HEIGHT + 2 * _PAD

    def cut(self, count: int) -> "tuple[_Row, _Row]":
        """Return the row with so many lines, and the row with the others."""
        first, others = ([cell[:count] for cell in self.cells], [cell[count:] for cell in self.cells])
        return _Row(first, is_head=self.is_head), _Row(others, is_head=self.is_head)


def place_table(table: Table, signs: Signs, pages: Pages) -> None:
    """Place a table on the pages. Raises TooWide."""
    columns = max(map(len, table.rows), default=0)
    if columns > MOST_COLUMNS:
        raise TooWide
    cells = [[signs.marks(cell, SMALL, bold=not at) for cell in row] for at, row in enumerate(table.rows)]
    widths = _widths(cells, columns)
    rows = [
        _Row([[*lines(cell, width - 2 * _PAD)] for cell, width in zip(row, widths, strict=False)], is_head=not at)
        for at, row in enumerate(cells)
    ]
    placed = _Rows(pages, widths, [table.side(at) for at in range(columns)], rows[0])
    pages.need(sum(row.height for row in rows[:2]))
    for row in rows:
        placed.place(row)


class _Rows:
    """Places the rows of a table."""

    def __init__(self, pages: Pages, widths: Sequence[float], sides: Sequence[str], head: _Row) -> None:
        self._pages = pages
        self._widths = widths
        self._sides = sides
        self._head = head
        self._is_new_page = pages.is_fresh
        """True while there is nothing on the page but the head."""

    def place(self, row: _Row) -> None:
        while row.count:
            fits = int((self._pages.room - 2 * _PAD) // _HEIGHT)
            if fits < row.count and not self._is_new_page:
                self._turn(row)
                continue
            part, row = row.cut(max(1, fits))
            self._draw(part)
            self._is_new_page = False

    def _turn(self, row: _Row) -> None:
        """Begin a page with the head, unless that is large, or is what goes on here."""
        self._pages.turn()
        if not row.is_head and self._head.height < (HEIGHT - 2 * MARGIN) / 2:
            self._draw(self._head)
        self._is_new_page = True

    def _draw(self, row: _Row) -> None:
        pages, top = self._pages, self._pages.y
        below, end = top - row.height, MARGIN + sum(self._widths)
        if row.is_head:
            pages.box(MARGIN, below, end - MARGIN, row.height, _GREY)
        x = MARGIN
        for at, width in enumerate(self._widths):
            for number, line in enumerate(row.cells[at] if at < len(row.cells) else ()):
                left = x + _PAD + _FREE[self._sides[at]] * (width - 2 * _PAD - width_of(line))
                pages.line(line, left, top - _PAD - number * _HEIGHT - SMALL)
            pages.rule(x, top, x, below)
            x += width
        pages.rule(end, top, end, below)
        pages.rule(MARGIN, top, end, top)
        pages.rule(MARGIN, below, end, below)
        pages.y = below


def _widths(rows: Sequence[Sequence[Sequence[Mark]]], columns: int) -> Sequence[float]:
    """Return the widths of columns: what they take in one line, while the widest share what is left of the page."""
    wished = [0.0] * columns
    for row in rows:
        for at, cell in enumerate(row):
            wished[at] = max(wished[at], width_of(cell) + 2 * _PAD + 1)
    widths, room = [*wished], ROOM
    for left, at in zip(range(columns, 0, -1), sorted(range(columns), key=wished.__getitem__), strict=True):
        widths[at] = min(wished[at], room / left)
        room -= widths[at]
    return widths
