"""HTML as a stream of tags and text, in one pass and in linear time, whatever it says.

Python's own parser takes a minute for 200 kB of `<a<a<a` (54 s on 3.11.7; later ones are better), and stops all threads
meanwhile; a tree of a page that nests a million tags is slower still, and walked by recursion. Here a tag or a comment
that does not end swallows the rest of the page, as it does in browsers, so that nothing is looked at twice.
"""

import html
import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

MOST_ATTRIBUTES = 64
"""Of one tag; those behind are not looked at."""

_MARKUP = re.compile("<(?=[a-zA-Z/!?])")
_TAG = re.compile(r"<(/?)([a-zA-Z][^\s/>]*)", re.A)
_TAG_PART = re.compile(r""">|=\s*["']""", re.A)
_ATTRIBUTE = re.compile(r"""([^\s"'>/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+)))?""", re.A)
_COMMENT_END = re.compile("--!?>")
_ENDS = {
    name: re.compile(rf"</{name}(?=[\s/>])", re.A | re.I)
    for name in ("script", "style", "title", "textarea", "xmp", "iframe", "noembed", "noframes")
}
"""Elements whose content is no markup."""
_TEXT_INSIDE = frozenset({"title", "textarea"})
"""Those of them whose content has entities."""


class StartTag(NamedTuple):
    name: str
    """In lower case."""
    rest: str
    """Its attributes as they are written, for `attributes_of`."""


class EndTag(NamedTuple):
    name: str


Token = StartTag | EndTag | str


def tokens(page: str) -> Iterator[Token]:
    """Tags and text in order, comments and declarations left out; entities in text are resolved."""
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
    """By their names in lower case; of two with one name the first counts."""
    found: dict[str, str] = {}
    for match in islice(_ATTRIBUTE.finditer(tag.rest), MOST_ATTRIBUTES):
        name, *values = match.groups()
        found.setdefault(name.lower(), unescape(next((value for value in values if value), "")))
    return found


def unescape(text: str) -> str:
    """The text with its entities resolved."""
    if "&" not in text:
        return text
    try:
        return html.unescape(text)
    except ValueError:  # the number of a character with thousands of digits
        return text


def _tag_end(page: str, place: int) -> int:
    """Behind the `>` that is not inside of quotes; the end of the page where there is none."""
    while found := _TAG_PART.search(page, place):
        place = found.end()
        if found.group() == ">":
            return place
        place = page.find(page[place - 1], place) + 1 or place
    return len(page)


def _declaration_end(page: str, start: int) -> int:
    """Where a comment is over, or what browsers take for one."""
    if not page.startswith("<!--", start):
        return page.find(">", start) + 1 or len(page)
    if page.startswith(("<!-->", "<!--->"), start):
        return page.index(">", start) + 1
    found = _COMMENT_END.search(page, start + 4)
    return found.end() if found else len(page)


def _raw_end(page: str, place: int, name: str) -> int:
    found = _ENDS[name].search(page, place)
    return found.start() if found else len(page)
