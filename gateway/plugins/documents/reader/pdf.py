"""PDF files, read by PDFium."""

import re
from collections.abc import Iterator

import pypdfium2

from gateway.plugins.documents.reader.page import NO_TEXT, Page, Unreadable

MOST_CONTENTS = 60
"""Entries of the table of contents that are listed."""
_HYPHEN = re.compile("[\x02\ufffe](?:\r?\n)?")
"""How PDFium marks a word that was divided at the end of a line."""


class PdfFile:
    """A PDF file."""

    kind, unit = "PDF", "page"

    def __init__(self, content: bytes) -> None:
        try:
            self._pdf = pypdfium2.PdfDocument(content)
            self.count: int | None = len(self._pdf)
        except pypdfium2.PdfiumError as error:
            raise Unreadable("encrypted" if "assword" in str(error) else "broken") from error
        if not self.count:
            raise Unreadable("broken")
        title = self._pdf.get_metadata_dict(skip_empty=True).get("Title", "").strip()
        self.facts = [f"Title: {title}"] if title else []
        if contents := list(self._contents()):
            self.facts.append(f"Contents: {'; '.join(contents)}")

    def _contents(self) -> Iterator[str]:
        for count, each in enumerate(self._pdf.get_toc(max_depth=4)):
            if count == MOST_CONTENTS:
                yield "..."
                return
            place = each.get_dest()
            index = place.get_index() if place else None
            if title := " ".join(each.get_title().split()):
                yield title if index is None else f"{title} (p. {index + 1})"

    def pages(self, first: int) -> Iterator[Page]:
        for index in range(first - 1, self.count or 0):
            yield Page(index + 1, f"p. {index + 1}", self._text(index) or NO_TEXT)

    def _text(self, index: int) -> str:
        try:
            page = self._pdf[index]
            try:
                return _HYPHEN.sub("", page.get_textpage().get_text_bounded()).replace("\r\n", "\n").strip()
            finally:
                page.close()
        except pypdfium2.PdfiumError:
            return "(this page is broken)"


def opened(content: bytes) -> PdfFile:
    """Return a PDF file. Raises Unreadable."""
    return PdfFile(content)
