"""Excel files, made from the tables of a text: a sheet for each, with the name of the heading above it."""

import re
from collections.abc import Iterator, Sequence

from gateway.plugins.documents.writer.blocks import Block, Paragraph, Table, text_of
from gateway.plugins.documents.writer.xml_text import HEAD, packed, relations, text

MOST_CHARS = 32_767
"""Characters of a cell."""
NAME_CHARS = 31
_S = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
_R = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
_MAIN, _STYLES = "xl/workbook.xml", "xl/styles.xml"
_REFUSED = re.compile(r"[\[\]:*?/\\\x00-\x1f]")
"""Characters that the name of a sheet does not have."""
_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?", re.ASCII)
_FORMULA = re.compile(
    r"=(?>(?:SUM|AVERAGE|MIN|MAX|COUNT|COUNTA|ROUND|ABS|IF|SUMIF|COUNTIF)(?=\()"
    r"|\$?[A-Z]{1,3}\$?\d{1,7}(?![\w(])|\d++(?:\.\d++)?|[-+*/^%(),:<>= ])+",
    re.ASCII,
)
"""Formulas that only count with cells of their own sheet. Others could fetch a page or start a program when somebody
opens the file, and may come from a text of others: they stay text."""


def excel_file(blocks: Sequence[Block]) -> bytes | None:
    """Return an Excel file, or None if there is no table."""
    sheets = dict(_sheets(blocks))
    if not sheets:
        return None
    listed = "".join(
        f'<sheet name="{text(name)}" sheetId="{number}" r:id="s{number}"/>' for number, name in enumerate(sheets, 1)
    )
    places = {f"s{number}": ("worksheet", f"worksheets/sheet{number}.xml") for number in range(1, len(sheets) + 1)}
    parts = {
        _MAIN: f"{HEAD}<workbook {_S} {_R}><sheets>{listed}</sheets></workbook>",
        _STYLES: _styles(),
        "xl/_rels/workbook.xml.rels": relations({**places, "styles": ("styles", "styles.xml")}),
        **{f"xl/worksheets/sheet{number}.xml": _sheet(each) for number, each in enumerate(sheets.values(), 1)},
    }
    kinds = {_MAIN: "spreadsheetml.sheet.main", _STYLES: "spreadsheetml.styles"}
    return packed(_MAIN, kinds | dict.fromkeys(parts.keys() - kinds.keys(), "spreadsheetml.worksheet"), parts)


def _sheets(blocks: Sequence[Block]) -> Iterator[tuple[str, Table]]:
    """Yield each table with the name of its sheet."""
    heading, used = "", set[str]()
    for block in blocks:
        if isinstance(block, Paragraph) and block.heading:
            heading = text_of(block.spans)
        elif isinstance(block, Table):
            name = _name(heading, used)
            used.add(name.casefold())
            yield name, block


def _name(heading: str, used: set[str]) -> str:
    plain = " ".join(_REFUSED.sub(" ", heading).split()).strip("'")[:NAME_CHARS] or "Sheet"
    name, number = plain, 1
    while name.casefold() in used:
        number += 1
        name = f"{plain[: NAME_CHARS - len(str(number)) - 1]} {number}"
    return name


def _sheet(table: Table) -> str:
    rows = "".join(
        f'<row r="{number}">{"".join(_cells(number, [text_of(cell) for cell in row]))}</row>'
        for number, row in enumerate(table.rows, 1)
    )
    view = '<sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" state="frozen"/>'
    return f"{HEAD}<worksheet {_S}>{view}</sheetView></sheetViews><sheetData>{rows}</sheetData></worksheet>"


def _cells(number: int, values: Sequence[str]) -> Iterator[str]:
    style = ' s="1"' if number == 1 else ""
    for column, value in enumerate(values):
        address = f'r="{_letters(column)}{number}"{style}'
        if number > 1 and _NUMBER.fullmatch(value):
            yield f"<c {address}><v>{value}</v></c>"
        elif number > 1 and _FORMULA.fullmatch(value):
            yield f"<c {address}><f>{text(value[1:])}</f></c>"
        elif value:
            its = text(value[:MOST_CHARS])
            yield f'<c {address} t="inlineStr"><is><t xml:space="preserve">{its}</t></is></c>'


def _letters(column: int) -> str:
    letters = ""
    while column >= 0:
        letters = chr(ord("A") + column % 26) + letters
        column = column // 26 - 1
    return letters


def _styles() -> str:
    return (
        f'{HEAD}<styleSheet {_S}><fonts count="2"><font><sz val="11"/><name val="Calibri"/></font>'
        '<font><b/><sz val="11"/><name val="Calibri"/></font></fonts>'
        '<fills count="2"><fill><patternFill patternType="none"/></fill>'
        '<fill><patternFill patternType="gray125"/></fill></fills>'
        '<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>'
        '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>'
        '<cellXfs count="2"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/>'
        '<xf numFmtId="0" fontId="1" fillId="0" borderId="0" xfId="0" applyFont="1"/></cellXfs>'
        '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>'
    )
