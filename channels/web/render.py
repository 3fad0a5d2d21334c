"""Rendering of Markdown to HTML for the page; pure. Nothing remote is loaded: an image becomes a link."""

import re
from collections.abc import MutableMapping, Sequence
from html import escape
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from markdown_it.utils import OptionsDict

from channels.markdown import reader
from channels.web.code import coloured
from channels.web.formulas import with_formulas

LINK = {"rel": "noopener noreferrer nofollow", "target": "_blank"}
TASK = re.compile(r"\[[ xX]\] ")
ALIGNED = re.compile(r"text-align:(left|center|right)")
Env = MutableMapping[str, Any]


def render(markdown: str) -> str:
    html: str = _markdown.render(markdown)
    return html


def plain(text: str) -> str:
    """Render a text that the user typed, without Markdown."""
    return f'<p class="typed">{escape(text)}</p>' if text else ""


def _link_open(renderer: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, _: Env) -> str:
    for name, value in LINK.items():
        tokens[index].attrSet(name, value)
    return renderer.renderToken(tokens, index, options, {})


def _image(_: RendererHTML, tokens: Sequence[Token], index: int, __: OptionsDict, ___: Env) -> str:
    address = escape(str(tokens[index].attrGet("src")))
    attributes = " ".join(f'{name}="{value}"' for name, value in LINK.items())
    return f'<a class="image" href="{address}" {attributes}>{escape(tokens[index].content) or address}</a>'


def _table_open(*_: object) -> str:
    """Wrap a table so that a wide one scrolls by itself, also with the keyboard."""
    return '<div class="wide" tabindex="0"><table>\n'


def _cell_open(renderer: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, _: Env) -> str:
    """Set the alignment as a class, because the page's content security policy forbids inline styles."""
    style = str(tokens[index].attrs.pop("style", ""))
    if side := ALIGNED.fullmatch(style):
        tokens[index].attrSet("class", f"to-{side[1]}")
    return renderer.renderToken(tokens, index, options, {})


def _table_close(*_: object) -> str:
    return "</table></div>\n"


def _fence(_: RendererHTML, tokens: Sequence[Token], index: int, __: OptionsDict, ___: Env) -> str:
    token = tokens[index]
    language = token.info.split()[0] if token.info.split() else ""
    name = f' class="language-{escape(language)}"' if language else ""
    return f"<pre><code{name}>{coloured(token.content, language)}</code></pre>\n"


def _check_tasks(state: StateCore) -> None:
    """Turn `[ ]` and `[x]` at the start of an item into boxes."""
    for item, _, block in zip(state.tokens, state.tokens[1:], state.tokens[2:], strict=False):
        first = block.children[0] if item.type == "list_item_open" and block.children else None
        if first is not None and block.children and first.type == "text" and TASK.match(first.content):
            done, first.content = first.content[1] in "xX", first.content[4:]
            block.children.insert(0, Token("task_open", "input", 0, content=" checked" if done else ""))
            block.children.append(Token("task_close", "label", 0))


def _task_open(_: RendererHTML, tokens: Sequence[Token], index: int, __: OptionsDict, ___: Env) -> str:
    """Begin a label around the box and its item, by which screen readers name the box."""
    return f'<label><input type="checkbox" disabled{tokens[index].content}> '


def _task_close(*_: object) -> str:
    return "</label>"


def _make() -> MarkdownIt:
    markdown = reader()
    with_formulas(markdown)
    markdown.core.ruler.push("tasks", _check_tasks)
    markdown.add_render_rule("task_open", _task_open)
    markdown.add_render_rule("task_close", _task_close)
    markdown.add_render_rule("fence", _fence)
    markdown.add_render_rule("link_open", _link_open)
    markdown.add_render_rule("image", _image)
    markdown.add_render_rule("table_open", _table_open)
    markdown.add_render_rule("table_close", _table_close)
    markdown.add_render_rule("th_open", _cell_open)
    markdown.add_render_rule("td_open", _cell_open)
    return markdown


_markdown = _make()
