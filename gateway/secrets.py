"""Values that nobody may read, found in texts whatever form they travel in."""

import base64
import html
import json
import re
from collections.abc import Iterable, Iterator
from urllib.parse import quote, quote_plus

MASK = "[secret]"
SHORTEST = 8
"""Characters of a secret, or of another form of it, that is masked; a shorter one would be found in ordinary words."""
LONGEST_WORD = 11
"""Letters of a value that may be a mere word: servers that want no key are often given "anything" or "whatever"."""
SHORTEST_PART = 16
"""Characters of what stands behind `Bearer ` or `123:`, or alone on a line, that is a secret by itself."""

_WORD = re.compile(rf"[a-z]{{0,{LONGEST_WORD}}}")
_INTRODUCED = re.compile(rf"\w+[ :](\S{{{SHORTEST_PART},}})")
_DROPPED = b" \t\n\r\x0b\x0c\\"
_FOLD = bytes.maketrans(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ-_", b"abcdefghijklmnopqrstuvwxyz+/")


class Secrets:
    """Secret values with all their forms; whoever holds the object masks what is added later, too."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        self._needles: tuple[bytes, ...] = ()
        self._foreign: tuple[str, ...] = ()
        """Those that are not ASCII, which folding would lose."""
        for value in values:
            self.add(value)

    def add(self, value: str) -> None:
        """From now on masked, by all who hold this object."""
        value = value.strip()
        if _WORD.fullmatch(value):
            return
        needles = {needle for form in _forms(value) if len(needle := _folded(form)) >= SHORTEST}
        self._needles = tuple(sorted(needles.union(self._needles)))
        if not value.isascii() and len(value) >= SHORTEST:
            self._foreign = tuple(sorted({value, *self._foreign}, key=len, reverse=True))

    def mask(self, text: str) -> str:
        """The text with each secret replaced. Takes time in proportion to its length, whatever stands in it."""
        if not self._needles or len(text) < SHORTEST:
            return text
        for value in self._foreign:
            text = text.replace(value, MASK)
        folded = _folded(text)
        found = [needle for needle in self._needles if needle in folded]
        return _replaced(text, _merged(_spans(folded, found))) if found else text

    def are_in(self, text: str) -> bool:
        return self.mask(text) != text

    def mask_unfinished(self, text: str) -> str:
        """The same for a text that is still being said: what may be the start of a secret is masked at its end."""
        text = self.mask(text)
        folded = _folded(text)
        starts = [start for needle in self._needles if (start := _start_of(needle, folded)) is not None]
        return _replaced(text, [(min(starts), len(folded))]) if starts else text


def _folded(text: str) -> bytes:
    """What is the same in all spellings of a form: escaped or wrapped, in capitals, in either alphabet of base64,
    with characters between that nobody sees."""
    return text.encode("ascii", "ignore").translate(_FOLD, _DROPPED)


def _spans(folded: bytes, needles: Iterable[bytes]) -> Iterator[tuple[int, int]]:
    for needle in needles:
        start = folded.find(needle)
        while start >= 0:
            end = start + len(needle)
            yield start, end
            start = folded.find(needle, end)


def _merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Those that overlap or touch become one."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _replaced(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Spans are places in the folded text."""
    places = [place for place, char in enumerate(text) if char.isascii() and ord(char) not in _DROPPED]
    parts, last = [], 0
    for start, end in spans:
        parts += [text[last : places[start]], MASK]
        last = places[end - 1] + 1
    return "".join([*parts, text[last:]])


def _start_of(needle: bytes, folded: bytes) -> int | None:
    """Where the text goes over into the start of the needle that it ends with."""
    head = needle[:SHORTEST]
    start = folded.find(head, max(0, len(folded) - len(needle) + 1))
    while start >= 0:
        if needle.startswith(folded[start:]):
            return start
        start = folded.find(head, start + 1)
    return None


def _forms(value: str) -> Iterator[str]:
    """The value, and what is as good as the value, each as others write it."""
    yield from _encoded(value)
    if introduced := _INTRODUCED.fullmatch(value):
        yield from _encoded(introduced[1])
    lines = value.splitlines()
    if len(lines) > 1:
        yield from (line for line in lines if len(line) >= SHORTEST_PART and not line.startswith("-----"))


def _encoded(value: str) -> Iterator[str]:
    raw = value.encode(errors="replace")
    yield value
    yield quote(raw, safe="")
    yield quote(raw)
    yield quote_plus(raw)
    yield "".join(f"%{byte:02x}" for byte in raw)
    yield raw.hex()
    yield repr(value)[1:-1]
    yield json.dumps(value)[1:-1]
    yield html.escape(value)
    for before in range(3):
        yield _base64(raw, before)


def _base64(value: bytes, before: int) -> str:
    """As it looks inside the encoding of a longer text, which begins so many bytes before (Basic auth)."""
    encoded = base64.b64encode(bytes(before) + value).decode()
    # Characters that also hold bits of a neighbour differ from text to text.
    return encoded[(0, 2, 3)[before] : (before + len(value)) * 8 // 6]
