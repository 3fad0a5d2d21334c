"""Text files and tables of text, in whatever encoding they are."""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from agent_core.encodings import read_text
from agent_core.file_text import FileText
from gateway.plugins.documents.reader.html_text import text_of_html
from gateway.plugins.documents.reader.page import Document, Page, Unreadable
from gateway.plugins.documents.reader.tables import row

PART_CHARS = 3_000
TABLES = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
"""Endings of names of tables, with the usual delimiter."""
_DELIMITERS = ",;\t|"
_TOLD = re.compile("sep=(.)\r?\n", re.IGNORECASE)
"""A first line that names the delimiter, as Excel reads it."""
_QUOTED = re.compile('"[^"]*"')
_JUDGED = 20
"""Lines by which the delimiter is told."""
_HEAD = 2_000
_LONGEST_CELL = 1_000_000


class TextFile:
    """A text, in parts of some lines."""

    kind, unit = "Text", "part"
    count: int | None = None

    def __init__(self, found: FileText) -> None:
        self.facts = [f"[{found.note}]"] if found.note else []
        self._text = found.text

    def pages(self, first: int) -> Iterator[Page]:
        for number, (_, lines) in enumerate(_parts(self._text.splitlines()), 1):
            yield Page(number, f"part {number}", "\n".join(lines))


class TableFile:
    """A table of text, in parts of some rows."""

    kind, unit = "Table", "part"
    count: int | None = None

    def __init__(self, found: FileText, usual: str) -> None:
        self.facts = [f"[{found.note}]"] if found.note else []
        self._text = found.text
        self._delimiter = _delimiter(found.text, usual)

    def pages(self, first: int) -> Iterator[Page]:
        csv.field_size_limit(_LONGEST_CELL)
        rows = csv.reader(io.StringIO(self._text), delimiter=self._delimiter)
        try:
            for number, (start, lines) in enumerate(_parts(row(each) for each in rows), 1):
                yield Page(number, f"rows {start} to {start + len(lines) - 1}", "\n".join(lines))
        except csv.Error as error:
            raise Unreadable("broken") from error


def opened(content: bytes, name: str) -> Document:
    """Return a text or a table. Raises Unreadable."""
    found = read_text(content)
    if found is None:
        raise Unreadable("unknown")
    head = found.text[:_HEAD].lower()
    if "<html" in head or head.lstrip().startswith("<table"):
        found = FileText(text_of_html(found.text), found.encoding, is_guess=found.is_guess)
    usual = TABLES.get(PurePosixPath(name).suffix.lower())
    return TableFile(found, usual) if usual else TextFile(found)


def _parts(lines: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield some lines at a time, with the number of the first."""
    part: list[str] = []
    start, size = 1, 0
    for line in lines:
        if part and size + len(line) > PART_CHARS:
            yield start, part
            start, part, size = start + len(part), [], 0
        part.append(line)
        size += len(line) + 1
    if part:
        yield start, part


def _delimiter(text: str, usual: str) -> str:
    """Return the delimiter that stands equally often in most of the first lines, where it is not in quotes."""
    if told := _TOLD.match(text):
        return told[1]
    lines = [line for line in _QUOTED.sub("", text[:20_000]).splitlines()[:_JUDGED] if line.strip()]

    def sureness(delimiter: str) -> tuple[int, int, bool]:
        counts = Counter(filter(None, (line.count(delimiter) for line in lines)))
        each, often = max(counts.items(), key=lambda found: (found[1], found[0]), default=(0, 0))
        return often, each, delimiter == usual

    return max(_DELIMITERS, key=sureness)
