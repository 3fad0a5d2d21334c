"""PDF files, made by hand, so that each of them is as good or as bad as a test wants."""

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

FONT = 3
"""The number of the font's object."""


@dataclass
class PdfParts:
    """The objects of a PDF file, numbered from 1: the catalogue, the tree of pages, the font, and then others."""

    objects: list[bytes] = field(
        default_factory=lambda: [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"",
            b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        ]
    )
    trailer: bytes = b""

    def add(self, content: bytes) -> int:
        """Return the number of a new object."""
        self.objects.append(content)
        return len(self.objects)

    def stream(self, content: bytes, *, of: bytes = b"") -> int:
        """Return the number of a new stream, which is compressed."""
        packed = zlib.compress(content)
        head = b"<< /Length %d /Filter /FlateDecode %s >>" % (len(packed), of)
        return self.add(head + b"\nstream\n" + packed + b"\nendstream")

    def page(self, lines: Sequence[str]) -> int:
        """Return the number of a new page with these lines."""
        shown = b" ".join(b"(%s) Tj T*" % _escaped(line) for line in lines)
        content = self.stream(b"BT /F1 10 Tf 50 800 Td 12 TL " + shown + b" ET")
        return self.add(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents %d 0 R "
            b"/Resources << /Font << /F1 %d 0 R >> >> >>" % (content, FONT)
        )

    def whole(self) -> bytes:
        """Return the file."""
        out, places = b"%PDF-1.7\n", []
        for number, content in enumerate(self.objects, 1):
            places.append(len(out))
            out += b"%d 0 obj\n%s\nendobj\n" % (number, content)
        table = b"".join(b"%010d 00000 n \n" % place for place in places)
        size = len(self.objects) + 1
        return out + (
            b"xref\n0 %d\n0000000000 65535 f \n%strailer << /Size %d /Root 1 0 R %s >>\nstartxref\n%d\n%%%%EOF\n"
            % (size, table, size, self.trailer, len(out))
        )


def pdf(*pages: Sequence[str], info: Mapping[str, str] | None = None) -> bytes:
    """Return a PDF file with these lines on its pages."""
    parts = PdfParts()
    kids = [parts.page(lines) for lines in pages]
    parts.objects[1] = tree(kids)
    if info:
        words = b" ".join(b"/%s (%s)" % (key.encode(), _escaped(value)) for key, value in info.items())
        parts.trailer = b"/Info %d 0 R" % parts.add(b"<< %s >>" % words)
    return parts.whole()


def tree(kids: Sequence[int]) -> bytes:
    """Return the object of a tree of pages."""
    return b"<< /Type /Pages /Count %d /Kids [%s] >>" % (len(kids), b" ".join(b"%d 0 R" % each for each in kids))


def _escaped(text: str) -> bytes:
    return text.encode("cp1252").replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)")
