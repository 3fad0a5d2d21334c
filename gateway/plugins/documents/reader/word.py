"""Word files: paragraphs with their numbers, headings, tables, notes and comments."""

import re
from collections.abc import Iterator
from xml.etree.ElementTree import Element

from gateway.plugins.documents.reader.hidden import HiddenText
from gateway.plugins.documents.reader.numbering import Numbering
from gateway.plugins.documents.reader.office_xml import OfficeFile
from gateway.plugins.documents.reader.page import Page, Wish
from gateway.plugins.documents.reader.tables import row

PART_CHARS = 3_000
"""Characters after which a part ends: pages are made only when Word shows the file."""
_SKIPPED = frozenset(("pPr", "rPr", "delText", "instrText", "Fallback", "del", "moveFrom", "softHyphen", "rt"))
"""Elements that are no text: properties, what was deleted, and what another element says again."""
_SIGNS = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-", "ptab": "\t"}
_NOTES = {"footnoteReference": "footnote", "endnoteReference": "endnote"}
_HEADING = re.compile(r"heading\s*([1-9])|(title)", re.IGNORECASE)
_MOST_HASHES = 6


class WordFile:
    """A Word file in parts of some paragraphs."""

    unit = "part"
    count: int | None = None

    def __init__(self, office: OfficeFile, body: str) -> None:
        self._office, self._body = office, body
        self.kind = "Word"
        self.facts = [f"Title: {title}"] if (title := office.title()) else []
        if office.has_macros:
            self.facts.append("It has macros, which are not run.")
        styles = next(iter(office.parts_of(body, "styles")), None)
        numbers = next(iter(office.parts_of(body, "numbering")), None)
        self._numbering = Numbering(office, numbers, styles)
        self._headings = dict(_headings(office, styles)) if styles else {}
        self._hidden = HiddenText(office, styles)
        self._has_hidden = False

    def pages(self, first: int) -> Iterator[Page]:
        blocks: list[str] = []
        number, size = 1, 0
        for block in self._blocks():
            if blocks and size + len(block) > PART_CHARS:
                yield Page(number, f"part {number}", "\n".join(blocks))
                blocks, size, number = [], 0, number + 1
            blocks.append(block)
            size += len(block) + 1
        if blocks:
            yield Page(number, f"part {number}", "\n".join(blocks))

    def _blocks(self) -> Iterator[str]:
        for element in self._office.elements(self._body, "p", "tbl"):
            yield from filter(str.strip, self._table(element) if element.tag == "tbl" else [self._paragraph(element)])
        for kind in ("footnotes", "endnotes"):
            yield from self._notes(kind)
        for part in self._office.parts_of(self._body, "comments"):
            for each in self._office.elements(part, "comment"):
                yield f"[comment by {each.get('author', '') or 'somebody'}]: {self._text(each).strip()}"
        yield from self._margins()
        if self._has_hidden:
            yield "[Text that is formatted as hidden is left out.]"

    def _notes(self, kind: str) -> Iterator[str]:
        for part in self._office.parts_of(self._body, kind):
            for each in self._office.elements(part, kind.removesuffix("s")):
                if text := self._text(each).strip():
                    yield f"[{kind.removesuffix('s')} {each.get('id', '')}]: {text}"

    def _margins(self) -> Iterator[str]:
        """Yield the different headers and footers once."""
        for kind in ("header", "footer"):
            texts = (
                " ".join(filter(None, (self._text(each).strip() for each in self._office.elements(part, "p", "tbl"))))
                for part in self._office.parts_of(self._body, kind)
            )
            for text in dict.fromkeys(filter(None, texts)):
                yield f"[{kind}]: {text}"

    def _paragraph(self, element: Element) -> str:
        properties, style = element.find("pPr"), _style(element)
        text = self._text(element).strip("\n")
        number, level = self._numbering.next(properties, style) if text.strip() else ("", 0)
        heading = self._headings.get(style, 0)
        if heading and text.strip():
            return f"\n{'#' * heading} {number}{' ' if number else ''}{text.strip()}"
        return f"{'  ' * level}{number} {text}" if number else text

    def _table(self, element: Element) -> Iterator[str]:
        return map(row, self._rows(element))

    def _rows(self, element: Element) -> Iterator[list[str]]:
        for each in _outermost(element, "tr"):
            is_deleted = each.find("trPr/del") is not None
            if not is_deleted and (cells := [self._cell(cell) for cell in _outermost(each, "tc")]):
                yield cells

    def _cell(self, cell: Element) -> str:
        """Return the paragraphs of a cell, and the rows of a table in it."""
        pieces: list[str] = []
        for each in _outermost(cell, "p", "tbl"):
            pieces += map("; ".join, self._rows(each)) if each.tag == "tbl" else [self._paragraph(each).strip()]
        return "\n".join(filter(None, pieces))

    def _text(self, element: Element) -> str:
        return "".join(self._pieces(element))

    def _pieces(self, element: Element, style: str = "") -> Iterator[str]:
        """Yield the text of an element and of all in it; `style` is that of the paragraph in which it stands."""
        style = _style(element) if element.tag == "p" else style
        for each in element:
            if each.tag in _SKIPPED or (each.tag == "r" and self._is_hidden(each, style)):
                continue
            if each.tag == "t":
                yield each.text or ""
            elif each.tag in _SIGNS:
                yield _SIGNS[each.tag]
            elif each.tag in _NOTES:
                yield f"[{_NOTES[each.tag]} {each.get('id', '')}]"
            elif each.tag == "sym":
                yield _symbol(each.get("char", ""))
            elif each.tag == "docPr" and each.get("descr"):
                yield f"[picture: {each.get('descr')}]"
            else:
                if each.tag == "txbxContent":
                    yield "\n"
                yield from self._pieces(each, style)
                if each.tag in ("p", "tr"):  # of a text box, or of a note
                    yield "\n"

    def _is_hidden(self, run: Element, style: str) -> bool:
        is_hidden = self._hidden.has(run, style)
        self._has_hidden |= is_hidden and bool(self._text(run).strip())
        return is_hidden


def opened(office: OfficeFile, part: str, _: Wish) -> WordFile:
    """Return a Word file with this main part. Raises Unreadable."""
    return WordFile(office, part)


def _outermost(element: Element, *names: str) -> Iterator[Element]:
    """Yield the elements of these names that are in no other of them."""
    for each in element:
        if each.tag in names:
            yield each
        elif each.tag not in _SKIPPED:
            yield from _outermost(each, *names)


def _style(paragraph: Element) -> str:
    found = paragraph.find("pPr/pStyle")
    return found.get("val", "") if found is not None else ""


def _symbol(code: str) -> str:
    """Return a character of a font of symbols as what most of them are: a mark."""
    return "•" if re.fullmatch("[Ff]0[0-9A-Fa-f]{2}", code) else ""


def _headings(office: OfficeFile, styles: str) -> Iterator[tuple[str, int]]:
    """Yield each style of headings with its level; their ids depend on Word's language."""
    for each in office.elements(styles, "style"):
        name, outline = each.find("name"), each.find("pPr/outlineLvl")
        known = _HEADING.fullmatch(name.get("val", "") if name is not None else "")
        if known:
            yield each.get("styleId", ""), int(known[1] or 1)
        elif outline is not None and re.fullmatch("[0-8]", outline.get("val", "")):
            yield each.get("styleId", ""), min(int(outline.get("val", "0")) + 1, _MOST_HASHES)
