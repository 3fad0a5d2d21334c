"""Numbers of paragraphs in Word files: they are in no text, but counted by Word."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

from gateway.plugins.documents.reader.office_xml import OfficeFile

BULLET = "-"
_ROMAN = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x")),
    *((9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)
_DIGITS = "〇一二三四五六七八九"
_LEVELS = 9
_LARGEST = 3_000
"""Largest number that is written in letters or Roman digits."""


@dataclass
class _Level:
    format: str = "decimal"
    text: str = "%1."
    start: int = 1


@dataclass
class _List:
    """A list: its levels, and the last number on each."""

    levels: dict[int, _Level] = field(default_factory=dict)
    counts: dict[int, int] = field(default_factory=dict)

    def next(self, level: int) -> str:
        """Return the number of the next paragraph on a level."""
        its = self.levels.get(level, _Level())
        self.counts[level] = self.counts.get(level, its.start - 1) + 1
        for deeper in [each for each in self.counts if each > level]:
            del self.counts[deeper]
        if its.format == "bullet":
            return BULLET
        return "" if its.format == "none" else re.sub(r"%([1-9])", self._shown, its.text)

    def _shown(self, place: re.Match[str]) -> str:
        level = int(place[1]) - 1
        its = self.levels.get(level, _Level())
        return _written(self.counts.get(level, its.start), its.format)


class Numbering:
    """Counts the numbered paragraphs of a document in their order."""

    def __init__(self, office: OfficeFile, part: str | None, styles: str | None) -> None:
        abstract: dict[str, _List] = {}
        self._lists: dict[str, _List] = {}
        self._of_styles: dict[str, tuple[str, int]] = {}
        self._levels_of_styles: dict[tuple[str, str], int] = {}
        for each in office.elements(part, "abstractNum", "num") if part else ():
            if each.tag == "abstractNum":
                abstract[each.get("abstractNumId", "")] = _List(dict(_levels(each)))
                continue
            of = each.find("abstractNumId")
            known = abstract.get(of.get("val", "") if of is not None else "", _List())
            changed = dict(_changed(each, known))
            # Lists of one definition count on from each other, unless one of them begins anew.
            self._lists[each.get("numId", "")] = _List({**known.levels, **changed}) if changed else known
        for each in office.elements(styles, "style") if styles else ():
            if (found := each.find("pPr/numPr")) is not None:
                self._of_styles[each.get("styleId", "")] = _numbered(found, "", 0)

    def next(self, properties: Element | None, style: str) -> tuple[str, int]:
        """Return the number or bullet of the next paragraph, empty if it has none, and its level."""
        numbered, level = self._of_styles.get(style, ("", 0))
        found = properties.find("numPr") if properties is not None else None
        if found is not None:
            numbered, level = _numbered(found, numbered, level)
        its = self._lists.get(numbered)
        return (its.next(level), level) if its else ("", 0)


def _numbered(found: Element, numbered: str, level: int) -> tuple[str, int]:
    its, at = found.find("numId"), found.find("ilvl")
    return (
        its.get("val", "") if its is not None else numbered,
        min(_number(at, level), _LEVELS - 1),
    )


def _number(element: Element | None, otherwise: int) -> int:
    value = element.get("val", "") if element is not None else ""
    return int(value) if re.fullmatch(r"\d{1,9}", value) else otherwise


def _levels(abstract: Element) -> Iterator[tuple[int, _Level]]:
    for each in abstract.findall("lvl"):
        its, text = each.find("numFmt"), each.find("lvlText")
        yield (
            _place(each),
            _Level(
                its.get("val", "decimal") if its is not None else "decimal",
                text.get("val", "") if text is not None else "",
                _number(each.find("start"), 1),
            ),
        )


def _changed(num: Element, known: _List) -> Iterator[tuple[int, _Level]]:
    for each in num.findall("lvlOverride"):
        level = known.levels.get(_place(each), _Level())
        yield _place(each), _Level(level.format, level.text, _number(each.find("startOverride"), level.start))


def _place(element: Element) -> int:
    value = element.get("ilvl", "0")
    return int(value) if re.fullmatch(r"[0-8]", value) else 0


def _written(number: int, form: str) -> str:
    writer = _WRITERS.get(form)
    return writer(number) if writer and 0 < number <= _LARGEST else str(number)


def _letters(number: int) -> str:
    """Return a to z, then aa to zz, as Word does."""
    return chr(ord("a") + (number - 1) % 26) * ((number - 1) // 26 + 1)


def _roman(number: int) -> str:
    written = ""
    for value, letters in _ROMAN:
        written += letters * (number // value)
        number %= value
    return written


def _chinese(number: int) -> str:
    """Return 一 to 九十九; larger numbers digit by digit."""
    tens, ones = divmod(number, 10)
    if tens >= len(_DIGITS):
        return "".join(_DIGITS[int(digit)] for digit in str(number))
    ten = "" if not tens else "十" if tens == 1 else f"{_DIGITS[tens]}十"
    return f"{ten}{_DIGITS[ones] if ones else ''}"


_WRITERS: dict[str, Callable[[int], str]] = {
    "lowerLetter": _letters,
    "upperLetter": lambda number: _letters(number).upper(),
    "lowerRoman": _roman,
    "upperRoman": lambda number: _roman(number).upper(),
    "decimalZero": lambda number: f"{number:02}",
    **dict.fromkeys(
        (
            *("chineseCounting", "chineseCountingThousand", "ideographDigital", "japaneseCounting"),
            *("taiwaneseCounting", "taiwaneseCountingThousand", "japaneseDigitalTenThousand"),
        ),
        _chinese,
    ),
}
