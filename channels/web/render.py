"""Markdown to the HTML that the page shows; pure, and the one place that decides what of a model's text is markup.

Raw HTML stays text, links lead only to http, https and mailto, and nothing remote is ever loaded: an image is a link.
"""

import re
from collections.abc import Iterator, MutableMapping, Sequence
from html import escape
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from markdown_it.utils import OptionsDict

LINK = {"rel": "noopener noreferrer nofollow", "target": "_blank"}
ALLOWED_LINK = re.compile(r"(https?://|mailto:)", re.IGNORECASE)
BARE_ADDRESS = re.compile(r"https?://[^\s<>\"'`]+[^\s<>\"'`.,;:!?*_~]")
Env = MutableMapping[str, Any]


def render(markdown: str) -> str:
    html: str = _markdown.render(markdown)
    return html


def plain(text: str) -> str:
    """What a person typed, as typed."""
    return f'<p class="typed">{escape(text)}</p>' if text else ""


def _allowed(url: str) -> bool:
    return ALLOWED_LINK.match(url.strip()) is not None


def _link_open(renderer: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, _: Env) -> str:
    for name, value in LINK.items():
        tokens[index].attrSet(name, value)
    return renderer.renderToken(tokens, index, options, {})


def _image(_: RendererHTML, tokens: Sequence[Token], index: int, __: OptionsDict, ___: Env) -> str:
    address = escape(str(tokens[index].attrGet("src")))
    attributes = " ".join(f'{name}="{value}"' for name, value in LINK.items())
    return f'<a class="image" href="{address}" {attributes}>{escape(tokens[index].content) or address}</a>'


def _table_open(*_: object) -> str:
    """A wide table scrolls by itself, also by keyboard."""
    return '<div class="wide" tabindex="0"><table>\n'


def _table_close(*_: object) -> str:
    return "</table></div>\n"


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
        address = match[0]
        while address.endswith(")") and address.count(")") > address.count("("):
            address = address[:-1]
        yield _text(text.content[end : match.start()], text.level)
        yield Token("link_open", "a", 1, attrs={"href": address}, level=text.level)
        yield _text(address, text.level + 1)
        yield Token("link_close", "a", -1, level=text.level)
        end = match.start() + len(address)
    yield _text(text.content[end:], text.level)


def _text(content: str, level: int) -> Token:
    return Token("text", "", 0, content=content, level=level)


def _make() -> MarkdownIt:
    markdown = MarkdownIt("commonmark", {"html": False, "breaks": True}).enable(["table", "strikethrough"])
    markdown.validateLink = _allowed  # type: ignore[method-assign]  # the documented way to change it
    markdown.add_render_rule("link_open", _link_open)
    markdown.add_render_rule("image", _image)
    markdown.add_render_rule("table_open", _table_open)
    markdown.add_render_rule("table_close", _table_close)
    markdown.core.ruler.push("bare_addresses", _link_bare_addresses)
    return markdown


_markdown = _make()
