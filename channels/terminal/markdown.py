"""Rendering of Markdown with `rich`, after everything that a terminal would interpret is removed from the tokens."""

from collections.abc import Iterator, Sequence

from markdown_it.token import Token
from rich import box
from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import CodeBlock, Heading, HorizontalRule, ListItem, Markdown, Paragraph, TableElement
from rich.measure import Measurement
from rich.padding import Padding
from rich.rule import Rule
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from channels.markdown import reader
from channels.terminal.text import safe

LINK = ("link_open", "link_close")
UNBOUNDED = 100_000
LONGEST_LINK = 1_000
"""Longest address of a hyperlink; the terminal receives it again for each line and style."""
_reader = reader()


class Answer(Markdown):
    """Markdown of a message. Without `hyperlinks`, addresses are printed beside the text of links."""

    def __init__(self, markdown: str, *, hyperlinks: bool) -> None:
        super().__init__("", hyperlinks=hyperlinks)
        self.parsed = _reader.parse(safe(markdown))
        for token in self.parsed:
            token.content = safe(token.content)  # an entity may have become a control character
            if token.children:
                token.children = list(_inline(token.children, hyperlinks=hyperlinks))


class _Heading(Heading):
    """Left-aligned heading."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield self.text


class _Paragraph(Paragraph):
    """Paragraph rendered line by line: rich's own splitting copies the rest of the text at each line."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield from self.text.split(allow_blank=True)


class _Code(CodeBlock):
    """Code block without syntax highlighting, which may take unbounded time for a hostile text."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for line in str(self.text).rstrip("\n").split("\n"):
            yield Padding(Text(line, self.style, overflow="fold"), (0, 0, 0, 2), expand=False)


class _Item(ListItem):
    """List item whose number is followed by a dot."""

    def render_number(self, console: Console, options: ConsoleOptions, number: int, last_number: int) -> RenderResult:
        mark = f"{number}. ".rjust(len(str(last_number)) + 3)
        inner = options.update(width=options.max_width - len(mark))
        for row, line in enumerate(console.render_lines(self.elements, inner, style=self.style)):
            yield Segment(" " * len(mark) if row else mark)
            yield from line
            yield Segment.line()


class _Rule(HorizontalRule):
    new_line = True

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Rule(style="markdown.hr")


class _Table(TableElement):
    """Table whose cells are wrapped, never cut; without enough room for columns, each row becomes a list of its
    cells."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        heads = [cell.content for cell in self.header.row.cells] if self.header and self.header.row else []
        rows = [[cell.content for cell in row.cells] for row in self.body.rows] if self.body else []
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, border_style="markdown.table.border")
        for head in heads:
            head.stylize("markdown.table.header")
            table.add_column(head, justify=head.justify or "default", overflow="fold")
        for row in rows:
            table.add_row(*row)
        if Measurement.get(console, options.update_width(UNBOUNDED), table).minimum <= options.max_width:
            yield table
        else:
            yield from _one_below_the_other(heads, rows)


Answer.elements = {
    **Markdown.elements,
    "paragraph_open": _Paragraph,
    "heading_open": _Heading,
    "fence": _Code,
    "code_block": _Code,
    "list_item_open": _Item,
    "hr": _Rule,
    "table_open": _Table,
}


def _one_below_the_other(heads: Sequence[Text], rows: Sequence[Sequence[Text]]) -> Iterator[Text]:
    for number, row in enumerate(rows):
        if number:
            yield Text()
        for head, cell in zip(heads, row, strict=False):
            yield Text.assemble(head, ": ", cell, overflow="fold")


def _inline(tokens: Sequence[Token], *, hyperlinks: bool) -> Iterator[Token]:
    """Yield tokens with all line breaks kept, images as links, and bare addresses printed once."""
    inside = told = False
    beside = ""
    for at, token in enumerate(tokens):
        token.content = safe(token.content)
        if token.type == "softbreak":
            token.type = "hardbreak"
        if token.type == "image":
            yield from _image(token, inside=inside)
            continue
        if token.type == "link_open":
            inside, bare = True, _is_bare(tokens[at : at + 3])
            beside = _too_long(token)
            told = bool(beside) or (bare and not hyperlinks)
            beside = "" if bare else beside
        if not (told and token.type in LINK):
            yield token
        if token.type == "link_close":
            inside = told = False
            if beside:
                yield _beside(beside)


def _too_long(link: Token) -> str:
    """Return the address of a link if it is longer than `LONGEST_LINK` and so printed as text, otherwise ""."""
    address = str(link.attrGet("href"))
    return safe(address) if len(address) > LONGEST_LINK else ""


def _is_bare(link: Sequence[Token]) -> bool:
    return link[-1].type == "link_close" and link[1].content == link[0].attrGet("href")


def _beside(address: str) -> Token:
    return Token("text", "", 0, content=f" ({address})")


def _image(image: Token, *, inside: bool) -> Iterator[Token]:
    """Render an image as a link; `inside` is True within another link, whose target then counts."""
    address = safe(str(image.attrGet("src")))
    words = Token("text", "", 0, content=image.content or address)
    if inside or words.content == address:
        yield words
        return
    if len(address) > LONGEST_LINK:
        yield words
        yield _beside(address)
        return
    yield Token("link_open", "a", 1, attrs={"href": address})
    yield words
    yield Token("link_close", "a", -1)
