"""Excel files, read row by row: the values that Excel has shown, with their addresses."""

import datetime
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import openpyxl
from openpyxl.utils.cell import column_index_from_string, get_column_letter

from gateway.plugins.documents.reader.office_xml import DAMAGED, OfficeFile
from gateway.plugins.documents.reader.page import Page, Unreadable, Wish
from gateway.plugins.documents.reader.tables import row

ROWS, ROWS_CHARS = 60, 3_000
"""Rows of a page, and the characters after which it ends earlier."""
_STYLES = "xl/styles.xml"
MOST_COLUMNS = 16_384
_CELLS = re.compile(r"(?:(.*)!)?\$?([A-Za-z]{1,3})\$?(\d{1,7})(?::\$?([A-Za-z]{1,3})\$?(\d{1,7}))?")
_ZEROS = re.compile("0+")
UNCALCULATED = re.compile(rb"</f>\s*+(?:<v\s*+/>|<v>\s*+</v>)?+\s*+</c>")
"""A formula without a value, as programs write it that do not calculate."""
_BROKEN = (*DAMAGED, AttributeError, SyntaxError, TypeError)
"""Errors that openpyxl raises at files that are not as they should be."""


@dataclass(frozen=True)
class _Bounds:
    """The cells that are asked for; None for no bound."""

    min_col: int | None = None
    min_row: int | None = None
    max_col: int | None = None
    max_row: int | None = None


@dataclass
class _Block:
    """Rows that make a page: their texts by column."""

    rows: list[tuple[int, dict[int, str]]] = field(default_factory=list)
    size: int = 0

    def add(self, number: int, cells: dict[int, str]) -> None:
        self.rows.append((number, cells))
        self.size += sum(map(len, cells.values()))

    def is_full(self) -> bool:
        return len(self.rows) >= ROWS or self.size >= ROWS_CHARS

    def page(self, number: int, sheet: str) -> Page:
        columns = sorted({column for _, cells in self.rows for column in cells})
        letters = [get_column_letter(each) for each in columns]
        lines = [row(["", *letters])]
        lines += [row([str(at), *(cells.get(each, "") for each in columns)]) for at, cells in self.rows]
        first, last = f"{letters[0]}{self.rows[0][0]}", f"{letters[-1]}{self.rows[-1][0]}"
        return Page(number, f"{sheet}!{first}" if first == last else f"{sheet}!{first}:{last}", "\n".join(lines))


