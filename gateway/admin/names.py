"""Names that people gave, as the admin pages show them: however long they are and whichever way they read."""

import re
import unicodedata

from markupsafe import Markup, escape

LONGEST = 24
"""Columns of the longest name that is never shortened."""
_OPEN, _CLOSE = "\u2068", "\u2069"
"""The first strong isolate and its end: what is between them does not change the direction of what is around it."""
_ISOLATES = re.compile("[\u2066-\u2069]")
_TURNS = frozenset({"R", "AL", "RLE", "RLO", "LRE", "LRO", "PDF"})
"""Bidirectional classes of characters that turn the direction."""
_NAME = re.compile(f"{_OPEN}([^{_CLOSE}]*){_CLOSE}")


def isolated(name: str) -> str:
    """Return a name as a part of a text. One that is long or turns the direction stands in isolates."""
    if name.isascii():
        return name if len(name) <= LONGEST else f"{_OPEN}{name}{_CLOSE}"
    own = _ISOLATES.sub("", name)
    is_plain = own == name and 2 * len(name) <= LONGEST and _TURNS.isdisjoint(map(unicodedata.bidirectional, name))
    return name if is_plain else f"{_OPEN}{own}{_CLOSE}"


def with_names(text: str) -> Markup:
    """Return a text as HTML. Its isolated names each take one line, and are shown whole where the pointer rests."""
    parts = _NAME.split(str(text))
    shown = (_element(part) if number % 2 else escape(part) for number, part in enumerate(parts))
    return Markup("").join(shown)


def name_element(name: str) -> Markup:
    """Return a name as HTML."""
    return with_names(isolated(name))


def _element(name: str) -> Markup:
    return Markup('<bdi class="name" title="{0}">{0}</bdi>').format(name)
