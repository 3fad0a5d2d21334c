"""Word files, made by hand."""

import io
from collections.abc import Mapping
from xml.sax.saxutils import escape
from zipfile import ZIP_DEFLATED, ZipFile

XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_RELATED = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = 'xmlns="http://schemas.openxmlformats.org/package/2006/relationships"'
STYLES = (
    '<w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style>'
    '<w:style w:styleId="Klausel"><w:name w:val="Clause"/>'
    '<w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr></w:pPr></w:style>'
)
NUMBERING = (
    '<w:abstractNum w:abstractNumId="0">'
    '<w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl>'
    '<w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="lowerLetter"/><w:lvlText w:val="%1.%2)"/></w:lvl>'
    "</w:abstractNum>"
    '<w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/><w:lvlText w:val="o"/></w:lvl>'
    "</w:abstractNum>"
    '<w:abstractNum w:abstractNumId="2"><w:lvl w:ilvl="0"><w:start w:val="1"/>'
    '<w:numFmt w:val="chineseCounting"/><w:lvlText w:val="第%1条"/></w:lvl></w:abstractNum>'
    '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>'
    '<w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num>'
    '<w:num w:numId="3"><w:abstractNumId w:val="2"/></w:num>'
)


def packed(parts: Mapping[str, str | bytes]) -> bytes:
    """Return a zip with these files."""
    file = io.BytesIO()
    with ZipFile(file, "w", ZIP_DEFLATED) as zipped:
        for name, content in parts.items():
            zipped.writestr(name, content)
    return file.getvalue()


def related(**targets: str) -> str:
    """Return a part with relationships: the last word of each type, and the part."""
    each = "".join(
        f'<Relationship Id="r{number}" Type="{_RELATED}/{kind}" Target="{target}"/>'
        for number, (kind, target) in enumerate(targets.items())
    )
    return f"{XML}<Relationships {_PACKAGE}>{each}</Relationships>"


def paragraph(text: str, *, style: str = "", level: int | None = None, numbered: int = 1) -> str:
    """Return a paragraph, with a number of a list if a level is given."""
    number = "" if level is None else f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{numbered}"/></w:numPr>'
    its = f'<w:pStyle w:val="{style}"/>' if style else ""
    return f"<w:p><w:pPr>{its}{number}</w:pPr>{run(text)}</w:p>"


def run(text: str, properties: str = "") -> str:
    """Return a run of text."""
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{escape(text)}</w:t></w:r>'


def table(*rows: tuple[str, ...]) -> str:
    """Return a table."""
    cells = ("".join(f"<w:tc>{paragraph(cell)}</w:tc>" for cell in row) for row in rows)
    return f"<w:tbl>{''.join(f'<w:tr>{row}</w:tr>' for row in cells)}</w:tbl>"


def word(body: str, *, before: str = "", further_styles: str = "", **more: str) -> bytes:
    """Return a Word file. `more` are further parts by their type, `before` stands before the root of the main one."""
    roots = {"header": "hdr", "footer": "ftr"}
    parts: dict[str, str | bytes] = {
        "[Content_Types].xml": f"{XML}<Types/>",
        "_rels/.rels": related(officeDocument="word/document.xml"),
        "word/_rels/document.xml.rels": related(
            styles="styles.xml", numbering="numbering.xml", **{kind: f"{kind}.xml" for kind in more}
        ),
        "word/styles.xml": f"{XML}<w:styles {W}>{STYLES}{further_styles}</w:styles>",
        "word/numbering.xml": f"{XML}<w:numbering {W}>{NUMBERING}</w:numbering>",
        "word/document.xml": f"{XML}{before}<w:document {W}><w:body>{body}</w:body></w:document>",
    }
    for kind, content in more.items():
        root = roots.get(kind, kind)
        parts[f"word/{kind}.xml"] = f"{XML}<w:{root} {W}>{content}</w:{root}>"
    return packed(parts)
