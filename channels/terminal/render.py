"""Rendering of messages for a terminal with styles. Imported dynamically, only if there is such a terminal.

Markdown is rendered with `rich`, after everything that a terminal would interpret is removed from the tokens. Images
are drawn with half blocks: each cell is two pixels, as text and background colours.
"""

import io
import re
import socket
import struct
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from markdown_it.token import Token
from PIL import Image, JpegImagePlugin, PngImagePlugin
from rich import box
from rich.color import Color
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.markdown import CodeBlock, Heading, HorizontalRule, ListItem, Markdown, Paragraph, TableElement
from rich.measure import Measurement
from rich.padding import Padding
from rich.rule import Rule
from rich.segment import Segment, Segments
from rich.style import Style
from rich.table import Table
from rich.text import Text
from rich.theme import Theme

from channels.attachments import Attachment
from channels.base import OutboundMessage
from channels.fences import Fences
from channels.markdown import reader
from channels.terminal.text import Abilities, choices, safe

FORMATS = (PngImagePlugin.PngImageFile.format, JpegImagePlugin.JpegImageFile.format)
LARGEST = 20 * 1024 * 1024
"""Largest file in bytes."""
MOST_PIXELS = 16_000_000
"""At this size a decoded image takes 64 MB and half a second; a small file may claim any number of pixels."""
WIDEST = 76
UPPER_HALF = "▀"
BROKEN = (OSError, ValueError, SyntaxError, EOFError, struct.error, zlib.error, KeyError, IndexError, TypeError)
"""Exceptions that Pillow raises for invalid files."""
Pixel = tuple[int, int, int]
LINK = ("link_open", "link_close")
UNBOUNDED = 100_000
LONGEST_LINK = 1_000
"""Longest address of a hyperlink; the terminal receives it again for each line and style."""
_reader = reader()
STYLES = Theme(
    {
        "markdown.h1": "bold underline",
        "markdown.h2": "bold",
        "markdown.h3": "bold",
        "markdown.h4": "italic",
        "markdown.h5": "italic",
        "markdown.h6": "italic",
        "markdown.code": "cyan",
        "markdown.code_block": "cyan",
        "markdown.block_quote": "italic",
        "markdown.item.bullet": "none",
        "markdown.hr": "dim",
        "markdown.link": "none",
        "markdown.link_url": "underline",
        "markdown.table.header": "bold",
        "markdown.table.border": "dim",
    }
)
PICTURE_SHARE = 3 / 4
"""Largest share of the terminal's height."""
NEWEST = 8_000
"""Characters of an unfinished answer that are rendered, more than a screen shows."""
_PADDING = re.compile(r" +(?=(?:\x1b\[[0-9;]*m)*$)", re.MULTILINE)


def blocks(path: str, columns: int, rows: int) -> Segments | None:
    """Return the image in at most so many cells, or None if it cannot be shown. Blocking."""
    try:
        if Path(path).stat().st_size > LARGEST:
            return None
        image = _small(path, min(columns, WIDEST), 2 * rows)
    except BROKEN:
        return None
    return None if image is None else _drawn(image)


def _small(path: str, width: int, height: int) -> Image.Image | None:
    Image.MAX_IMAGE_PIXELS = None  # the limit is the one below; Pillow's own issues a warning first
    with Image.open(path, formats=FORMATS) as image:
        if image.width * image.height > MOST_PIXELS:
            return None
        image.draft("RGB", (2 * width, 2 * height))  # decode photographs at a reduced size
        scale = min(width / image.width, height / image.height, 1)
        size = (max(1, round(image.width * scale)), max(1, round(image.height * scale)))
        paper = Image.new("RGBA", image.size, "white")
        paper.alpha_composite(image.convert("RGBA"))
        return paper.convert("RGB").resize(size, Image.Resampling.BOX, reducing_gap=2.0)


def _drawn(image: Image.Image) -> Segments:
    width, height = image.size
    content = image.tobytes()
    pixels = [(content[at], content[at + 1], content[at + 2]) for at in range(0, len(content), 3)]
    segments = []
    for top in range(0, height, 2):
        for at in range(top * width, (top + 1) * width):
            below = pixels[at + width] if top + 1 < height else None
            segments.append(Segment(UPPER_HALF, _style(pixels[at], below)))
        segments.append(Segment.line())
    return Segments(segments)


def _style(upper: Pixel, lower: Pixel | None) -> Style:
    return Style(color=Color.from_rgb(*upper), bgcolor=Color.from_rgb(*lower) if lower else None)


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


class Drawing:
    """Renderer for one terminal."""

    def __init__(self, able: Abilities) -> None:
        self._able = able

    def settled(self, message: OutboundMessage, columns: int, rows: int) -> str:
        """Render a final message with escape sequences. Blocking."""
        return self._drawn(self._parts(message, columns, rows), columns)

    def live(self, messages: Sequence[OutboundMessage], columns: int, rows: int) -> str:
        """Render the newest lines of messages in progress, with colours but no other sequences."""
        text = self._drawn([Answer(_newest(each.markdown), hyperlinks=False) for each in messages], columns)
        lines = text.splitlines()
        return "\n".join(lines if len(lines) <= rows else ["…", *lines[1 - rows :]])

    def _parts(self, message: OutboundMessage, columns: int, rows: int) -> Iterator[RenderableType]:
        if message.markdown:
            yield Answer(message.markdown, hyperlinks=self._able.links)
        for number, file in enumerate(message.attachments):
            if number or message.markdown:
                yield Text()
            yield self._file(file)
            picture = None
            if file.is_image and self._able.colours != "standard":
                picture = blocks(file.path, columns, round(rows * PICTURE_SHARE))
            if picture is not None:
                yield picture
        below = choices(message)
        if below:
            yield Text("\n".join(["", *below]))

    def _file(self, file: Attachment) -> Text:
        path = safe(file.path)
        style = Style(underline=True, link=_address(file.path)) if self._able.links else Style()
        return Text.assemble(f"[{file.safe_name}: ", (path, style), "]", overflow="fold")

    def _drawn(self, parts: Iterator[RenderableType] | Sequence[RenderableType], columns: int) -> str:
        console = Console(
            file=io.StringIO(),
            width=columns,
            color_system=self._able.colours,
            force_terminal=True,
            legacy_windows=False,
            no_color=False,
            highlight=False,
            theme=STYLES,
        )
        with console.capture() as captured:
            for part in parts:
                console.print(part)
        return _PADDING.sub("", captured.get()).strip("\n")


def _newest(markdown: str) -> str:
    """Return the end of a long text from the start of a line, reopening a code block that the cut splits."""
    if len(markdown) <= NEWEST:
        return markdown
    at = markdown.find("\n", len(markdown) - NEWEST) + 1 or len(markdown) - NEWEST
    fence = Fences(markdown).around(at)
    return f"{fence.opener}\n{markdown[at:]}" if fence else markdown[at:]


def _address(path: str) -> str:
    """Return a file URL with the host name, for terminals that display another machine's screen."""
    return Path(path).absolute().as_uri().replace("file://", f"file://{socket.gethostname()}", 1)
