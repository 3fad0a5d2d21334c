"""Pictures in formats that no model can see."""

import io

from PIL import Image


def _saved(form: str) -> bytes:
    made = io.BytesIO()
    Image.new("RGB", (8, 8), "red").save(made, form)
    return made.getvalue()


def _boxed(*brands: bytes) -> bytes:
    first, *others = brands
    return (16 + 4 * len(others)).to_bytes(4) + b"ftyp" + first + b"\0\0\0\0" + b"".join(others) + b"\0\xff" * 40


SVG = b'<?xml version="1.0"?>\n<!-- drawn by hand -->\n<svg xmlns="http://www.w3.org/2000/svg"><circle r="4"/></svg>'
BINARY = {
    "AVIF": _saved("AVIF"),
    "BMP": _saved("BMP"),
    "JPEG 2000": _saved("JPEG2000"),
    "TIFF": _saved("TIFF"),
    "HEIC": _boxed(b"heic", b"mif1", b"heic"),
    "HEIF": _boxed(b"mif1", b"miaf"),
    "JPEG XL": b"\0\0\0\x0cJXL \r\n\x87\n" + b"\0\xff" * 40,
}
UNSEEN = {**BINARY, "SVG": SVG}
