"""Answers as rich messages, in which tables are tables: HTML of the tags that Telegram knows. Pure.

HTML instead of Telegram's own Markdown, in which signs such as `$` have a meaning of their own.
"""

import re

from channels.markdown import reader
from channels.telegram.render import has_formula

MOST_COLUMNS = 20
MOST_BLOCKS = 500
_TABLE = re.compile(r"^[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)+\|?[ \t]*$", re.MULTILINE)
"""The line below the head of a table of two columns or more."""
_BLOCK = re.compile(r"<(?:p|h[1-6]|pre|li|tr|blockquote|hr|table|ul|ol)\b")
_ALIGN = re.compile(r' style="text-align:(left|center|right)"')
_IMAGE = re.compile(r'<img src="([^"]*)" alt="([^"]*)"(?: title="[^"]*")? />')
_TASK = re.compile(r"<li>(\s*(?:<p>)?)\[([ xX])\] ")
_INSTEAD = (
    *((f"<{tag}>", "") for tag in ("thead", "/thead", "tbody", "/tbody")),
    ("<table>", "<table bordered>"),
    ("strong>", "b>"),
    ("em>", "i>"),
    ("<br />", "<br/>"),
    ("<hr />", "<hr/>"),
)


def rich_html(markdown: str) -> str | None:
    """Return the HTML of a text with a table that Telegram can show; None for all other texts."""
    if not _TABLE.search(markdown) or has_formula(markdown):
        return None
    html = reader().render(markdown)
    rows = [row.count("<td") + row.count("<th ") + row.count("<th>") for row in html.split("<tr>")[1:]]
    if not rows or max(rows) > MOST_COLUMNS or len(_BLOCK.findall(html)) > MOST_BLOCKS:
        return None
    for before, after in _INSTEAD:
        html = html.replace(before, after)
    html = _IMAGE.sub(lambda found: f'<a href="{found[1]}">{found[2] or found[1]}</a>', html)  # it would load them
    html = _TASK.sub(lambda found: f"<li>{found[1]}{'☐' if found[2] == ' ' else '☑'} ", html)
    return _ALIGN.sub(r' align="\1"', html).strip()
