"""PowerPoint files: the text of slides in their order, tables and notes."""

from collections.abc import Callable, Iterable, Iterator
from xml.etree.ElementTree import Element

from gateway.plugins.documents.reader.office_xml import OfficeFile
from gateway.plugins.documents.reader.page import Page, Wish
from gateway.plugins.documents.reader.tables import row

_TITLES = frozenset(("title", "ctrTitle"))
_ASIDE = frozenset(("dt", "ftr", "sldNum", "sldImg", "hdr"))
"""Placeholders that say the same on each slide."""


class SlideFile:
    """A PowerPoint file."""

    kind, unit = "PowerPoint", "slide"

    def __init__(self, office: OfficeFile, part: str) -> None:
        self._office = office
        targets = office.related(part)
        ids = (each.get("ns:id", "") for each in office.elements(part, "sldId"))
        self._slides = [targets[each][1] for each in ids if each in targets]
        self.count: int | None = len(self._slides)
        self.facts = [f"Title: {title}"] if (title := office.title()) else []
        if office.has_macros:
            self.facts.append("It has macros, which are not run.")

    def pages(self, first: int) -> Iterator[Page]:
        for number, part in enumerate(self._slides[first - 1 :], first):
            yield Page(number, f"slide {number}", "\n".join(filter(str.strip, self._slide(part))) or "(no text)")

    def _slide(self, part: str) -> Iterator[str]:
        for each in self._office.elements(part, *_SHAPES):
            yield from _SHAPES[each.tag](each)
        for kind, target in self._office.related(part).values():
            if kind in _BESIDE:
                yield from _BESIDE[kind](self._office, target)


def _table(table: Element) -> Iterator[str]:
    for line in table.iter("tr"):
        yield row("\n".join(_paragraphs(cell)) for cell in line.iter("tc"))


def _picture(picture: Element) -> Iterator[str]:
    yield from (f"[picture: {each.get('descr')}]" for each in picture.iter("cNvPr") if each.get("descr"))


def _diagram(office: OfficeFile, part: str) -> Iterator[str]:
    for each in office.elements(part, "pt"):
        yield from _paragraphs(each)


def _notes(office: OfficeFile, part: str) -> Iterator[str]:
    shapes = [each for each in office.elements(part, "sp") if _place(each) == "body"]
    if text := "\n".join(line for each in shapes for line in _paragraphs(each)).strip():
        yield f"[notes]: {text}"


def _comments(office: OfficeFile, part: str) -> Iterator[str]:
    for each in office.elements(part, "cm"):
        yield f"[comment]: {''.join(its.text or '' for its in each.iter('text'))}"


def _shape(shape: Element) -> Iterator[str]:
    place = _place(shape)
    if place in _ASIDE:
        return
    lines = _paragraphs(shape)
    yield from (f"# {' '.join(lines)}",) if place in _TITLES else lines


def _place(shape: Element) -> str:
    found = next(shape.iter("ph"), None)
    return "" if found is None else found.get("type", "")


def _paragraphs(element: Element) -> Iterable[str]:
    return [text for each in element.iter("p") if (text := _paragraph(each)).strip()]


def _paragraph(element: Element) -> str:
    properties = element.find("pPr")
    level = properties.get("lvl", "0") if properties is not None else "0"
    pieces = ((each.text or "") if each.tag == "t" else "\n" for each in element.iter() if each.tag in ("t", "br"))
    return f"{'  ' * int(level) if level in '123456789' else ''}{''.join(pieces)}"


_SHAPES: dict[str, Callable[[Element], Iterator[str]]] = {"sp": _shape, "tbl": _table, "pic": _picture}
_BESIDE: dict[str, Callable[[OfficeFile, str], Iterator[str]]] = {
    "diagramData": _diagram,
    "notesSlide": _notes,
    "comments": _comments,
}
"""The elements that are read in the other parts of a slide, by the type of the part."""


def opened(office: OfficeFile, part: str, _: Wish) -> SlideFile:
    """Return a PowerPoint file with this main part. Raises Unreadable."""
    return SlideFile(office, part)
