"""A raster image with anti-aliased lines and text, saved as PNG."""

import itertools
import math
import struct
import unicodedata
import zlib
from collections.abc import Sequence
from pathlib import Path

Color = tuple[int, int, int]
Point = tuple[float, float]

WHITE = (255, 255, 255)

# Each letter consists of strokes from point to point. A point is two digits: x from the left, y from the top.
# Capitals end at 6, small letters begin at 2, and descenders end at 8.
_LETTERS = """
A 06-20-46 14-34|B 00-30-41-42-33-03 33-44-45-36-06-00|C 41-30-10-01-05-16-36-45|D 00-20-42-44-26-06-00
E 40-00-06-46 03-33|F 40-00-06 03-33|G 41-30-10-01-05-16-36-45-43-23|H 00-06 40-46 03-43|I 00-06|J 30-35-26-16-05
K 00-06 40-04 13-46|L 00-06-36|M 06-00-23-40-46|N 06-00-46-40|O 10-30-41-45-36-16-05-01-10|P 06-00-30-41-42-33-03
Q 10-30-41-45-36-16-05-01-10 34-46|R 06-00-30-41-42-33-03 23-46|S 41-30-10-01-02-13-33-44-45-36-16-05|T 00-40 20-26
U 00-05-16-36-45-40|V 00-26-40|W 00-16-22-36-40|X 00-46 40-06|Y 00-23-40 23-26|Z 00-40-06-46
a 33-22-12-03-05-16-26-35 32-36|b 00-06 03-12-22-33-35-26-16-05|c 33-22-12-03-05-16-26-35
d 30-36 33-22-12-03-05-16-26-35|e 04-34-33-22-12-03-05-16-26-35|f 20-11-16 02-22
g 33-22-12-03-05-16-26-35 32-37-28-18-07|h 00-06 03-12-22-33-36
i 02-06 00-00|j 12-17-08 10-10|k 00-06 32-04-36|l 00-06|m 02-06 03-12-23-26 23-32-43-46|n 02-06 03-12-22-33-36
o 12-22-33-35-26-16-05-03-12|p 02-08 03-12-22-33-35-26-16-05|q 32-38 33-22-12-03-05-16-26-35|r 02-06 03-12-22
s 32-12-03-14-24-35-26-06|t 10-15-26 02-22|u 02-05-16-26-35 32-36|v 02-26-42|w 02-16-23-36-42|x 02-36 32-06
y 02-26 42-18|z 02-32-06-36|0 10-30-41-45-36-16-05-01-10|1 01-10-16|2 01-10-30-41-42-06-46
3 01-10-30-41-42-33-13 33-44-45-36-16-05|4 36-30-04-44|5 40-00-02-32-43-45-36-16-05|6 40-20-02-05-16-36-45-44-33-13-04
7 00-40-16|8 10-30-41-42-33-13-02-01-10 13-04-05-16-36-45-44-33|9 06-26-44-41-30-10-01-02-13-33-42
. 06-06|, 16-07|- 04-24|+ 04-44 22-26|/ 40-06|( 10-01-05-16|) 00-11-15-06|: 03-03 06-06|; 13-13 16-07|' 00-01
" 00-01 20-21|_ 07-47|# 10-16 30-36 02-42 04-44|= 03-33 05-35|< 31-04-37|> 01-34-07|! 00-04 06-06|[ 10-00-06-16
] 00-10-16-06|? 01-10-20-31-23-24 26-26|$ 41-30-10-01-02-13-33-44-45-36-16-05 20-26|* 21-25 12-34 32-14
& 46-02-01-10-20-21-04-05-16-26-44|% 40-06 00-10-11-01-00 35-45-46-36-35|€ 41-20-11-15-26-45 02-32 04-34
° 00-10-11-01-00|… 06-06 26-26 46-46
"""
_BOX = "00-30-36-06-00"
_SPACE = 1.8


def _glyph(strokes: str) -> list[list[Point]]:
    return [[(int(point[0]), int(point[1])) for point in stroke.split("-")] for stroke in strokes.split()]


_GLYPHS = {entry[0]: _glyph(entry[2:]) for entry in _LETTERS.strip().replace("\n", "|").split("|")}
_UNKNOWN = _glyph(_BOX)


