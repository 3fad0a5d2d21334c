"""Word files, made from the blocks of a text."""

from collections.abc import Sequence

from gateway.plugins.documents.writer.blocks import Block, Code, Span, Table
from gateway.plugins.documents.writer.xml_text import HEAD, packed, relations, text

_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_MAIN, _STYLES = "word/document.xml", "word/styles.xml"
_KINDS = {_MAIN: "wordprocessingml.document.main", _STYLES: "wordprocessingml.styles"}
_INDENT = 360
"""Twentieths of a point by which each list is indented."""
_HEADINGS = {1: 32, 2: 28, 3: 26, 4: 24, 5: 22, 6: 22}
"""Size in half points by level."""
_SIDES = ("top", "left", "bottom", "right", "insideH", "insideV")


def word_file(blocks: Sequence[Block]) -> bytes:
    """Return a Word file."""
    body = "".join(map(_block, blocks))
    page = '<w:sectPr><w:pgMar w:top="1134" w:right="1134" w:bottom="1134" w:left="1134"/></w:sectPr>'
    parts = {
        _MAIN: f"{HEAD}<w:document {_W}><w:body>{body}{page}</w:body></w:document>",
        _STYLES: _styles(),
        "word/_rels/document.xml.rels": relations({"styles": ("styles", "styles.xml")}),
    }
    return packed(_MAIN, _KINDS, parts)


def _block(block: Block) -> str:
    if isinstance(block, Table):
        return _table(block)
    if isinstance(block, Code):
        return _paragraph([Span(block.text)], '<w:pStyle w:val="Code"/>')
    if block.heading:
        return _paragraph(block.spans, f'<w:pStyle w:val="Heading{block.heading}"/>')
    mark = [Span(f"{block.mark} ")] if block.mark else []
    depth = block.depth + block.quoted
    indent = f'<w:ind w:left="{depth * _INDENT}"/>' if depth else ""
    return _paragraph([*mark, *block.spans], indent)


def _paragraph(spans: Sequence[Span], properties: str = "") -> str:
    return f"<w:p><w:pPr>{properties}</w:pPr>{''.join(map(_run, spans))}</w:p>"


def _run(span: Span) -> str:
    forms = {"b": span.bold, "i": span.italic, "strike": span.struck}
    font = '<w:rFonts w:ascii="Consolas" w:hAnsi="Consolas"/>' if span.code else ""
    properties = font + "".join(f"<w:{name}/>" for name, is_so in forms.items() if is_so)
    lines = (f'<w:t xml:space="preserve">{text(each)}</w:t>' for each in span.text.split("\n"))
    return f"<w:r><w:rPr>{properties}</w:rPr>{'<w:br/>'.join(lines)}</w:r>"


def _table(table: Table) -> str:
    borders = "".join(f'<w:{side} w:val="single" w:sz="4" w:color="999999"/>' for side in _SIDES)
    columns = max(map(len, table.rows), default=0)
    grid = '<w:gridCol w:w="1800"/>' * columns
    sides = [f'<w:jc w:val="{side}"/>' if side else "" for side in map(table.side, range(columns))]
    rows = "".join(_row(row, sides, is_head=not at) for at, row in enumerate(table.rows))
    return (
        f'<w:tbl><w:tblPr><w:tblW w:w="0" w:type="auto"/><w:tblBorders>{borders}</w:tblBorders></w:tblPr>'
        f"<w:tblGrid>{grid}</w:tblGrid>{rows}</w:tbl>{_paragraph([])}"
    )


def _row(cells: Sequence[Sequence[Span]], sides: Sequence[str], *, is_head: bool) -> str:
    repeated = "<w:trPr><w:tblHeader/></w:trPr>" if is_head else ""
    shown = [[Span(each.text, bold=True) for each in cell] if is_head else cell for cell in cells]
    made = "".join(f"<w:tc>{_paragraph(cell, side)}</w:tc>" for cell, side in zip(shown, sides, strict=False))
    return f"<w:tr>{repeated}{made}</w:tr>"


def _styles() -> str:
    headings = "".join(
        f'<w:style w:type="paragraph" w:styleId="Heading{level}"><w:name w:val="heading {level}"/>'
        f'<w:basedOn w:val="Normal"/><w:next w:val="Normal"/><w:pPr><w:keepNext/><w:spacing w:before="240"/>'
        f'<w:outlineLvl w:val="{level - 1}"/></w:pPr><w:rPr><w:b/><w:sz w:val="{size}"/></w:rPr></w:style>'
        for level, size in _HEADINGS.items()
    )
    return (
        f'{HEAD}<w:styles {_W}><w:style w:type="paragraph" w:default="1" w:styleId="Normal"><w:name w:val="Normal"/>'
        '<w:pPr><w:spacing w:after="120"/></w:pPr><w:rPr><w:rFonts w:ascii="Calibri" w:hAnsi="Calibri"/>'
        f'<w:sz w:val="22"/></w:rPr></w:style>{headings}'
        '<w:style w:type="paragraph" w:styleId="Code"><w:name w:val="Code"/><w:basedOn w:val="Normal"/>'
        '<w:rPr><w:rFonts w:ascii="Consolas" w:hAnsi="Consolas"/><w:sz w:val="20"/></w:rPr></w:style></w:styles>'
    )
