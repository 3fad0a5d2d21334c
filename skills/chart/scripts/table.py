"""Reader for the numbers of a CSV file in any common dialect."""

import csv
import io
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
DECIMAL_COMMA = re.compile(r"\d,(\d{1,2}|\d{4,})\s*\D?$|\.\d{3}(,\d|\.\d{3})")
TOLD = re.compile(r"sep=(.)\r?\n", re.IGNORECASE)
"""A first line that names the delimiter, as Excel reads it."""
HUGE = 1e100
"""Limit beyond which, or below whose inverse, floating-point sums become inaccurate."""
MOST_SERIES = 6
WESTERN = re.compile(rb"(?:[\x09-\x7e]|(?<![\x80-\xff])[\x80\x85\x91-\x97\xa0-\xff]{1,2}(?![\x80-\xff]))*")
"""ASCII with at most two other bytes in a row, as where letters have accents."""
ADVICE = "name its encoding, as in --encoding shift_jis (read_file tells it)"
MISSING = {"", "-", "na", "n/a", "nan", "null", "none", "inf", "-inf", "+inf"}


class Unusable(Exception):
    """An error in the file or the request, with a message for the user."""


@dataclass
class Series:
    name: str
    values: list[float | None]


@dataclass
class Table:
    label: str
    """Name of the column with the labels; empty if the rows are only numbered."""
    labels: list[str]
    series: list[Series]
    rows: int


def read_text(path: Path, encoding: str = "") -> str:
    """Return the text in this encoding, or in UTF-8, UTF-16 with its mark, or Windows-1252 for few accents."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise Unusable(f"cannot read {path}: {error.strerror}") from error
    usual = "utf-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    try:
        text = data.decode(encoding or usual)
    except LookupError as error:
        raise Unusable(f"there is no encoding {encoding}") from error
    except UnicodeDecodeError as error:
        if not encoding and b"\0" in data:
            raise Unusable(f"{path} is no text file, or {ADVICE}") from error
        if encoding or not WESTERN.fullmatch(data):
            raise Unusable(f"{path} is not in {encoding or 'UTF-8'}: {ADVICE}") from error
        text = data.decode("cp1252", "replace")
    if "\0" in text:
        raise Unusable(f"{path} is no text file, or {ADVICE}")
    return text


def read_rows(path: Path, encoding: str = "") -> tuple[list[list[str]], str]:
    text = read_text(path, encoding)
    told = TOLD.match(text)
    lines = list(io.StringIO(text[told.end() if told else 0 :], newline=""))
    delimiter = told[1] if told else max(",;\t|", key=lambda mark: _columns(lines[:50], mark))
    try:
        rows = [row for row in csv.reader(lines, delimiter=delimiter) if any(cell.strip() for cell in row)]
    except csv.Error as error:
        raise Unusable(f"{path} is not a CSV file: {error}") from error
    if not rows:
        raise Unusable(f"{path} is empty")
    return rows, delimiter


def _columns(lines: Sequence[str], mark: str) -> tuple[int, int]:
    """Return how well a delimiter fits: the number of lines with as many columns as the first, and that number of
    columns."""
    try:
        widths = [len(row) for row in csv.reader(lines, delimiter=mark)] or [0]
    except csv.Error:
        return 0, 0
    return (widths.count(widths[0]) if widths[0] > 1 else 0), widths[0]


def number(text: str, *, comma: bool) -> float | None:
    """Parse a number such as `1,234.5`, `12 %`, `€ 3` or, with a decimal comma, `1.234,5`."""
    bare = re.sub(r"[\s\u00a0\u202f'%€$£¥]", "", text)
    bare = bare.replace(".", "").replace(",", ".") if comma else bare.replace(",", "")
    value = float(bare) if NUMBER.fullmatch(bare) else math.nan
    if not abs(value) < HUGE:
        return None
    return value if abs(value) > 1 / HUGE else 0.0


def read_table(path: Path, x: str | None, y: str | None, encoding: str = "") -> Table:
    rows, delimiter = read_rows(path, encoding)
    width = max(len(row) for row in rows)
    columns = [[row[at].strip() if at < len(row) else "" for row in rows] for at in range(width)]
    parsed = [_numbers(column, delimiter) for column in columns]
    numeric = [_is_numeric(cells[1:], values[1:]) for cells, values in zip(columns, parsed, strict=True)]
    if not any(numeric) and len(rows) > 1:
        raise Unusable(f"{path} has no column of numbers")
    header = any(rows[0]) and all(values[0] is None for values in parsed)
    if len(rows) == 1:
        raise Unusable(f"{path} has {'a header but no rows' if header else 'only one row'}")
    names = [(header and cells[0]) or f"column {at}" for at, cells in enumerate(columns, 1)]
    first = int(header)
    texts = [at for at in range(width) if not numeric[at] and any(columns[at][first:])]
    label = _position(x, names) if x else texts[0] if texts else 0 if sum(numeric) > 1 else None
    chosen = [_position(name, names) for name in y.split(",")] if y else [at for at in range(width) if numeric[at]]
    chosen = [at for at in chosen if y or at != label][:MOST_SERIES]
    for at in chosen:
        if not any(value is not None for value in parsed[at][first:]):
            raise Unusable(f"the column {names[at]} holds no numbers")
    count = len(rows) - first
    return Table(
        label=names[label] if label is not None else "",
        labels=columns[label][first:] if label is not None else [str(row) for row in range(1, count + 1)],
        series=[Series(names[at], parsed[at][first:]) for at in chosen],
        rows=count,
    )


def _numbers(cells: Sequence[str], delimiter: str) -> list[float | None]:
    comma = any(DECIMAL_COMMA.search(cell) or (delimiter == ";" and "," in cell) for cell in cells[1:])
    return [number(cell, comma=comma) for cell in cells]


def _is_numeric(cells: Sequence[str], values: Sequence[float | None]) -> bool:
    """Return True if at least four fifths of the non-empty cells are numbers."""
    said = sum(cell.lower() not in MISSING for cell in cells)
    return said > 0 and sum(value is not None for value in values) >= 0.8 * said


def _position(name: str, names: Sequence[str]) -> int:
    lowered = [known.lower() for known in names]
    if name.strip().lower() not in lowered:
        raise Unusable(f"there is no column {name.strip()}; there are: {', '.join(names)}")
    return lowered.index(name.strip().lower())


def thinned(table: Table, most: int) -> Table:
    """Reduce the table to at most `most` rows by averaging neighbours."""
    step = math.ceil(table.rows / most)
    series = [Series(one.name, [_mean(part) for part in _parts(one.values, step)]) for one in table.series]
    return Table(table.label, table.labels[::step], series, table.rows)


def _parts(values: Sequence[float | None], step: int) -> Iterator[list[float]]:
    for start in range(0, len(values), step):
        yield [value for value in values[start : start + step] if value is not None]


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None
