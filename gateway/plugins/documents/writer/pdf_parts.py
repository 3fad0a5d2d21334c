"""The objects of which a PDF file is made. Text stands in it as numbers of glyphs, so none of it is ever a command."""

import zlib
from collections.abc import Iterator, Mapping, Sequence

from gateway.plugins.documents.writer.font import Font
from gateway.plugins.documents.writer.signs import Signs

_AT_ONCE = 100
"""Characters in a section of a table, as the format wants it."""
_EM = 1000
"""Units of the widths in a PDF."""


class _Parts:
    """The objects, numbered from 1."""

    def __init__(self) -> None:
        self._objects: list[bytes] = []

    def add(self, content: str) -> int:
        """Return the number of a new object."""
        self._objects.append(content.encode())
        return len(self._objects)

    def stream(self, content: bytes, more: str = "") -> int:
        """Return the number of a new stream."""
        packed = zlib.compress(content)
        head = f"<< /Length {len(packed)} /Filter /FlateDecode{more} >>\nstream\n"
        self._objects.append(head.encode() + packed + b"\nendstream")
        return len(self._objects)

    def put(self, number: int, content: str) -> None:
        self._objects[number - 1] = content.encode()

    def whole(self, catalogue: int, info: int) -> bytes:
        out, places = bytearray(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n"), list[int]()
        for number, content in enumerate(self._objects, 1):
            places.append(len(out))
            out += b"%d 0 obj\n%s\nendobj\n" % (number, content)
        table = "".join(f"{place:010d} 00000 n \n" for place in places)
        size = len(places) + 1
        head = f"xref\n0 {size}\n0000000000 65535 f \n{table}"
        end = f"trailer\n<< /Size {size} /Root {catalogue} 0 R /Info {info} 0 R >>\nstartxref\n{len(out)}\n%%EOF\n"
        return bytes(out) + head.encode() + end.encode()


def pdf_of(pages: Sequence[str], signs: Signs, title: str, size: tuple[float, float]) -> bytes:
    """Return a file with pages that are drawn by these commands."""
    parts = _Parts()
    fonts = "".join(
        f" /F{number} {_font(parts, font, used)} 0 R"
        for number, (font, used) in enumerate(zip(signs.fonts, signs.used, strict=True))
        if used
    )
    tree = parts.add("")
    resources = f"/Resources << /Font <<{fonts} >> >> /MediaBox [0 0 {size[0]:g} {size[1]:g}]"
    kids = [
        parts.add(f"<< /Type /Page /Parent {tree} 0 R {resources} /Contents {parts.stream(page.encode())} 0 R >>")
        for page in pages
    ]
    each = " ".join(f"{kid} 0 R" for kid in kids)
    parts.put(tree, f"<< /Type /Pages /Count {len(kids)} /Kids [{each}] >>")
    catalogue = parts.add(f"<< /Type /Catalog /Pages {tree} 0 R >>")
    return parts.whole(catalogue, parts.add(f"<< /Title {_words(title)} /Producer {_words('Parley')} >>"))


def _font(parts: _Parts, font: Font, used: Mapping[int, str]) -> int:
    """Add a font with the glyphs that are used, and return its number."""
    content = font.part(used)
    file = parts.stream(content, f" /Length1 {len(content)}")
    name = f"{_tag(content)}+{font.name}"
    units = _EM / font.em
    box = " ".join(f"{each * units:.0f}" for each in font.box)
    above, below = (f"{each * units:.0f}" for each in font.rise)
    about = parts.add(
        f"<< /Type /FontDescriptor /FontName /{name} /Flags 4 /FontBBox [{box}] /ItalicAngle 0 /Ascent {above} "
        f"/Descent {below} /CapHeight {above} /StemV 80 /FontFile2 {file} 0 R >>"
    )
    widths = " ".join(f"{glyph} [{font.width(glyph) * _EM:.0f}]" for glyph in sorted(used))
    shapes = parts.add(
        f"<< /Type /Font /Subtype /CIDFontType2 /BaseFont /{name} /CIDToGIDMap /Identity /FontDescriptor {about} 0 R "
        f"/CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> /W [{widths}] >>"
    )
    said = parts.stream("\n".join(_characters(used)).encode())
    return parts.add(
        f"<< /Type /Font /Subtype /Type0 /BaseFont /{name} /Encoding /Identity-H /DescendantFonts [{shapes} 0 R] "
        f"/ToUnicode {said} 0 R >>"
    )


def _characters(used: Mapping[int, str]) -> Iterator[str]:
    """Yield the table from glyphs to characters, with which text is copied and searched."""
    yield "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /Parley def /CMapType 2 def"
    yield "1 begincodespacerange <0000> <ffff> endcodespacerange"
    pairs = [f"<{glyph:04x}> <{char.encode('utf-16-be').hex()}>" for glyph, char in sorted(used.items())]
    for at in range(0, len(pairs), _AT_ONCE):
        some = pairs[at : at + _AT_ONCE]
        yield f"{len(some)} beginbfchar\n{chr(10).join(some)}\nendbfchar"
    yield "endcmap CMapName currentdict /CMap defineresource pop end end"


def _tag(content: bytes) -> str:
    """Return the six letters that tell one part of a font from another."""
    number = zlib.crc32(content)
    return "".join(chr(ord("A") + number // 26**at % 26) for at in range(6))


def _words(text: str) -> str:
    return f"<feff{text.encode('utf-16-be', 'ignore').hex()}>"
