"""Values that nobody may read, found in texts whatever form they travel in."""

import base64
import html
import json
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from urllib.parse import quote, quote_plus

MASK = "[secret]"
SHORTEST = 8
"""Characters of a secret, or of another form of it, that is masked; a shorter one would be found in ordinary words."""
LONGEST_WORD = 11
"""Letters of a value that may be a mere word: servers that want no key are often given "anything" or "whatever"."""
SHORTEST_PART = 16
"""Characters of what stands behind `Bearer ` or `123:`, or alone on a line, that is a secret by itself."""

CUT_FROM = 24
"""Characters of a form of which a piece is masked, too: nobody thought that up, and it begins or ends like no other."""
PIECE = 16
"""Characters of the start or the end of such a form; some begin with what many begin with, as in sk-ant-api03-."""

REMEMBERED = 2_000
REMEMBERED_SIZE = 10_000
"""So many texts of at most so many characters: a prompt and a history are asked about again with every call."""

_WORD = re.compile(rf"[a-z]{{0,{LONGEST_WORD}}}")
_INTRODUCED = re.compile(rf"\w+[ :](\S{{{SHORTEST_PART},}})")
_COMMON = b"+++++", b"/", b"~/", b"./"
"""What begins like many others do, folded: PEM (-----), and a path, which may be all that a variable holds."""
_ADDRESS = b"http://", b"https://"
"""What begins like many others do, and ends like no other."""
_DROPPED = b" \t\n\r\x0b\x0c\\"
_FOLD = bytes.maketrans(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ-_", b"abcdefghijklmnopqrstuvwxyz+/")


class Secrets:
    """Secret values with all their forms; whoever holds the object masks what is added later, too.

    Of a long form a piece is enough, for texts are cut by many, and not always after they were masked.
    """

    def __init__(self, values: Iterable[str] = ()) -> None:
        self._heads: dict[bytes, set[bytes]] = {}
        """How forms begin -> the forms; short ones begin with all that they are."""
        self._tails: dict[bytes, set[bytes]] = {}
        self._foreign: tuple[str, ...] = ()
        """Those that are not ASCII, which folding would lose."""
        self.count = 0
        """How many have been added: what was masked before the last one may hold it."""
        self._masked_before = lru_cache(REMEMBERED)(self._masked)
        for value in values:
            self.add(value)

    def add(self, value: str) -> None:
        """From now on masked, by all who hold this object."""
        self.count += 1
        self._masked_before.cache_clear()
        value = value.strip()
        if _WORD.fullmatch(value):
            return
        for form in {_folded(form) for form in _forms(value)}:
            if len(form) >= CUT_FROM and not form.startswith(_COMMON):
                head = form if form.startswith(_ADDRESS) else form[:PIECE]
                self._heads.setdefault(head, set()).add(form)
                self._tails.setdefault(form[-PIECE:], set()).add(form)
            elif len(form) >= SHORTEST:
                self._heads.setdefault(form, set()).add(form)
        if not value.isascii() and len(value) >= SHORTEST:
            self._foreign = tuple(sorted({value, *self._foreign}, key=len, reverse=True))

    def mask(self, text: str) -> str:
        """The text with each secret replaced. Takes time in proportion to its length, whatever stands in it."""
        if not self._heads or len(text) < SHORTEST:
            return text
        return self._masked(text) if len(text) > REMEMBERED_SIZE else self._masked_before(text)

    def are_in(self, text: str) -> bool:
        return self.mask(text) != text

    def mask_unfinished(self, text: str) -> str:
        """The same for a text that is still being said: half of a short secret is masked at its end as well."""
        text = self.mask(text)
        folded = _folded(text)
        starts = [start for head in self._heads if (start := _start_of(head, folded)) is not None]
        return _replaced(text, [(min(starts), len(folded))]) if starts else text

    def _masked(self, text: str) -> str:
        for value in self._foreign:
            text = text.replace(value, MASK)
        spans = list(self._spans(_folded(text)))
        return _replaced(text, _merged(spans)) if spans else text

    def _spans(self, folded: bytes) -> Iterator[tuple[int, int]]:
        for head, forms in self._heads.items():
            end = 0
            while (start := folded.find(head, end)) >= 0:
                end = start + max(_same(form, folded[start : start + len(form)]) for form in forms)
                yield start, end
        for tail, forms in self._tails.items():
            end = 0
            while (start := folded.find(tail, end)) >= 0:
                end = start + len(tail)
                yield end - max(_same(form[::-1], folded[max(0, end - len(form)) : end][::-1]) for form in forms), end


def _folded(text: str) -> bytes:
    """What is the same in all spellings of a form: escaped or wrapped, in capitals, in either alphabet of base64,
    with characters between that nobody sees."""
    return text.encode("ascii", "ignore").translate(_FOLD, _DROPPED)


def _same(form: bytes, text: bytes) -> int:
    """How far they are the same."""
    if text == form:
        return len(form)
    return next((place for place, (one, other) in enumerate(zip(form, text, strict=False)) if one != other), len(text))


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


def _start_of(head: bytes, folded: bytes) -> int | None:
    """Where the half of it begins, or more, with which the text ends."""
    half = head[: len(head) // 2]
    start = folded.find(half, max(0, len(folded) - len(head) + 1))
    while start >= 0:
        if head.startswith(folded[start:]):
            return start
        start = folded.find(half, start + 1)
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
