r"""Formulas in Markdown as MathML, which browsers draw without any font or script: $…$, $$…$$, \(…\) and \[…\].

The library's own serialisation does not escape text, so the elements are written here, and only harmless ones.
"""

import re
from functools import lru_cache
from html import escape, unescape
from xml.etree.ElementTree import Element

from latex2mathml.converter import convert_to_element
from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline

LONGEST = 2_000
"""Characters of a formula; a longer one is shown as it is written."""
_TAGS = re.compile(
    r"math|maction|menclose|merror|mfenced|mfrac|mi|mmultiscripts|mn|mo|mover|mpadded|mphantom|mprescripts|mroot|mrow|ms"
    r"|mspace|msqrt|mstyle|msub|msubsup|msup|mtable|mtd|mtext|mtr|munder|munderover|none|semantics"
)
_ATTRIBUTES = re.compile(
    r"accent|columnalign|columnlines|columnspacing|depth|display|displaystyle|fence|form|height|largeop|linethickness"
    r"|lspace|mathcolor|mathsize|mathvariant|maxsize|minsize|movablelimits|notation|rowlines|rowspacing|rspace"
    r"|scriptlevel|separator|stretchy|symmetric|voffset|width"
)
_VALUE = re.compile(r"[A-Za-z0-9.%#+ -]{1,64}", re.ASCII)
_INLINE = re.compile(r"\$(?![\s$])((?:\\.|[^$\\\n])+?)(?<!\s)\$(?!\d)|\\\((.+?)\\\)")
_BLOCK = {"$$": "$$", "\\[": "\\]"}


def with_formulas(markdown: MarkdownIt) -> None:
    """Let a parser know formulas, and draw them."""
    markdown.inline.ruler.before("escape", "formula", _inline)
    markdown.block.ruler.before(
        "paragraph", "formula_block", _block, {"alt": ["paragraph", "reference", "blockquote", "list"]}
    )
    markdown.add_render_rule("formula", lambda _, tokens, index, __, ___: formula(tokens[index].content))
    markdown.add_render_rule(
        "formula_block", lambda _, tokens, index, __, ___: f"<p>{formula(tokens[index].content, block=True)}</p>\n"
    )


@lru_cache(maxsize=512)
def formula(latex: str, *, block: bool = False) -> str:
    """Return a formula as MathML; as code if it is too long or cannot be read."""
    if len(latex) > LONGEST:
        return f"<code>{escape(latex)}</code>"
    try:
        return _written(convert_to_element(latex, display="block" if block else "inline"))
    except Exception:  # noqa: BLE001 (the library has many: a model's formula may be anything)
        return f"<code>{escape(latex)}</code>"


def _written(element: Element) -> str:
    """Return an element as MathML; those that are not allowed are left out, but not what is in them."""
    inner = escape(unescape(element.text or ""), quote=False)
    inner += "".join(_written(child) + escape(unescape(child.tail or ""), quote=False) for child in element)
    if not _TAGS.fullmatch(element.tag):
        return inner
    allowed = ((name, value) for name, value in element.attrib.items() if _ATTRIBUTES.fullmatch(name))
    attributes = "".join(f' {name}="{value}"' for name, value in allowed if _VALUE.fullmatch(value))
    return f"<{element.tag}{attributes}>{inner}</{element.tag}>"


def _inline(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 (the parser calls it so)
    if state.src[state.pos] not in "$\\":
        return False
    found = _INLINE.match(state.src, state.pos, min(state.posMax, state.pos + LONGEST))
    if found is None:
        return False
    if not silent:
        state.push("formula", "math", 0).content = found[1] or found[2]
    state.pos = found.end()
    return True


def _block(state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: FBT001 (the parser calls it so)
    first = state.src[state.bMarks[start] + state.tShift[start] : state.eMarks[start]].strip()
    closing = _BLOCK.get(first[:2])
    if closing is None or state.is_code_block(start):
        return False
    lines, line = [first[2:]], start
    while not lines[-1].endswith(closing):
        line += 1
        if line >= end or state.isEmpty(line):
            return False
        lines.append(state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]].strip())
    content = "\n".join(lines)[: -len(closing)].strip()
    if not content:
        return False
    if not silent:
        token = state.push("formula_block", "math", 0)
        token.content, token.block, token.map = content, True, [start, line + 1]
        state.line = line + 1
    return True
