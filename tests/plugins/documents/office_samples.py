"""Excel and PowerPoint files, made by hand."""

from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape

from tests.plugins.documents.word_samples import XML, packed, related

S = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
A = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
P = 'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
R = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
PERCENT, DATE, POSTAL_CODE = 1, 2, 3
"""Styles of cells."""
_STYLES = (
    '<numFmts count="1"><numFmt numFmtId="164" formatCode="00000"/></numFmts>'
    '<fonts count="1"><font/></fonts><fills count="1"><fill><patternFill/></fill></fills>'
    '<borders count="1"><border/></borders>'
    '<cellStyleXfs count="1"><xf/></cellStyleXfs>'
    '<cellXfs count="4"><xf numFmtId="0"/><xf numFmtId="10"/><xf numFmtId="14"/><xf numFmtId="164"/></cellXfs>'
)
_TYPES = (
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Override PartName="/xl/workbook.xml" '
    'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/></Types>'
)


def cell(address: str, value: str | float = "", *, formula: str = "", style: int = 0) -> str:
    """Return a cell: with a text, or a number, which may be the value of a formula."""
    its = f"<f>{escape(formula)}</f>" if formula else ""
    if isinstance(value, str) and value:
        return f'<c r="{address}" t="inlineStr" s="{style}">{its}<is><t>{escape(value)}</t></is></c>'
    number = f"<v>{value}</v>" if value != "" else ""
    return f'<c r="{address}" s="{style}">{its}{number}</c>'


def excel(sheets: Mapping[str, Sequence[str]], *, before: str = "", hidden: Sequence[str] = (), **more: str) -> bytes:
    """Return an Excel file: rows of cells by sheet. `more` are further parts by their name in `xl`."""
    state = ' state="hidden"'
    listed = "".join(
        f'<sheet name="{escape(name)}" sheetId="{number}" r:id="r{number}"{state if name in hidden else ""}/>'
        for number, name in enumerate(sheets)
    )
    rels = "".join(
        f'<Relationship Id="r{number}" Target="worksheets/sheet{number}.xml" '
        'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet"/>'
        for number in range(len(sheets))
    )
    styles = (
        '<Relationship Id="s" Target="styles.xml" '
        'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/styles"/>'
    )
    package = 'xmlns="http://schemas.openxmlformats.org/package/2006/relationships"'
    parts = {
        "[Content_Types].xml": f"{XML}{_TYPES}",
        "_rels/.rels": related(officeDocument="xl/workbook.xml"),
        "xl/_rels/workbook.xml.rels": f"{XML}<Relationships {package}>{rels}{styles}</Relationships>",
        "xl/workbook.xml": f"{XML}<workbook {S} {R}><sheets>{listed}</sheets></workbook>",
        "xl/styles.xml": f"{XML}<styleSheet {S}>{_STYLES}</styleSheet>",
        **{
            f"xl/worksheets/sheet{number}.xml": f"{XML}{before}<worksheet {S}><sheetData>{''.join(rows)}"
            "</sheetData></worksheet>"
            for number, rows in enumerate(sheets.values())
        },
        **{f"xl/{name}.xml": content for name, content in more.items()},
    }
    return packed(parts)


def line(number: int, *cells: str) -> str:
    """Return a row."""
    return f'<row r="{number}">{"".join(cells)}</row>'


def slides(*shapes: str, notes: str = "") -> bytes:
    """Return a PowerPoint file with the shapes of each slide, in the reverse order of their parts."""
    order = "".join(f'<p:sldId id="{256 + number}" r:id="r{number}"/>' for number in reversed(range(len(shapes))))
    relations = {f"slide{number}": f"slides/slide{number}.xml" for number in range(len(shapes))}
    parts: dict[str, str | bytes] = {
        "_rels/.rels": related(officeDocument="ppt/presentation.xml"),
        "ppt/_rels/presentation.xml.rels": related(**relations),
        "ppt/presentation.xml": f"{XML}<p:presentation {P} {R}><p:sldIdLst>{order}</p:sldIdLst></p:presentation>",
        "ppt/notesSlides/notes.xml": f"{XML}<p:notes {P} {A}>{shape(notes, place='body')}</p:notes>",
    }
    for number, its in enumerate(reversed(shapes)):
        parts[f"ppt/slides/slide{number}.xml"] = f"{XML}<p:sld {P} {A}>{its}</p:sld>"
        parts[f"ppt/slides/_rels/slide{number}.xml.rels"] = related(notesSlide="../notesSlides/notes.xml")
    return packed(parts)


def shape(*lines: str, place: str = "") -> str:
    """Return a shape with lines, in a place of the slide such as `title`."""
    paragraphs = "".join(f"<a:p><a:r><a:t>{escape(text)}</a:t></a:r></a:p>" for text in lines)
    its = f'<p:nvSpPr><p:nvPr><p:ph type="{place}"/></p:nvPr></p:nvSpPr>' if place else ""
    return f"<p:sp>{its}<p:txBody>{paragraphs}</p:txBody></p:sp>"
