"""TrueType fonts: which glyph shows a character, how wide it is, and a font with only the glyphs that are used."""

import struct
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path

FOLDER = Path(__file__).parent / "fonts"
_KEPT = ("cvt ", "fpgm", "glyf", "head", "hhea", "hmtx", "loca", "maxp", "prep")
"""Tables that a PDF needs."""
_WORDS, _SCALE, _SQUARE, _MATRIX, _MORE = 1, 8, 64, 128, 32
"""Flags of a part of a glyph that is made of others."""
_SPAN = struct.Struct(">III")


class Font:
    """A TrueType font of this folder."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._bytes = (FOLDER / f"{name}.ttf").read_bytes()
        count = self._number(4)
        places = [struct.unpack_from(">4s4xII", self._bytes, 12 + 16 * at) for at in range(count)]
        self._tables = {tag.decode(): (start, size) for tag, start, size in places}
        self.em = self._in("head", 18)
        self.box: tuple[int, ...] = struct.unpack_from(">4h", self._bytes, self._tables["head"][0] + 36)
        self.rise: tuple[int, ...] = struct.unpack_from(">2h", self._bytes, self._tables["hhea"][0] + 4)
        """The distances that it goes above and below its line."""

    def glyph(self, char: str) -> int:
        """Return the number of the glyph that shows a character, or 0."""
        return self._glyphs.get(ord(char), 0)

    def width(self, glyph: int) -> float:
        """Return the width of a glyph in ems."""
        last = self._in("hhea", 34) - 1
        return self._in("hmtx", 4 * min(glyph, last)) / self.em

    def part(self, glyphs: Iterable[int]) -> bytes:
        """Return the font with these glyphs, under their numbers, and no others."""
        used = self._with_parts(glyphs)
        glyf, loca = bytearray(), [0]
        for glyph in range(self._in("maxp", 4)):
            if glyph in used:
                outline = self._outline(glyph)
                glyf += outline + b"\0" * (-len(outline) % 4)
            loca.append(len(glyf))
        tables = {tag: self._table(tag) for tag in _KEPT if tag in self._tables}
        head = tables["head"]
        tables["head"] = head[:8] + b"\0" * 4 + head[12:50] + b"\0\1" + head[52:]  # no sum of it all; long places
        tables["glyf"], tables["loca"] = bytes(glyf), struct.pack(f">{len(loca)}I", *loca)
        return _file(tables)

    @cached_property
    def _glyphs(self) -> dict[int, int]:
        """The glyphs by the numbers of characters: those of the table for all of Unicode, in format 12."""
        start = self._tables["cmap"][0]
        for at in range(self._in("cmap", 2)):
            platform, encoding, place = struct.unpack_from(">HHI", self._bytes, start + 4 + 8 * at)
            if (platform, encoding) == (3, 10):
                return dict(self._spans(start + place))
        raise ValueError(f"{self.name} has no table for all of Unicode")

    def _spans(self, start: int) -> Iterator[tuple[int, int]]:
        (count,) = struct.unpack_from(">I", self._bytes, start + 12)
        for first, last, glyph in _SPAN.iter_unpack(self._bytes[start + 16 : start + 16 + 12 * count]):
            for char in range(first, last + 1):
                yield char, glyph + char - first

    def _with_parts(self, glyphs: Iterable[int]) -> set[int]:
        """Return the glyphs with those that they are made of."""
        found, left = set[int](), [0, *glyphs]
        while left:
            glyph = left.pop()
            if glyph not in found:
                found.add(glyph)
                left.extend(_parts(self._outline(glyph)))
        return found

    def _outline(self, glyph: int) -> bytes:
        long = self._in("head", 50)
        places = self._tables["loca"][0] + (4 if long else 2) * glyph
        begin, end = struct.unpack_from(">2I" if long else ">2H", self._bytes, places)
        start, scale = self._tables["glyf"][0], 1 if long else 2
        return self._bytes[start + scale * begin : start + scale * end]

    def _table(self, tag: str) -> bytes:
        start, size = self._tables[tag]
        return self._bytes[start : start + size]

    def _in(self, tag: str, at: int) -> int:
        return self._number(self._tables[tag][0] + at)

    def _number(self, at: int) -> int:
        return int.from_bytes(self._bytes[at : at + 2], "big")


def _parts(outline: bytes) -> Iterator[int]:
    """Yield the glyphs that a glyph is made of, if it is."""
    if len(outline) < 2 or outline[0] < 128:  # noqa: PLR2004 - the sign of the number of its contours
        return
    at, flags = 10, _MORE
    while flags & _MORE:
        flags, glyph = struct.unpack_from(">HH", outline, at)
        yield glyph
        at += 8 if flags & _WORDS else 6
        at += 2 if flags & _SCALE else 4 if flags & _SQUARE else 8 if flags & _MATRIX else 0


def _file(tables: dict[str, bytes]) -> bytes:
    """Return a font with these tables. Sums are 0, as nothing that reads a PDF checks them."""
    power = 1 << (len(tables).bit_length() - 1)
    head = struct.pack(">IHHHH", 0x10000, len(tables), 16 * power, power.bit_length() - 1, 16 * (len(tables) - power))
    place, directory, content = 12 + 16 * len(tables), b"", b""
    for tag, table in sorted(tables.items()):
        directory += struct.pack(">4sIII", tag.encode(), 0, place + len(content), len(table))
        content += table + b"\0" * (-len(table) % 4)
    return head + directory + content
