"""Rendering of GitHub-flavoured Markdown for Discord, which lacks tables, images, small headings and rules. Pure."""

import re
from collections.abc import Sequence
from functools import lru_cache

from pydantic import JsonValue

from channels.attachments import Attachment
from channels.base import Button, OutboundMessage
from channels.buttons import Choice, Entry
from channels.fences import code_spans, prose_and_code
from channels.joined_files import joined_files
from channels.links import in_ascii
from channels.tables import BREAK, IMAGE, LINK, table, table_rows
from channels.text import split_markdown, split_message, utf16_len, visible

MAX_TEXT = 2_000
"""Discord counts characters; UTF-16 units are never fewer."""
MAX_LABEL = 80
MAX_FILES = 10
MAX_BYTES = 10 * 1024 * 1024
"""Bytes of all files of one message together: the least limit of a server."""
MAX_ENTRY, MAX_PROMPT = 100, 150
FORM = "form:"
"""Begins the custom id of a button that opens a form."""
MENU = "menu"
"""Custom id of menus. What is chosen is the value of the entry."""
MAX_ROWS = MAX_IN_ROW = 5
SMALLEST_HEADING = 3

_NOTHING = "…"
_STYLES = {"plain": 2, "primary": 3, "quiet": 2, "danger": 4, "rating": 2}
"""Discord's button styles: primary is green, danger red, the others are grey."""
_RULE = "⎯" * 12
_HEADING = re.compile(r"[ ]{0,3}(#{1,6})[ \t]+(.*)")
_HRULE = re.compile(r"[ ]{0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})")
_QUOTE = re.compile(r"[ ]{0,3}>(?:[ \t]?>)*[ \t]?")
_TASK = re.compile(r"([ \t]*(?:[-*+]|\d+[.)])[ \t]+)\[([ xX])\][ \t]+")
_PLUS = re.compile(r"([ \t]*)\+([ \t]+)")
_UNDERLINE = re.compile(r"(?<!\w)__(?=[^\s_])([^_\n]+)(?<=[^\s_])__(?!\w)")
_COMMENT = re.compile(r"<!--(?:(?!<!--).)*?-->", re.DOTALL)
_WEB = ("http://", "https://")


@lru_cache(maxsize=64)
def render(markdown: str) -> str:
    """Render a text; never empty."""
    parts = [
        _code(markdown_part) if is_code else _prose(markdown_part)
        for is_code, markdown_part in prose_and_code(markdown)
    ]
    text = "\n".join(part for part in parts if part is not None).strip("\n")
    return text if visible(text) else markdown if visible(markdown) else _NOTHING


def _code(block: str) -> str:
    """Render a code block. Discord supports only fences of three backticks, so backticks inside are broken up."""
    opener, _, rest = block.partition("\n")
    code, _, closer = rest.rpartition("\n")
    language = opener.lstrip(" \t>-*+.)0123456789`~").split(maxsplit=1)
    if "~~~" in closer or "```" in code:
        code = code.replace("```", "`\u200b`\u200b`")
    if ">" in closer:
        code = "\n".join(re.sub(r"^[ \t]*>[ \t]?", "", line) for line in code.split("\n"))
    name = language[0] if language and re.fullmatch(r"[\w+#.-]+", language[0]) else ""
    return f"```{name}\n{code}\n```"


def _prose(text: str) -> str:
    lines = _COMMENT.sub("", text).split("\n")
    shown: list[str] = []
    at = 0
    while at < len(lines):
        rows = table_rows(lines, at)
        if rows:
            shown.append(table(lines[at : at + rows]))
            at += rows
            continue
        underline = lines[at + 1].strip() if at + 1 < len(lines) else ""
        if lines[at].strip() and underline and set(underline) <= {"="}:
            shown.append(_line(f"# {lines[at].strip()}"))
            at += 2
            continue
        shown.append(_line(lines[at]))
        at += 1
    return "\n".join(shown)


def _line(line: str) -> str:
    # GitHub uses trailing spaces or a backslash for a line break; Discord breaks at every line end.
    line = line.removesuffix("\\").rstrip(" \t")
    if _HRULE.fullmatch(line):
        return _RULE
    heading = _HEADING.fullmatch(line)
    if heading:
        words = _spans(_without_closing_marks(heading[2]))
        return f"{heading[1]} {words}" if len(heading[1]) <= SMALLEST_HEADING else f"**{words.replace('**', '')}**"
    quote = _QUOTE.match(line)
    prefix, rest = ("> ", line[quote.end() :]) if quote else ("", line)
    rest = _PLUS.sub(r"\1-\2", rest) if _PLUS.match(rest) else rest
    task = _TASK.match(rest)
    if task:
        rest = f"{task[1]}{'⬜' if task[2] == ' ' else '✅'} {rest[task.end() :]}"
    return prefix + _spans(rest)


