"""A tokenizer of HTML: one pass, linear time for any input.

Python's own parser takes a minute for 200 kB of `<a<a<a` (54 s on 3.11.7; later versions are better) and blocks all
threads meanwhile; building a tree of a million nested tags is slower still. Here an unclosed tag or comment swallows
the rest of the page, as in browsers, so that nothing is read twice.
"""

import html
import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

MOST_ATTRIBUTES = 64
"""Attributes of one tag; further ones are ignored."""

_MARKUP = re.compile("<(?=[a-zA-Z/!?])")
_TAG = re.compile(r"<(/?)([a-zA-Z][^\s/>]*)", re.A)
_TAG_PART = re.compile(r""">|=\s*["']""", re.A)
_ATTRIBUTE = re.compile(r"""([^\s"'>/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+)))?""", re.A)
_COMMENT_END = re.compile("--!?>")
_ENDS = {
    name: re.compile(rf"</{name}(?=[\s/>])", re.A | re.I)
    for name in ("script", "style", "title", "textarea", "xmp", "iframe", "noembed", "noframes")
}
"""Elements whose content is not markup."""
_TEXT_INSIDE = frozenset({"title", "textarea"})
"""Raw elements in whose content entities are resolved."""


class StartTag(NamedTuple):
    name: str
    """In lower case."""
    rest: str
    """The raw attributes, for `attributes_of`."""


class EndTag(NamedTuple):
    name: str


Token = StartTag | EndTag | str


def tokens(page: str) -> Iterator[Token]:
    """Yield tags and text in order, without comments and declarations; entities in text are resolved."""
    place = 0
    while found := _MARKUP.search(page, place):
        start = found.start()
        tag = _TAG.match(page, start)
        end = _tag_end(page, tag.end()) if tag else _declaration_end(page, start)
        if place < start:
            yield unescape(page[place:start])
        place = end
        if tag and page[end - 1] == ">":
            name = tag.group(2).lower()
            yield EndTag(name) if tag.group(1) else StartTag(name, page[tag.end() : end - 1])
            if not tag.group(1) and name in _ENDS:
                place = _raw_end(page, end, name)
                if name in _TEXT_INSIDE:
                    yield unescape(page[end:place])
    if place < len(page):
        yield unescape(page[place:])


def attributes_of(tag: StartTag) -> dict[str, str]:
    """Return attributes by name in lower case; the first of duplicates wins."""
    found: dict[str, str] = {}
    for match in islice(_ATTRIBUTE.finditer(tag.rest), MOST_ATTRIBUTES):
        name, *values = match.groups()
        found.setdefault(name.lower(), unescape(next((value for value in values if value), "")))
    return found


def unescape(text: str) -> str:
    """Resolve the entities in a text."""
    if "&" not in text:
        return text
    try:
        return html.unescape(text)
    except ValueError:  # a character reference with thousands of digits
        return text


def _tag_end(page: str, place: int) -> int:
    """Return the position after the `>` that is not in quotes; the end of the page if there is none."""
    while found := _TAG_PART.search(page, place):
        place = found.end()
        if found.group() == ">":
            return place
        place = page.find(page[place - 1], place) + 1 or place
    return len(page)


def _declaration_end(page: str, start: int) -> int:
    """Return the end of a comment, or of what browsers treat as one."""
    if not page.startswith("<!--", start):
        return page.find(">", start) + 1 or len(page)
    if page.startswith(("<!-->", "<!--->"), start):
        return page.index(">", start) + 1
    found = _COMMENT_END.search(page, start + 4)
    return found.end() if found else len(page)


def _raw_end(page: str, place: int, name: str) -> int:
    found = _ENDS[name].search(page, place)
    return found.start() if found else len(page)
