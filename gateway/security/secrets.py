"""Finds and masks secret values in texts, in any encoding they are likely to appear in."""

import base64
import html
import json
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from threading import Lock
from types import MappingProxyType
from typing import TypeVar, cast
from urllib.parse import quote, quote_plus

from pydantic import BaseModel

from agent_core.identity_cache import IdentityCache
from gateway.security.masking import MASK, masked

T = TypeVar("T")

SHORTEST = 8
"""Shortest form of a secret that is masked; shorter ones would match ordinary words."""
LONGEST_WORD = 11
"""Longest lower-case value left unmasked as a plain word, such as the key "whatever" for a server without keys."""
SHORTEST_PART = 16
"""Characters from which the part after `Bearer ` or `123:`, or a single line, is masked by itself."""

CUT_FROM = 24
"""Length from which a piece of a secret is masked too: at this length its start and end are distinctive."""
PIECE = 16
"""Length of the piece at the start or end. Many keys share a prefix such as sk-ant-api03-."""

REMEMBERED = 2_000
REMEMBERED_SIZE = 10_000
"""Most texts cached, and their longest length: prompts and histories recur with every call."""

_WORD = re.compile(rf"[a-z]{{0,{LONGEST_WORD}}}")
_INTRODUCED = re.compile(rf"\w+[ :](\S{{{SHORTEST_PART},}})")
_COMMON = b"+++++", b"/", b"~/", b"./", b"postgres"
"""Common beginnings, in folded form, of values of which no piece is masked: PEM lines (-----), paths, and addresses of
databases, whose password is a value of its own."""
_ADDRESS = b"http://", b"https://"
"""Values with a common beginning but a distinctive end."""
_DROPPED = b" \t\n\r\x0b\x0c\\>"
"""Characters ignored in comparisons. `>` marks quotations, and may occur within a wrapped key."""
_FOLD = bytes.maketrans(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ-_", b"abcdefghijklmnopqrstuvwxyz+/")
EMPTY: Mapping[bytes, frozenset[bytes]] = MappingProxyType({})
OTHERS = 0o077
"""Permission bits of the group and of others."""


class _Forms:
    """Every form of the masked values. It does not change, so that any thread may use it while another adds a value."""

    def __init__(
        self,
        heads: Mapping[bytes, frozenset[bytes]] = EMPTY,
        tails: Mapping[bytes, frozenset[bytes]] = EMPTY,
        foreign: Sequence[str] = (),
    ) -> None:
        """Create what is masked.

        Args:
            heads: Forms by their beginning; a short form is its own beginning.
            tails: Long forms by their end.
            foreign: Values with non-ASCII characters, which folding would lose.
        """
        self.heads = heads
        self._tails = tails
        self._foreign = foreign
        self.masked_before = lru_cache(REMEMBERED)(self.masked)
        self.models = IdentityCache[BaseModel, BaseModel](self._masked_model)

    def grown(self, value: str) -> "_Forms":
        """Return what is masked with one more value."""
        value = value.strip()
        if _WORD.fullmatch(value):
            return self
        heads, tails = dict(self.heads), dict(self._tails)
        for form in {_folded(form) for form in _forms(value)}:
            if len(form) >= CUT_FROM and not form.startswith(_COMMON):
                head, tail = form if form.startswith(_ADDRESS) else form[:PIECE], form[-PIECE:]
                heads[head] = heads.get(head, frozenset()) | {form}
                tails[tail] = tails.get(tail, frozenset()) | {form}
            elif len(form) >= SHORTEST:
                heads[form] = heads.get(form, frozenset()) | {form}
        foreign = {value, *self._foreign} if not value.isascii() and len(value) >= SHORTEST else self._foreign
        return _Forms(heads, tails, sorted(foreign, key=len, reverse=True))

    def mask(self, text: str) -> str:
        """Return the text with each secret replaced, in time proportional to its length."""
        if not self.heads or len(text) < SHORTEST:
            return text
        return self.masked(text) if len(text) > REMEMBERED_SIZE else self.masked_before(text)

    def masked(self, text: str) -> str:
        for value in self._foreign:
            text = text.replace(value, MASK)
        spans = list(self._spans(_folded(text)))
        return _replaced(text, _merged(spans)) if spans else text

    def settled(self, text: str) -> tuple[str, str]:
        """Return the beginning, masked, which nothing that follows can change, and the rest as it is."""
        held = len(text) - max((_begun(value, text) for value in self._foreign), default=0)
        known = text[:held]
        for value in self._foreign:
            known = known.replace(value, MASK)
        folded = _folded(known)
        spans = _merged(self._spans(folded))
        cut = len(folded) - self._growing(folded)
        cut = next((start for start, end in spans if start < cut <= end), cut)
        place = _places(known)[cut] if cut < len(folded) else len(known)
        return _replaced(known[:place], [span for span in spans if span[1] <= cut]), known[place:] + text[held:]

    def _growing(self, folded: bytes) -> int:
        """Return the length of the end that is a part of some form: what follows could make it a secret."""
        joined, longest = self._joined
        most = min(len(folded), longest)
        return bisect_left(range(1, most + 1), 1, key=lambda size: folded[len(folded) - size :] not in joined)

    @cached_property
    def _joined(self) -> tuple[bytes, int]:
        """All forms, between line breaks, which no folded text has, and the length of the longest."""
        forms = sorted(frozenset().union(*self.heads.values()))
        return b"\n".join(forms), max(map(len, forms), default=0)

    def _masked_model(self, value: BaseModel) -> BaseModel:
        safe = masked(value, self.mask)
        if safe is not value:
            self.models.put(safe, safe)
        return safe

    def _spans(self, folded: bytes) -> Iterator[tuple[int, int]]:
        for head, forms in self.heads.items():
            end = 0
            while (start := folded.find(head, end)) >= 0:
                end = start + max(_same(form, folded[start : start + len(form)]) for form in forms)
                yield start, end
        for tail, forms in self._tails.items():
            end = 0
            while (start := folded.find(tail, end)) >= 0:
                end = start + len(tail)
                yield end - max(_same(form[::-1], folded[max(0, end - len(form)) : end][::-1]) for form in forms), end


class Secrets:
    """Masks a set of secret values that can grow, in any thread; texts are masked for additions too.

    A piece at the start or end of a long secret is masked as well, because texts get cut, not always after masking.
    """

    def __init__(self, values: Iterable[str] = ()) -> None:
        self._adding = Lock()
        self._forms = _Forms()
        self.count = 0
        """Number of values added. Texts masked at a lower count may contain later ones."""
        for value in values:
            self.add(value)

    def add(self, value: str) -> None:
        """Add a value to mask from now on, for all users of this object."""
        with self._adding:
            self._forms = self._forms.grown(value)
            self.count += 1

    def mask(self, text: str) -> str:
        """Return the text with each secret replaced, in time proportional to its length."""
        return self._forms.mask(text)

    def masked(self, value: T) -> T:
        """Return an event, message or value with each secret replaced.

        An immutable model is searched once while it exists and no secret is added: on its way a message crosses
        several borders, and each of them masks it.
        """
        if isinstance(value, BaseModel) and value.model_config.get("frozen"):
            return cast(T, self._forms.models(value))
        return masked(value, self.mask)

    def are_in(self, text: str) -> bool:
        return self.mask(text) != text

    def settled(self, text: str) -> tuple[str, str]:
        """Mask the beginning of a text of which more comes. Returns that, and the rest, which is masked with the more.

        What was returned joins to what `mask` makes of the whole text, however it came in pieces.
        """
        return self._forms.settled(text)

    def mask_unfinished(self, text: str) -> str:
        """Mask a text that is still being streamed: half of a short secret at its end is masked too."""
        forms = self._forms
        text = forms.mask(text)
        folded = _folded(text)
        begun = [head for head in forms.heads if folded.find(head[: len(head) // 2], 1 - len(head)) >= 0]
        starts = [start for head in begun if (start := _start_of(head, folded)) is not None]
        return _replaced(text, [(min(starts), len(folded))]) if starts else text


def _folded(text: str) -> bytes:
    """Normalise a text so that all spellings of a secret agree.

    Case, the two base64 alphabets, escapes, line breaks and non-ASCII characters make no difference.
    """
    return text.encode("ascii", "ignore").translate(_FOLD, _DROPPED)


def _same(form: bytes, text: bytes) -> int:
    """Return the length of the common beginning."""
    if text == form:
        return len(form)
    return next((place for place, (one, other) in enumerate(zip(form, text, strict=False)) if one != other), len(text))


def _merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Merge spans that overlap or touch."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _replaced(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Replace spans, given as positions in the folded text, with the mask."""
    places = _places(text)
    parts, last = [], 0
    for start, end in spans:
        parts += [text[last : places[start]], MASK]
        last = places[end - 1] + 1
    return "".join([*parts, text[last:]])


def _places(text: str) -> list[int]:
    """Return the place in the text of each character of its folded form."""
    return [place for place, char in enumerate(text) if char.isascii() and ord(char) not in _DROPPED]


def _begun(value: str, text: str) -> int:
    """Return how many characters of the value the text ends with, if some are lacking."""
    most = min(len(value) - 1, len(text))
    return next((count for count in range(most, 0, -1) if text.endswith(value[:count])), 0)


def _start_of(head: bytes, folded: bytes) -> int | None:
    """Return the start of an unfinished secret at the end of the text if at least half of it is there, else None."""
    half = head[: len(head) // 2]
    start = folded.find(half, max(0, len(folded) - len(head) + 1))
    while start >= 0:
        if head.startswith(folded[start:]):
            return start
        start = folded.find(half, start + 1)
    return None


def _forms(value: str) -> Iterator[str]:
    """Yield the value, and parts as good as the value, in every encoding."""
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
    yield "".join(f"\\u{unit:04x}" for unit in _utf16_units(value))
    yield "".join(f"&#{ord(char)};" for char in value)
    yield "".join(f"&#x{ord(char):x};" for char in value)
    for before in range(3):
        yield _base64(raw, before)


def _utf16_units(value: str) -> Iterator[int]:
    raw = value.encode("utf-16-be", "surrogatepass")
    return (raw[at] << 8 | raw[at + 1] for at in range(0, len(raw), 2))


def _base64(value: bytes, before: int) -> str:
    """Return the value's form within the base64 encoding of a longer text (Basic auth), at offset `before`."""
    encoded = base64.b64encode(bytes(before) + value).decode()
    # Characters that share bits with a neighbour differ from text to text, and are left out.
    return encoded[(0, 2, 3)[before] : (before + len(value)) * 8 // 6]


def is_open_to_others(file: Path) -> bool:
    """Return True if the group or others have any permission; False also if the file cannot be examined."""
    try:
        return bool(file.stat().st_mode & OTHERS)
    except OSError:
        return False
