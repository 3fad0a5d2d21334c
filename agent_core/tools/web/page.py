"""Conversion of HTML pages to Markdown: the visible text and its links."""

import re
from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import urljoin

from agent_core.late_pattern import LatePattern
from agent_core.tools.web.fetch import Page
from agent_core.tools.web.invisible_characters import visible
from agent_core.tools.web.markdown import MarkdownWriter, joined
from agent_core.tools.web.markup import EndTag, StartTag, attributes_of, tokens

MOST_TAGS = 60_000
"""Tags and texts, less than a second of work; a long article has 20,000."""
MOST_DEPTH = 512
"""As in browsers: deeper elements become siblings instead of children."""
LOOK_BACK = 16
"""Open elements that are searched for the one that a tag closes."""
LEAST_MAIN = 200
"""Characters of marked main content from which on only that is used."""
TITLE_CHARS = 200
URL_CHARS = 500

_MARKS = {"code": "`", "del": "~~", "s": "~~"}
_OPENS = {
    "ul": MarkdownWriter.open_list,
    "menu": MarkdownWriter.open_list,
    "li": MarkdownWriter.open_item,
    "blockquote": MarkdownWriter.open_quote,
    "pre": MarkdownWriter.open_code,
    "table": MarkdownWriter.open_table,
    "tr": MarkdownWriter.open_row,
}
_CLOSES = {
    "a": MarkdownWriter.close_link,
    "ul": MarkdownWriter.close_list,
    "ol": MarkdownWriter.close_list,
    "menu": MarkdownWriter.close_list,
    "li": MarkdownWriter.close_item,
    "blockquote": MarkdownWriter.close_quote,
    "pre": MarkdownWriter.close_code,
    "table": MarkdownWriter.close_table,
    "tr": MarkdownWriter.close_row,
    "td": MarkdownWriter.close_cell,
    "th": MarkdownWriter.close_cell,
}
_NUMBER = re.compile(r"[0-9]{1,6}")


def _named(names: str) -> frozenset[str]:
    return frozenset(names.split())


VOID = _named("area base br col embed hr img input link meta param source track wbr")
"""Elements without content and end tag."""
BLOCKS = _named(
    "address article aside body center dd details dialog dir div dl dt fieldset figcaption figure form header hgroup "
    "legend main optgroup option p search section summary tbody tfoot thead caption"
)
"""Elements separated from their surroundings."""
FURNITURE = _named(
    "script style noscript template nav footer svg canvas iframe object embed audio video select datalist "
    "button textarea xmp noembed noframes frameset annotation annotation-xml rp"
)
"""Elements whose content is not part of the text."""
HEADINGS = {f"h{level}": level for level in range(1, 7)}
SPECIAL = BLOCKS | HEADINGS.keys() | _named("ul ol menu li blockquote pre table tr td th html nav footer")
"""Elements not closed by the end tag of an inline element."""

_CELLS = _named("td th")
_PARTS = _named("thead tbody tfoot")
_TABLE = _named("table")


class Implied(NamedTuple):
    """Rule for omitted end tags: the elements that a start tag closes, and those where the search for them stops."""

    ends: frozenset[str]
    within: frozenset[str]


IMPLIED = (
    {"li": Implied(_named("li"), _named("ul ol menu")), "a": Implied(_named("a"), SPECIAL)}
    | dict.fromkeys(("dt", "dd"), Implied(_named("dt dd"), _named("dl")))
    | dict.fromkeys(_CELLS, Implied(_CELLS, _TABLE | {"tr"}))
    | {"tr": Implied(_CELLS | {"tr"}, _TABLE)}
    | dict.fromkeys(_PARTS, Implied(_CELLS | _PARTS | {"tr"}, _TABLE))
)
PARAGRAPH = Implied(_named("p"), _CELLS | _TABLE | _named("li div section article blockquote dd"))
ENDS_PARAGRAPH = SPECIAL - _CELLS - _PARTS - _named("tr caption option optgroup legend")
"""Elements that close a paragraph without an end tag."""


_WHOLE = frozenset({"html", "body"})
"""Some pages hide these until their scripts are ready."""
_ROLES = frozenset({"navigation", "contentinfo", "search", "menu", "menubar", "toolbar"})
_NOTHING = r"(?:0+(?:\.0*)?|\.0+)(?:px|r?em|ex|ch|pt|%|vh|vw)?(?:!important)?(?:;|$)"
_UNSEEN = LatePattern(
    r"display:none|visibility:(?:hidden|collapse)|content-visibility:hidden"
    rf"|(?:^|;)(?:(?:max-)?(?:width|height)|font-size|opacity|zoom):{_NOTHING}"
    r"|(?:^|;)(?:left|top|right|bottom):-\d{4}|(?:^|;)text-indent:-\d{3}"
    r"|(?:^|;)clip(?:-path)?:(?:rect\(0|inset\((?:50|100)%)"
    r"|(?:^|;)color:transparent|scale(?:3d|x|y)?\(0[,)]"
)
_NO_SIGN = re.compile(r"/\*.*?(?:\*/|\Z)|\s+", re.S)
_STYLE_CHARS = 4000


def is_hidden(name: str, attributes: Mapping[str, str]) -> bool:
    """Return True for elements marked as hidden or as a menu; style sheets are ignored."""
    if name in _WHOLE:
        return False
    if "hidden" in attributes or attributes.get("role", "").strip().lower() in _ROLES:
        return True
    # Formulas are often images hidden from screen readers, with the formula as alternative text.
    if name != "img" and attributes.get("aria-hidden", "").strip().lower() == "true":
        return True
    if name == "dialog" and "open" not in attributes:
        return True
    style = attributes.get("style")
    return style is not None and bool(_UNSEEN.search(_NO_SIGN.sub("", style[:_STYLE_CHARS]).lower()))


