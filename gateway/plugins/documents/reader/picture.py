"""Pages of PDF files as pictures."""

import zlib
from struct import pack

import pypdfium2

LONGEST = 1_568
"""Pixels of the longer side: models see no more."""
MOST_BYTES = 3_500_000
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_RGB, _DEPTH = 2, 8


def picture_of(page: pypdfium2.PdfPage) -> bytes:
    """Return the page as a PNG, smaller if it takes too many bytes."""
    longest = LONGEST
    while True:
        found = _png(page, longest / max(*page.get_size(), 1))
        if len(found) <= MOST_BYTES or longest < LONGEST // 4:
            return found
        longest //= 2


def _png(page: pypdfium2.PdfPage, scale: float) -> bytes:
    bitmap = page.render(scale=scale, rev_byteorder=True, maybe_alpha=False)
    data, stride, width = bytes(bitmap.buffer), bitmap.stride, bitmap.width * bitmap.n_channels
    rows = b"".join(b"\0" + data[at : at + width] for at in range(0, stride * bitmap.height, stride))
    head = pack(">IIBBBBB", bitmap.width, bitmap.height, _DEPTH, _RGB, 0, 0, 0)
    return _SIGNATURE + _chunk(b"IHDR", head) + _chunk(b"IDAT", zlib.compress(rows)) + _chunk(b"IEND", b"")


def _chunk(kind: bytes, content: bytes) -> bytes:
    return pack(">I", len(content)) + kind + content + pack(">I", zlib.crc32(kind + content))