class ExcelFile:
    """An Excel file, in tables of some rows."""

    kind, unit = "Excel", "table"
    count: int | None = None

    def __init__(self, office: OfficeFile, wish: Wish) -> None:
        office.refuse_document_types()
        self._office = office
        sheet, self._bounds = _bounds(wish.cells)
        self._has_formats = True
        self._book = self._opened(formulas=False)
        self._formulas = self._opened(formulas=True) if wish.cells or self._lacks_values() else None
        self._sheets = self._wanted(wish.sheet or sheet)
        names = [
            f"{each.title}{'' if each.sheet_state == 'visible' else ' (hidden)'}" for each in self._book.worksheets
        ]
        self.facts = [f"Sheets: {', '.join(names)}"]
        if not self._has_formats:
            self.facts.append("Its formats could not be read, so dates are numbers.")
        if office.has_macros:
            self.facts.append("It has macros, which are not run.")

    def _opened(self, *, formulas: bool) -> openpyxl.Workbook:
        """Return the workbook; one with formats that openpyxl refuses is opened without them."""
        for without in ((), (_STYLES,)):
            try:
                file = io.BytesIO(self._office.without(*without) if without else self._office.content)
                book = openpyxl.load_workbook(file, read_only=True, data_only=not formulas, keep_links=False)
            except _BROKEN:
                continue
            self._has_formats = not without
            return book
        raise Unreadable("broken")

    def _lacks_values(self) -> bool:
        return any(UNCALCULATED.search(start) for start in self._office.starts("xl/worksheets/"))

    def _wanted(self, name: str) -> Sequence[int]:
        titles = [each.title.casefold() for each in self._book.worksheets]
        if not name:
            return range(len(titles))
        if name.casefold() not in titles:
            raise Unreadable("no_sheet")
        return [titles.index(name.casefold())]

    def pages(self, first: int) -> Iterator[Page]:
        number = 0
        for sheet in self._sheets:
            title, block = self._book.worksheets[sheet].title, _Block()
            for at, cells in self._rows(sheet):
                block.add(at, cells)
                if block.is_full():
                    yield block.page(number := number + 1, title)
                    block = _Block()
            if block.rows:
                yield block.page(number := number + 1, title)
        if comments := list(self._comments()):
            yield Page(number + 1, "comments", "\n".join(comments))

    def _rows(self, sheet: int) -> Iterator[tuple[int, dict[int, str]]]:
        """Yield the rows that have something in them, with their numbers."""
        books = [self._book, *([self._formulas] if self._formulas else [])]
        found = []
        for book in books:
            its = book.worksheets[sheet]
            its.reset_dimensions()  # what a file says of its size may be wrong, and rows are filled up to it
            found.append(its.iter_rows(**vars(self._bounds)))
        try:
            for rows in zip(*found, strict=False):
                at, cells = 0, dict[int, str]()
                for same in zip(*rows, strict=False):
                    if text := _text(*same):
                        at, cells[same[0].column] = same[0].row, text
                if cells:
                    yield at, cells
        except _BROKEN as error:
            raise Unreadable("broken") from error

    def _comments(self) -> Iterator[str]:
        for part in self._office.beneath("xl/comments"):
            for each in self._office.elements(part, "comment"):
                text = "".join(piece.text or "" for piece in each.iter("t"))
                yield f"{each.get('ref', '')}: {text}"


def _text(cell: object, formula: object = None) -> str:
    """Return the text of a cell, with its formula if that is known."""
    value, told = getattr(cell, "value", None), getattr(formula, "value", None)
    text = _shown(value, _format(cell) if isinstance(value, int | float) else "")
    if isinstance(told, str) and told.startswith("=") and told != text:
        return f"{text} ({told})" if text else told
    return text


def _format(cell: object) -> str:
    try:
        return str(getattr(cell, "number_format", ""))
    except IndexError:  # the formats are not there
        return ""


def _shown(value: object, number_format: str) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, datetime.datetime):
        return f"{value:%Y-%m-%d}" if value.time() == datetime.time() else f"{value:%Y-%m-%d %H:%M:%S}"
    if isinstance(value, int | float) and "%" in number_format:
        return f"{value:.10%}".rstrip("%").rstrip("0").rstrip(".") + "%"
    if isinstance(value, int) and _ZEROS.fullmatch(number_format):  # a postal code
        return f"{value:0{len(number_format)}}"
    return f"{value:.15g}" if isinstance(value, float) else str(value)


def _bounds(cells: str) -> tuple[str, _Bounds]:
    """Return the sheet and the cells of an address. Raises Unreadable."""
    if not cells:
        return "", _Bounds()
    found = _CELLS.fullmatch(cells.strip())
    if not found:
        raise Unreadable("cells")
    sheet, column, line, last_column, last_line = found.groups()
    columns = sorted(map(column_index_from_string, (column.upper(), (last_column or column).upper())))
    lines = sorted(map(int, (line, last_line or line)))
    if columns[-1] > MOST_COLUMNS or not lines[0]:
        raise Unreadable("cells")
    return (sheet or "").strip("'"), _Bounds(columns[0], lines[0], columns[1], lines[1])


def opened(office: OfficeFile, _: str, wish: Wish) -> ExcelFile:
    """Return an Excel file. Raises Unreadable."""
    return ExcelFile(office, wish)