def read_page(html: str, url: str, *, xml: bool = False) -> Page:
    """Convert a page from `url`; with `xml`, an element such as `<div/>` is empty. Never takes seconds."""
    return _Reading(url, xml=xml).page(html)


class _Open(NamedTuple):
    name: str
    unread: bool
    main: bool


class _Reading:
    """A single pass over the tags, with a stack of open elements."""

    def __init__(self, url: str, *, xml: bool) -> None:
        self._base = url
        self._xml = xml
        self._writer = MarkdownWriter(self._address)
        self._stack: list[_Open] = []
        self._counts: Counter[str] = Counter()
        self._title = ""

    def page(self, html: str) -> Page:
        whole = True
        for number, token in enumerate(tokens(html)):
            if number > MOST_TAGS or self._writer.full:
                whole = False
                break
            self._take(token)
        while self._stack:
            self._pop()
        self._writer.flush()
        blocks = self._writer.blocks
        main = [block for block in blocks if block.main]
        if sum(len(block.text) for block in main) >= LEAST_MAIN:
            blocks = main
        return Page(" ".join(visible(self._title).split())[:TITLE_CHARS], joined(blocks).strip(), whole)

    def _take(self, token: StartTag | EndTag | str) -> None:
        match token:
            case StartTag(name=name):
                self._start(token, name)
            case EndTag(name=name):
                self._end(name)
            case str() if self._unread:
                pass
            case str() if self._stack and self._stack[-1].name == "title":
                self._title = self._title or token.strip()
            case str():
                self._writer.text(token)

    @property
    def _unread(self) -> bool:
        return bool(self._stack) and self._stack[-1].unread

    def _start(self, tag: StartTag, name: str) -> None:
        if name in VOID:
            if not self._unread:
                self._void(tag)
            return
        if name in ENDS_PARAGRAPH:
            self._end_implied(PARAGRAPH)
        if implied := IMPLIED.get(name):
            self._end_implied(implied)
        unread = self._unread
        if len(self._stack) >= MOST_DEPTH:
            self._pop()
        attributes = attributes_of(tag) if tag.rest and not unread else {}
        unread = unread or name in FURNITURE or is_hidden(name, attributes)
        main = name == "main" or attributes.get("role") == "main"
        self._stack.append(_Open(name, unread, main))
        self._counts[name] += 1
        if not unread:
            self._open(name, attributes, main=main)
        if self._xml and tag.rest.endswith("/"):
            self._pop()

    def _end(self, name: str) -> None:
        if not self._counts[name]:
            if name in ("br", "p") and not self._unread:
                self._writer.line_break()
            return
        if name in SPECIAL:
            while self._pop() != name:
                pass
            return
        # The end of an inline element does not close a paragraph or hidden part that began inside it.
        for back, element in enumerate(reversed(self._stack[-LOOK_BACK:]), 1):
            if element.name == name:
                for _ in range(back):
                    self._pop()
                return
            if element.name in SPECIAL:
                return

    def _end_implied(self, rule: Implied) -> None:
        if not any(self._counts[name] for name in rule.ends):
            return
        ended = 0
        for back, element in enumerate(reversed(self._stack[-LOOK_BACK:]), 1):
            if element.name in rule.ends:
                ended = back
            elif element.name in rule.within:
                break
        for _ in range(ended):
            self._pop()

    def _pop(self) -> str:
        element = self._stack.pop()
        self._counts[element.name] -= 1
        if not element.unread:
            self._close(element)
        return element.name

    def _open(self, name: str, attributes: dict[str, str], *, main: bool) -> None:
        writer = self._writer
        if name in BLOCKS or name in HEADINGS:
            writer.heading(HEADINGS.get(name, 0))
        elif name in _OPENS:
            _OPENS[name](writer)
        elif name == "ol":
            start = _NUMBER.fullmatch(attributes.get("start", ""))
            writer.open_list(int(start.group()) if start else 1)
        elif name == "a":
            writer.open_link(attributes.get("href", ""))
        elif name in _MARKS or name == "sup":
            writer.mark(_MARKS.get(name, "^"))
        # after the text before the main content has been flushed
        writer.in_main += main

    def _close(self, element: _Open) -> None:
        name = element.name
        if name in BLOCKS or name in HEADINGS:
            self._writer.heading(0)
        elif name in _CLOSES:
            _CLOSES[name](self._writer)
        elif name in _MARKS:
            self._writer.mark(_MARKS[name])
        self._writer.in_main -= element.main

    def _void(self, tag: StartTag) -> None:
        match tag.name:
            case "br":
                self._writer.line_break()
            case "hr":
                self._writer.rule()
            case "img":
                attributes = attributes_of(tag)
                if not is_hidden("img", attributes):
                    self._writer.picture(attributes.get("alt", ""))
            case "base":
                self._base = self._address(attributes_of(tag).get("href", "")) or self._base

    def _address(self, link: str) -> str:
        """Return the absolute address; empty for a place in the same page and for other schemes than web and mail.

        Long ones are dropped: joining takes time proportional to both parts, and a page may have thousands of links.
        """
        link = link.strip()
        if not link or link.startswith("#") or len(link) > URL_CHARS:
            return ""
        try:
            address = urljoin(self._base, link)
        except ValueError:
            return ""
        whole = address.startswith(("http://", "https://", "mailto:")) and len(address) <= URL_CHARS
        return address if whole else ""
