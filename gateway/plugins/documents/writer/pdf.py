"""PDF files, made from the blocks of a text."""

from collections.abc import Sequence
from itertools import pairwise

from msgspec import Struct

from gateway.plugins.documents.writer.blocks import Block, Code, Paragraph, Span, Table, text_of
from gateway.plugins.documents.writer.lines import lines, width_of
from gateway.plugins.documents.writer.pages import HEIGHT, LEADING, MARGIN, ROOM, SMALL, WIDTH, Pages
from gateway.plugins.documents.writer.pdf_parts import pdf_of
from gateway.plugins.documents.writer.pdf_table import place_table
from gateway.plugins.documents.writer.signs import Mark, Signs

_SIZE = 10.5
_HEADINGS = {1: 20.0, 2: 16.0, 3: 13.5, 4: 12.0, 5: 11.0, 6: 10.5}
"""Points by level."""
_INDENT, _DEEPEST = 18.0, 10
_GREY = 0.95


class Pdf(Struct, frozen=True):
    """A PDF file, and the pictures that it does not show."""

    content: bytes
    left_out: str


def pdf_file(blocks: Sequence[Block]) -> Pdf:
    """Return a PDF file. Raises NotShown and TooWide."""
    layout = _Layout()
    for block, after in pairwise([*blocks, None]):
        if block is not None:
            layout.place(block, after)
    layout.signs.check()
    layout.number()
    title = next((text_of(each.spans) for each in blocks if isinstance(each, Paragraph) and each.heading), "")
    pages = ["".join(page) for page in layout.pages.drawn]
    return Pdf(pdf_of(pages, layout.signs, title, (WIDTH, HEIGHT)), "".join(layout.signs.left_out))


class _Layout:
    def __init__(self) -> None:
        self.signs = Signs()
        self.pages = Pages()

    def place(self, block: Block, after: Block | None) -> None:
        """Place a block; a heading stays with what comes after it."""
        if isinstance(block, Table):
            place_table(block, self.signs, self.pages)
            self.pages.space(_SIZE)
        elif isinstance(block, Code):
            self._code(block)
        elif block.heading:
            self._heading(block)
        else:
            self._paragraph(block, ends_list=not (isinstance(after, Paragraph) and after.mark))

    def number(self) -> None:
        """Number the pages, unless there is one."""
        drawn = self.pages.drawn
        for at in range(len(drawn) if len(drawn) > 1 else 0):
            shown = Pages()
            marks = self.signs.marks([Span(f"{at + 1} / {len(drawn)}")], SMALL)
            shown.line(marks, (WIDTH - width_of(marks)) / 2, MARGIN / 2)
            drawn[at] += shown.drawn[0]

    def _heading(self, block: Paragraph) -> None:
        size = _HEADINGS[block.heading]
        self.pages.space(size * 0.7)
        self.pages.need(size * LEADING + 3 * _SIZE * LEADING)
        self._lines(self.signs.marks(block.spans, size, bold=True), MARGIN, size)
        self.pages.space(size * 0.25)

    def _paragraph(self, block: Paragraph, *, ends_list: bool) -> None:
        left = MARGIN + _INDENT * min(block.depth + block.quoted, _DEEPEST)
        if block.mark:
            self.pages.need(_SIZE * LEADING)
            mark = self.signs.marks([Span(block.mark)], _SIZE)
            self.pages.line(mark, left - width_of(mark) - 5, self.pages.y - _SIZE)
        self._lines(self.signs.marks(block.spans, _SIZE), left, _SIZE, quoted=block.quoted)
        self.pages.space(_SIZE * (0.6 if ends_list or not block.mark else 0.2))

    def _code(self, block: Code) -> None:
        self._lines(self.signs.marks([Span(block.text, code=True)], SMALL), MARGIN + 4, SMALL, grey=True)
        self.pages.space(_SIZE * 0.6)

    def _lines(
        self, marks: Sequence[Mark], left: float, size: float, *, quoted: bool = False, grey: bool = False
    ) -> None:
        height = size * LEADING
        for line in lines(marks, MARGIN + ROOM - left):
            self.pages.need(height)
            below = self.pages.y - height
            if grey:
                self.pages.box(MARGIN, below, ROOM, height, _GREY)
            if quoted:
                self.pages.rule(left - 8, below, left - 8, self.pages.y, width=2)
            self.pages.line(line, left, self.pages.y - size)
            self.pages.y = below
