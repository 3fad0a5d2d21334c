"""Images in a terminal, drawn with half blocks: each cell is two pixels, as text and background colours.

Images are untrusted input, so only two formats of limited size are decoded.
"""

import struct
import zlib
from pathlib import Path

from PIL import Image, JpegImagePlugin, PngImagePlugin
from rich.color import Color
from rich.segment import Segment, Segments
from rich.style import Style

FORMATS = (PngImagePlugin.PngImageFile.format, JpegImagePlugin.JpegImageFile.format)
LARGEST = 20 * 1024 * 1024
"""Largest file in bytes."""
MOST_PIXELS = 16_000_000
"""At this size a decoded image takes 64 MB and half a second; a small file may claim any number of pixels."""
WIDEST = 76
UPPER_HALF = "▀"
BROKEN = (OSError, ValueError, SyntaxError, EOFError, struct.error, zlib.error, KeyError, IndexError, TypeError)
"""Exceptions that Pillow raises for invalid files."""

Pixel = tuple[int, int, int]


def blocks(path: str, columns: int, rows: int) -> Segments | None:
    """Return the image in at most so many cells, or None if it cannot be shown. Blocking."""
    try:
        if Path(path).stat().st_size > LARGEST:
            return None
        image = _small(path, min(columns, WIDEST), 2 * rows)
    except BROKEN:
        return None
    return None if image is None else _drawn(image)


def _small(path: str, width: int, height: int) -> Image.Image | None:
    Image.MAX_IMAGE_PIXELS = None  # the limit is the one below; Pillow's own issues a warning first
    with Image.open(path, formats=FORMATS) as image:
        if image.width * image.height > MOST_PIXELS:
            return None
        image.draft("RGB", (2 * width, 2 * height))  # decode photographs at a reduced size
        scale = min(width / image.width, height / image.height, 1)
        size = (max(1, round(image.width * scale)), max(1, round(image.height * scale)))
        paper = Image.new("RGBA", image.size, "white")
        paper.alpha_composite(image.convert("RGBA"))
        return paper.convert("RGB").resize(size, Image.Resampling.BOX, reducing_gap=2.0)


def _drawn(image: Image.Image) -> Segments:
    width, height = image.size
    content = image.tobytes()
    pixels = [(content[at], content[at + 1], content[at + 2]) for at in range(0, len(content), 3)]
    segments = []
    for top in range(0, height, 2):
        for at in range(top * width, (top + 1) * width):
            below = pixels[at + width] if top + 1 < height else None
            segments.append(Segment(UPPER_HALF, _style(pixels[at], below)))
        segments.append(Segment.line())
    return Segments(segments)


def _style(upper: Pixel, lower: Pixel | None) -> Style:
    return Style(color=Color.from_rgb(*upper), bgcolor=Color.from_rgb(*lower) if lower else None)
