"""Pages of documents, and what documents have in common."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol, runtime_checkable


class Unreadable(Exception):
    """A file cannot be read. The first argument is one of REASONS."""


REASONS = frozenset(
    (
        "broken",
        "cells",
        "encrypted",
        "missing",
        "nested",
        "no_page",
        "no_sheet",
        "old_office",
        "program",
        "too_large",
        "too_slow",
        "unknown",
        "unseen",
    )
)


NO_TEXT = "(no text on this page; it may be a scan, which see_page shows)"


@dataclass(frozen=True)
class Page:
    """A page, a part, a slide, or some rows."""

    number: int
    """Its place among the pages that were asked for, from 1."""
    label: str
    """Its address for people, such as `p. 12`, `slide 3` or `Sheet1!A1:H40`."""
    text: str


@dataclass(frozen=True)
class Wish:
    """The part of a document that is asked for."""

    sheet: str = ""
    cells: str = ""
    """A cell or a range, such as `B7` or `A1:D20`."""
    inside: str = ""
    """The name of a file within a zip or an e-mail."""


@runtime_checkable
class Drawn(Protocol):
    """A document whose pages can be seen."""

    def picture(self, number: int) -> bytes:
        """Return a page as a PNG. Raises Unreadable."""
        ...


class Document(Protocol):
    """An opened document."""

    kind: str
    """A name for people, such as `PDF`."""
    unit: str
    """The name of its parts: `page`, `part`, `slide`, `table`."""
    facts: list[str]
    """Lines about all of it: title, contents, sheets, macros."""
    count: int | None
    """Number of its pages, if that is known without reading them."""

    def pages(self, first: int) -> Iterator[Page]:
        """Yield its pages, from this number on at the latest. Raises Unreadable."""
        ...
