"""Pages that are filled from the top: lines of text, rules and boxes at their places."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import attrgetter

from gateway.plugins.documents.writer.lines import width_of
from gateway.plugins.documents.writer.signs import Form, Mark

WIDTH, HEIGHT, MARGIN = 595.0, 842.0, 57.0
"""Points: A4, with 2 cm."""
ROOM = WIDTH - 2 * MARGIN
SMALL = 9.0
"""The size of letters in tables, of code and of the numbers of pages."""
LEADING = 1.45
"""The height of a line, in sizes of its letters."""
_SLANT = 0.2
_FORM = attrgetter("form")


class Pages:
    """The pages of a document, as what draws them."""

    def __init__(self) -> None:
        self.drawn: list[list[str]] = [[]]
        self.y = HEIGHT - MARGIN
        """The height at which the next thing begins, from below."""

    @property
    def room(self) -> float:
        return self.y - MARGIN

    @property
    def is_fresh(self) -> bool:
        return not self.drawn[-1]

    def need(self, height: float) -> None:
        """Begin a new page if there is no such room on this one."""
        if self.room < height and not self.is_fresh:
            self.turn()

    def turn(self) -> None:
        self.drawn.append([])
        self.y = HEIGHT - MARGIN

    def space(self, height: float) -> None:
        if not self.is_fresh:
            self.y -= height

    def line(self, marks: Sequence[Mark], x: float, y: float) -> None:
        """Draw a line of text, with its letters standing at `y`."""
        for form, each in groupby(marks, key=_FORM):
            run = tuple(each)
            self.drawn[-1].append("".join(_text(form, run, x, y)))
            end = x + width_of(run)
            if form.struck:
                self.rule(x, y + form.size * 0.3, end, y + form.size * 0.3, grey=0)
            x = end

    def rule(self, x: float, y: float, to_x: float, to_y: float, *, grey: float = 0.7, width: float = 0.6) -> None:
        self.drawn[-1].append(f"{grey} G {width} w {x:.1f} {y:.1f} m {to_x:.1f} {to_y:.1f} l S\n")

    def box(self, x: float, y: float, width: float, height: float, grey: float) -> None:
        self.drawn[-1].append(f"{grey} g {x:.1f} {y:.1f} {width:.1f} {height:.1f} re f 0 g\n")


def _text(form: Form, run: Sequence[Mark], x: float, y: float) -> Iterator[str]:
    """Yield what draws characters of one form. No font here is bold: the outlines are drawn, too."""
    glyphs = "".join(f"{mark.glyph:04x}" for mark in run)
    yield f"0 G 2 Tr {form.size * 0.025:.2f} w " if form.bold else ""
    slant = _SLANT if form.italic else 0
    yield f"BT /F{form.font} {form.size:.2f} Tf 1 0 {slant} 1 {x:.2f} {y:.2f} Tm <{glyphs}> Tj ET"
    yield " 0 Tr\n" if form.bold else "\n"