class Canvas:
    """Image whose coordinates are pixels from the top left."""

    def __init__(self, width: int, height: int) -> None:
        self.width = width
        self.height = height
        self._pixels = bytearray(WHITE * (width * height))

    def blend(self, x: int, y: int, color: Color, share: float) -> None:
        """Blend a share of the colour into one pixel."""
        if 0 <= x < self.width and 0 <= y < self.height:
            at = (y * self.width + x) * 3
            for part in range(3):
                old = self._pixels[at + part]
                self._pixels[at + part] = round(old + (color[part] - old) * share)

    def rectangle(self, left: float, top: float, right: float, bottom: float, color: Color) -> None:
        x0, x1 = max(0, round(left)), min(self.width, round(right))
        row = bytes(color) * max(0, x1 - x0)
        for y in range(max(0, round(top)), min(self.height, round(bottom))):
            at = (y * self.width + x0) * 3
            self._pixels[at : at + len(row)] = row

    def stroke(self, lines: Sequence[Sequence[Point]], thickness: float, color: Color) -> None:
        """Draw lines with round ends, evenly covered where they cross."""
        shares: dict[tuple[int, int], float] = {}
        for line in lines:
            for (ax, ay), (bx, by) in itertools.pairwise(line):
                self._segment(shares, (ax, ay, bx - ax, by - ay), thickness / 2 + 0.5)
        for (x, y), share in shares.items():
            self.blend(x, y, color, share)

    def _segment(
        self, shares: dict[tuple[int, int], float], segment: tuple[float, float, float, float], reach: float
    ) -> None:
        ax, ay, dx, dy = segment
        square = dx * dx + dy * dy
        for y in range(math.floor(min(ay, ay + dy) - reach), math.ceil(max(ay, ay + dy) + reach) + 1):
            left, right = min(ax, ax + dx), max(ax, ax + dx)
            if abs(dy) > abs(dx):  # limit the scan to the part of the line in this row
                near = ax + dx * min(1, max(0, (y - ay) / dy))
                left, right = near - reach, near + reach
            for x in range(math.floor(left - reach), math.ceil(right + reach) + 1):
                along = min(1, max(0, ((x - ax) * dx + (y - ay) * dy) / square)) if square else 0
                share = min(1, reach - math.hypot(x - ax - along * dx, y - ay - along * dy))
                if share > shares.get((x, y), 0):
                    shares[x, y] = share

    def text(
        self, text: str, at: Point, size: float, color: Color, *, align: float = 0, turn: float = 0, bold: bool = False
    ) -> None:
        """Draw text with capitals of height `size` from the baseline point `at`. `align` 1 ends there, 0.5 is centred;
        `turn` is in degrees, anticlockwise."""
        x = -align * text_width(text, size)
        cos, sin = math.cos(math.radians(turn)), math.sin(math.radians(turn))
        for letter in _spelled(text):
            lines = [
                [
                    (at[0] + (x + px * size / 6) * cos + dy * sin, at[1] - (x + px * size / 6) * sin + dy * cos)
                    for px, py in line
                    for dy in [(py - 6) * size / 6]
                ]
                for line in _GLYPHS.get(letter, _UNKNOWN)
                if letter != " "
            ]
            self.stroke(lines, size / (5.7 if bold else 7.2), color)
            x += _advance(letter) * size / 6

    def save(self, path: Path) -> None:
        rows = (self._pixels[at : at + self.width * 3] for at in range(0, len(self._pixels), self.width * 3))
        header = struct.pack(">2I5B", self.width, self.height, 8, 2, 0, 0, 0)
        data = zlib.compress(b"".join(b"\0" + row for row in rows), 9)
        chunks = (_chunk(b"IHDR", header), _chunk(b"IDAT", data), _chunk(b"IEND", b""))
        path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(chunks))


def text_width(text: str, size: float) -> float:
    return max(0, sum(map(_advance, _spelled(text))) - _SPACE) * size / 6


def _advance(letter: str) -> float:
    if letter == " ":
        return 2 + _SPACE / 2
    return max(x for line in _GLYPHS.get(letter, _UNKNOWN) for x, _ in line) + _SPACE


def _spelled(text: str) -> str:
    """Replace letters without a glyph: accents are dropped."""
    plain = "".join(letter if letter in _GLYPHS else unicodedata.normalize("NFKD", letter) for letter in text)
    return "".join(letter for letter in plain.replace("ß", "ss") if not unicodedata.combining(letter))


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
