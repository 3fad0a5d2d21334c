"""Characters as the fonts of a PDF show them."""

import unicodedata
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from gateway.plugins.documents.writer.blocks import Span
from gateway.plugins.documents.writer.font import Font

FONTS = ("DejaVuSans", "DroidSansFallback", "DejaVuSansMono")
_TEXT, _CODE = (0, 1), (2, 0, 1)
"""The fonts that are tried, by their number, one after the other."""
_AS = {"✅": "✔", "❌": "✘", "❎": "✘", "⭐": "★", "🌟": "★", "\u20e3": "", "\t": "    ", "\u00a0": " "}
"""Stand-ins for characters that no font here has, or that show nothing."""
_LEFTWARDS = ("R", "AL")
_WRITING = ("L", "Mn", "Mc", "N")
"""Letters, marks and digits, as their categories begin: without one of them words would be wrong."""


class NotShown(Exception):
    """A text has letters that no font here shows."""

    def __init__(self, letters: str) -> None:
        super().__init__(letters)
        self.letters = letters


class Form(Struct, frozen=True):
    """The font of some characters, by its number, and how they look; `size` is in points."""

    font: int
    size: float
    bold: bool = False
    italic: bool = False
    struck: bool = False


class Mark(Struct, frozen=True):
    """A character as a font shows it."""

    char: str
    form: Form
    glyph: int
    width: float
    is_wide: bool
    """True for characters of Chinese, Japanese and Korean, between which lines are broken."""


class Signs:
    """The signs of one document, and those that are left out."""

    def __init__(self) -> None:
        self.fonts = tuple(map(Font, FONTS))
        self.left_out: dict[str, None] = {}
        """Pictures that no font here has, in their order."""
        self.used: tuple[dict[int, str], ...] = tuple({} for _ in FONTS)
        """The glyphs of each font that are used, with their characters."""
        self._known: dict[tuple[str, bool, Form], Sequence[Mark]] = {}
        self._letters: dict[str, None] = {}
        self._forms: dict[tuple[int, Form], Form] = {}
        """One of each, as one is told from itself at once."""

    def marks(self, spans: Iterable[Span], size: float, *, bold: bool = False) -> list[Mark]:
        """Return the marks of a text."""
        return [mark for span in spans for mark in self._of_span(span, size, bold=bold)]

    def check(self) -> None:
        """Raises NotShown."""
        if self._letters:
            raise NotShown("".join(self._letters))

    def _of_span(self, span: Span, size: float, *, bold: bool) -> Iterator[Mark]:
        form = Form(0, size * 0.94 if span.code else size, span.bold or bold, span.italic, span.struck)
        for char in unicodedata.normalize("NFC", span.text):
            marks = self._known.get((char, span.code, form))
            if marks is None:
                marks = tuple(self._found(_AS.get(char, char), _CODE if span.code else _TEXT, form))
                self._known[char, span.code, form] = marks
            yield from marks

    def _found(self, text: str, fonts: Sequence[int], form: Form) -> Iterator[Mark]:
        for char in text:
            if char == "\n":
                yield Mark(char, form, 0, 0, is_wide=False)
            elif unicodedata.category(char)[0] == "C" or 0xFE00 <= ord(char) <= 0xFE0F:  # noqa: PLR2004 - variants
                continue
            elif mark := self._mark(char, fonts, form):
                yield mark
            elif (plain := unicodedata.normalize("NFKC", char)) != char:
                yield from self._found(plain, fonts, form)
            else:
                is_letter = unicodedata.category(char).startswith(_WRITING)
                (self._letters if is_letter else self.left_out)[char] = None

    def _mark(self, char: str, fonts: Sequence[int], form: Form) -> Mark | None:
        if unicodedata.bidirectional(char) in _LEFTWARDS:  # it would be in the wrong order
            return None
        is_wide = unicodedata.east_asian_width(char) in "WF"
        for number in fonts:
            font = self.fonts[number]
            if glyph := font.glyph(char):
                self.used[number][glyph] = char
                its = self._forms.setdefault((number, form), replace(form, font=number))
                return Mark(char, its, glyph, font.width(glyph) * form.size, is_wide)
        return None
