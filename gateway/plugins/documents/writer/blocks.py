"""Markdown as the blocks that a document is made of."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from channels.markdown import reader


class Span(Struct, frozen=True):
    """A piece of text in one form."""

    text: str
    bold: bool = False
    italic: bool = False
    struck: bool = False
    code: bool = False


class Paragraph(Struct, frozen=True):
    """A paragraph, a heading or an item of a list."""

    spans: Sequence[Span]
    heading: int = 0
    """Its level; 0 for what is no heading."""
    mark: str = ""
    """The mark before an item of a list, such as `1.`."""
    depth: int = 0
    """Lists in which it stands."""
    quoted: bool = False


class Code(Struct, frozen=True):
    text: str


class Table(Struct, frozen=True):
    rows: Sequence[Sequence[Sequence[Span]]]
    """Cells, the first row being the head."""
    sides: Sequence[str] = ()
    """The side of each column to which its texts are pushed: `left`, `right`, `center`, or empty for the usual one."""

    def side(self, column: int) -> str:
        return self.sides[column] if column < len(self.sides) else ""


Block = Paragraph | Code | Table


class _Token(Protocol):
    """The part of a parser's token that is used."""

    type: str
    tag: str
    content: str

    @property
    def children(self) -> "Sequence[_Token] | None": ...

    @property
    def attrs(self) -> Mapping[str, str | int | float]: ...


def blocks_of(markdown: str) -> list[Block]:
    """Return the blocks of a text."""
    found = _Blocks()
    for token in reader().parse(markdown):
        found.take(token)
    return found.blocks


def text_of(spans: Sequence[Span]) -> str:
    return "".join(each.text for each in spans)


class _Blocks:
    """Takes tokens one by one."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self._heading = self._quotes = 0
        self._lists: list[int | None] = []
        """The last number of each open list; None for bullets."""
        self._mark = ""
        self._rows: list[list[Sequence[Span]]] | None = None
        self._sides: list[str] = []

    def take(self, token: _Token) -> None:
        kind = token.type
        if kind == "inline":
            self._inline(list(_spans(token.children or ())))
        elif kind in ("fence", "code_block"):
            self.blocks.append(Code(token.content.rstrip("\n")))
        elif kind.startswith("heading_"):
            self._heading = int(token.tag[1:]) if kind == "heading_open" else 0
        elif kind.startswith("blockquote_"):
            self._quotes += 1 if kind == "blockquote_open" else -1
        elif kind.startswith("list_item_") or "_list_" in kind:
            self._list(token)
        else:
            self._table(token)

    def _inline(self, spans: Sequence[Span]) -> None:
        if self._rows is not None:
            self._rows[-1].append(spans)
            return
        depth, quoted = len(self._lists), self._quotes > 0
        self.blocks.append(Paragraph(spans, self._heading, self._mark, depth, quoted))
        self._mark = ""

    def _list(self, token: _Token) -> None:
        if token.type == "list_item_open":
            last = self._lists[-1]
            if last is not None:
                self._lists[-1] = last + 1
            self._mark = "•" if last is None else f"{last + 1}."
        elif token.type == "ordered_list_open":
            self._lists.append(int(token.attrs.get("start", 1)) - 1)
        elif token.type == "bullet_list_open":
            self._lists.append(None)
        elif token.type.endswith("_list_close"):
            self._lists.pop()

    def _table(self, token: _Token) -> None:
        kind = token.type
        if kind == "table_open":
            self._rows, self._sides = [], []
        elif kind == "th_open":
            self._sides.append(str(token.attrs.get("style", "")).removeprefix("text-align:"))
        elif kind == "tr_open" and self._rows is not None:
            self._rows.append([])
        elif kind == "table_close" and self._rows is not None:
            self.blocks.append(Table(self._rows, self._sides))
            self._rows = None


_FORMS: Mapping[str, Callable[[Span, bool], Span]] = {
    "strong": lambda span, is_so: replace(span, bold=is_so),
    "em": lambda span, is_so: replace(span, italic=is_so),
    "s": lambda span, is_so: replace(span, struck=is_so),
}


def _spans(tokens: Sequence[_Token]) -> Iterator[Span]:
    form, links = Span(""), list[tuple[str, list[str]]]()
    for token in tokens:
        name, _, end = token.type.rpartition("_")
        if name in _FORMS:
            form = _FORMS[name](form, end == "open")
        elif name == "link":
            yield from _address(token, links, form)
        elif text := _TEXTS.get(token.type, token.content):
            for _, said in links:
                said.append(text)
            yield replace(form, text=text, code=token.type == "code_inline")


_TEXTS: Mapping[str, str] = {"softbreak": "\n", "hardbreak": "\n"}


def _address(token: _Token, links: list[tuple[str, list[str]]], form: Span) -> Iterator[Span]:
    """Yield the address of a link behind its words, unless it is these words."""
    if token.type == "link_open":
        links.append((str(token.attrs.get("href", "")), []))
        return
    address, said = links.pop()
    if "".join(said) != address:
        yield replace(form, text=f" ({address})", code=False)