def _without_closing_marks(heading: str) -> str:
    words = heading.rstrip(" \t")
    open_end = words.rstrip("#")
    return open_end.rstrip(" \t") if open_end[-1:] in {"", " ", "\t"} else words


def _spans(line: str) -> str:
    """Render inline Markdown, leaving code unchanged."""
    shown, at = [], 0
    for start, end in code_spans(line):
        shown += [_words(line[at:start]), line[start:end]]
        at = end
    return "".join([*shown, _words(line[at:])])


def _words(text: str) -> str:
    text = BREAK.sub("\n", text)
    text = IMAGE.sub(lambda found: _link(found[1], found[2]), text)
    text = LINK.sub(lambda found: _link(found[1], found[2]), text)
    return re.sub(r"(?<!\\)\|\|", r"\\|\\|", _UNDERLINE.sub(r"**\1**", text))


def _link(words: str, address: str) -> str:
    """Render a link. Discord shows text links only to web addresses and only if the text is not an address itself."""
    if not address.startswith(_WEB):
        return f"{words} ({address})" if words else address
    if not words or words.startswith(_WEB):
        return in_ascii(address)
    return f"[{words}]({address})"


def split(message: OutboundMessage) -> tuple[OutboundMessage, ...]:
    """Split a message into texts of at most 2,000 characters and files; see `split_message`.

    Every part of a command's answer keeps its response address, so that others do not see it.
    """
    parts = split_message(message, _texts, lambda text: bool(text.strip()) and _fits(text))
    parts = joined_files(parts, _fit_together)
    if message.respond is None:
        return parts
    return tuple(
        part.model_copy(update={"respond": f"{message.respond}/{number}" if number else message.respond})
        for number, part in enumerate(parts)
    )


def _fit_together(files: Sequence[Attachment]) -> bool:
    """Return True for files that every server takes with one message; a voice message has one."""
    size = sum(MAX_BYTES if file.size is None else file.size for file in files)
    return len(files) <= MAX_FILES and size <= MAX_BYTES and not any(file.is_voice for file in files)


def _texts(markdown: str) -> tuple[str, ...]:
    return split_markdown(_with_tables(markdown), _fits, size=MAX_TEXT)


def _with_tables(markdown: str) -> str:
    """Render tables before splitting, so that the parts of a table keep its columns."""
    if "|" not in markdown:
        return markdown
    return "\n".join(part if is_code else _tables(part) for is_code, part in prose_and_code(markdown))


def _tables(text: str) -> str:
    lines, shown, at = text.split("\n"), [], 0
    while at < len(lines):
        rows = table_rows(lines, at)
        shown.append(table(lines[at : at + rows]) if rows else lines[at])
        at += rows or 1
    return "\n".join(shown)


def _fits(markdown: str) -> bool:
    return utf16_len(render(markdown)) <= MAX_TEXT


def rows_of(message: OutboundMessage) -> list[JsonValue]:
    """Build the rows below a message: its menu, the button of its form, and its buttons in the rows that are left."""
    menu = [_menu(message.choice)] if message.choice is not None else []
    form = [_opener(message.form)] if message.form is not None else []
    return [*menu, *buttons_of(message.buttons, MAX_ROWS - len(menu) - len(form)), *form]


def buttons_of(rows: Sequence[Sequence[Button]], most: int = MAX_ROWS) -> list[JsonValue]:
    """Build rows of buttons, at most five of five."""
    lines = [list(row[at : at + MAX_IN_ROW]) for row in rows for at in range(0, len(row), MAX_IN_ROW)]
    if len(lines) > most:
        buttons = [button for row in rows for button in row]
        lines = [buttons[at : at + MAX_IN_ROW] for at in range(0, min(len(buttons), most * MAX_IN_ROW), MAX_IN_ROW)]
    return [{"type": 1, "components": [_button(button) for button in line]} for line in lines]


def _menu(choice: Choice) -> JsonValue:
    """Build a menu. Discord refuses one with the same value twice."""
    entries = {entry.action: entry for entry in choice.entries}
    options: list[JsonValue] = [_option(entry) for entry in entries.values()]
    menu: JsonValue = {"type": 3, "custom_id": MENU, "options": options, "placeholder": choice.prompt[:MAX_PROMPT]}
    return {"type": 1, "components": [menu]}


def _opener(entry: Entry) -> JsonValue:
    label = entry.label[:MAX_LABEL]
    return {"type": 1, "components": [{"type": 2, "style": 2, "label": label, "custom_id": f"{FORM}{entry.action}"}]}


def _option(entry: Entry) -> JsonValue:
    label = entry.label[:MAX_ENTRY] if visible(entry.label) else _NOTHING
    about = {"description": entry.about[:MAX_ENTRY]} if visible(entry.about) else {}
    return {"label": label, "value": entry.action, **about}


def _button(button: Button) -> JsonValue:
    label = button.label[:MAX_LABEL] if visible(button.label) else _NOTHING
    return {"type": 2, "style": _STYLES[button.style], "label": label, "custom_id": button.action}
