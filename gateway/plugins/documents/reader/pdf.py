"""PDF files, read by PDFium."""

import ctypes
import re
from collections.abc import Iterator

import pypdfium2
from pypdfium2 import raw

from gateway.plugins.documents.reader.page import NO_TEXT, Page, Unreadable
from gateway.plugins.documents.reader.picture import picture_of

MOST_CONTENTS = 60
"""Entries of the table of contents that are listed."""
MOST_COMMENTS, MOST_BYTES = 200, 20_000
"""Comments of a page, and bytes of each."""
_CONTENTS = b"Contents"
_WRITTEN = frozenset(
    (
        raw.FPDF_ANNOT_TEXT,
        raw.FPDF_ANNOT_FREETEXT,
        raw.FPDF_ANNOT_HIGHLIGHT,
        raw.FPDF_ANNOT_UNDERLINE,
        raw.FPDF_ANNOT_STRIKEOUT,
    )
)
"""Kinds of notes that have a text of people."""
_UNSEEN = raw.FPDF_ANNOT_FLAG_HIDDEN | raw.FPDF_ANNOT_FLAG_NOVIEW
_HYPHEN = re.compile("[\x02\ufffe](?:\r?\n)?")
"""The character with which PDFium marks a word that was divided at the end of a line."""


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
        self._has_form = self._pdf.get_formtype() != raw.FORMTYPE_NONE
        if self._has_form:
            self._pdf.init_forms()
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

    def picture(self, number: int) -> bytes:
        """Return a page as a PNG. Raises Unreadable."""
        try:
            return picture_of(self._pdf[number - 1])
        except (pypdfium2.PdfiumError, IndexError) as error:
            raise Unreadable("no_page") from error

    def _text(self, index: int) -> str:
        try:
            page = self._pdf[index]
            comments = [*_comments(page)]
            if self._has_form:  # what is filled in becomes text of the page, and comments are gone
                page.flatten()
                page.close()
                page = self._pdf[index]
            try:
                text = _HYPHEN.sub("", page.get_textpage().get_text_bounded()).replace("\r\n", "\n").strip()
                return "\n".join(filter(None, [text, *comments]))
            finally:
                page.close()
        except pypdfium2.PdfiumError:
            return "(this page is broken)"


def _comments(page: pypdfium2.PdfPage) -> Iterator[str]:
    """Yield what people have written on the page besides its text, where it is to be seen."""
    has_hidden = False
    for place in range(min(raw.FPDFPage_GetAnnotCount(page.raw), MOST_COMMENTS)):
        note = raw.FPDFPage_GetAnnot(page.raw, place)
        try:
            if raw.FPDFAnnot_GetSubtype(note) in _WRITTEN and (text := _contents_of(note)):
                if raw.FPDFAnnot_GetFlags(note) & _UNSEEN:
                    has_hidden = True
                else:
                    yield f"[comment]: {text}"
        finally:
            raw.FPDFPage_CloseAnnot(note)
    if has_hidden:
        yield "[Comments that are hidden are left out.]"


def _contents_of(note: raw.FPDF_ANNOTATION) -> str:
    """Return the text of a note, for which PDFium first tells the room that it takes."""
    size = raw.FPDFAnnot_GetStringValue(note, _CONTENTS, None, 0)
    if size > MOST_BYTES:
        return ""
    found = ctypes.create_string_buffer(size)
    raw.FPDFAnnot_GetStringValue(note, _CONTENTS, ctypes.cast(found, ctypes.POINTER(raw.FPDF_WCHAR)), size)
    return found.raw.decode("utf-16-le", "replace").rstrip("\0").strip()


def opened(content: bytes) -> PdfFile:
    """Return a PDF file. Raises Unreadable."""
    return PdfFile(content)
