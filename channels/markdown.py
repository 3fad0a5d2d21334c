"""The Markdown parser of the channels that Parley renders itself. Pure.

It alone decides which parts of a model's text are markup: raw HTML stays text, and links lead only to http, https and
mailto.
"""

import re
from collections.abc import Iterator, Sequence

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

ALLOWED_LINK = re.compile(r"(https?://|mailto:)", re.IGNORECASE)
BARE_ADDRESS = re.compile(r"https?://[^\s<>\"'`]+[^\s<>\"'`.,;:!?*_~]")

DEEPEST = 30
"""Quotations and lists within each other, of which a list counts twice. The parser drops the words of deeper ones, and
the time for a line grows with the depth."""

_WITH_WORDS = frozenset({"text", "code_inline", "fence", "code_block", "math_inline", "math_block"})


def reader() -> MarkdownIt:
    """Create a parser for CommonMark with tables and strikethrough, where a line break counts."""
    options = {"html": False, "breaks": True, "maxNesting": DEEPEST}
    markdown = MarkdownIt("commonmark", options).enable(["table", "strikethrough"])
    markdown.validateLink = _allowed  # type: ignore[method-assign]  # the documented way to change it
    markdown.core.ruler.push("bare_addresses", _link_bare_addresses)
    return markdown


def _allowed(url: str) -> bool:
    return ALLOWED_LINK.match(url.strip()) is not None


def _link_bare_addresses(state: StateCore) -> None:
    for block in state.tokens:
        if block.children:
            block.children = list(_linked(block.children))


def _linked(tokens: Sequence[Token]) -> Iterator[Token]:
    inside_link = 0
    for token in tokens:
        inside_link += (token.type == "link_open") - (token.type == "link_close")
        if token.type == "text" and not inside_link and "://" in token.content:
            yield from _cut_at_addresses(token)
        else:
            yield token


def _cut_at_addresses(text: Token) -> Iterator[Token]:
    end = 0
    for match in BARE_ADDRESS.finditer(text.content):
        address = _without_closing(match[0])
        yield _text(text.content[end : match.start()], text.level)
        yield Token("link_open", "a", 1, attrs={"href": address}, level=text.level)
        yield _text(address, text.level + 1)
        yield Token("link_close", "a", -1, level=text.level)
        end = match.start() + len(address)
    yield _text(text.content[end:], text.level)


def _without_closing(address: str) -> str:
    """Strip closing brackets at the end that have no opening bracket in the address."""
    unopened = address.count(")") - address.count("(")
    at_end = len(address) - len(address.rstrip(")"))
    return address[: len(address) - max(0, min(unopened, at_end))]


def _text(content: str, level: int) -> Token:
    return Token("text", "", 0, content=content, level=level)


def words_of(markdown: str) -> str:
    """Return the words of a text without marks, in one line, such as for a notification."""
    return " ".join("".join(_words(reader().parse(markdown))).split())


def _words(tokens: Sequence[Token]) -> Iterator[str]:
    for token in tokens:
        if token.children:
            yield from _words(token.children)
        elif token.type in _WITH_WORDS:
            yield token.content
        elif token.block or token.type.endswith("break"):
            yield " "
