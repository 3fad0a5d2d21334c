"""Slack's encoding of typed text, and the readable form of its markup."""

import html
import re
from collections.abc import Callable, Iterable, Sequence

from pydantic import JsonValue

from parley.testing.emulators.slack_wire import Json

Names = Callable[[str], str]
"""Returns the name of a user or channel by its id."""

_FENCE = re.compile(r"^[ \t]*```.*\n?(?:([\s\S]*?)\n?[ \t]*```[ \t]*$)?", re.MULTILINE)
_CODE = re.compile(r"(`[^`\n]+`)")
_URL = re.compile(r"https?://[^\s<>|]+")
_TOKEN = re.compile(r"<([@#!]?)([^<>|]+)(?:\|([^<>]*))?>")
_MARKDOWN = (
    (re.compile(r"!?\[([^\]\n]*)\]\([^)\n]*\)"), r"\1"),
    (re.compile(r"^#{1,6} +", re.MULTILINE), ""),
    (re.compile(r"(\*\*|__|~~)(?=\S)(.+?)(?<=\S)\1"), r"\2"),
    (re.compile(r"(?<![\w*\\])([*_])(?=[^\s*_])([^*_\n]*[^\s*_])\1(?![\w*])"), r"\2"),
    (re.compile(r"\\([!-/:-@\[-`{-~])"), r"\1"),
    (re.compile(r" {2,}\n"), "\n"),  # line breaks are invisible
)
_MRKDWN = ((re.compile(r"(?<![\w*_~])([*_~])(?=\S)([^\n]+?)(?<=\S)\1(?![\w])"), r"\2"),)


def typed(text: str, bot: tuple[str, str]) -> str:
    """Return the client's encoding of typed text; `bot` is (username, id)."""
    username, bot_id = bot
    escaped = html.escape(text, quote=False)
    linked = _URL.sub(lambda found: f"<{found.group(0)}>", escaped)
    return re.sub(rf"@{re.escape(username)}\b", f"<@{bot_id}>", linked)


def rich_text(wire: str) -> Json:
    """Return the block that the client sends with the text of a typed message."""
    elements: list[JsonValue] = []
    position = 0
    for found in _TOKEN.finditer(wire):
        _add_plain(elements, wire[position : found.start()])
        kind, target, _ = found.groups()
        elements.append({"type": "user", "user_id": target} if kind == "@" else {"type": "link", "url": target})
        position = found.end()
    _add_plain(elements, wire[position:])
    return {
        "type": "rich_text",
        "block_id": "typed",
        "elements": [{"type": "rich_text_section", "elements": elements}],
    }


def _add_plain(elements: list[JsonValue], part: str) -> None:
    if part:
        elements.append({"type": "text", "text": html.unescape(part)})


def mrkdwn_words(text: str, names: Names) -> str:
    """Return Slack's own markup as readable text."""

    def shown(found: re.Match[str]) -> str:
        kind, target, label = found.groups()
        if kind == "@":
            return f"@{names(target)}"
        return label or (f"#{names(target)}" if kind == "#" else target)

    def plain(part: str) -> str:
        return html.unescape(_replaced(_TOKEN.sub(shown, part), _MRKDWN))

    return _outside_code(text, plain, html.unescape)


def markdown_words(text: str, names: Names) -> str:
    """Return a Markdown block as readable text, without marks of bold, italic, code, headings, links and fences."""

    def plain(part: str) -> str:
        mentioned = re.sub(r"<@([A-Z0-9]+)>", lambda found: f"@{names(found.group(1))}", part)
        return html.unescape(_replaced(mentioned, _MARKDOWN))

    return _outside_code(text, plain, str)


def _replaced(text: str, rules: Iterable[tuple[re.Pattern[str], str]]) -> str:
    for pattern, by in rules:
        text = pattern.sub(by, text)
    return text


def _outside_code(text: str, plain: Callable[[str], str], literal: Callable[[str], str]) -> str:
    """Apply `plain` outside of code; code only loses its marks."""
    parts: list[str] = []
    position = 0
    for found in _FENCE.finditer(text):
        parts.append(_inline(text[position : found.start()], plain, literal))
        parts.append(literal(found.group(1) or ""))
        position = found.end()
    parts.append(_inline(text[position:], plain, literal))
    return "".join(parts)


def _inline(text: str, plain: Callable[[str], str], literal: Callable[[str], str]) -> str:
    # Emphasis may span code, so code is replaced by a placeholder character and put back.
    codes = _CODE.findall(text)
    shown = plain(_CODE.sub("\x00", text))
    for code in codes:
        shown = shown.replace("\x00", literal(code[1:-1]), 1)
    return shown


def block_words(blocks: Sequence[Json], names: Names) -> str:
    """Return the readable text of blocks, without buttons."""
    return "\n".join(filter(None, (_one_block(each, names) for each in blocks)))


def _one_block(block: Json, names: Names) -> str:
    parts: list[str] = []
    match block.get("type"):
        case "markdown":
            parts = [markdown_words(str(block.get("text", "")), names)]
        case "section":
            parts = [_text_object(each, names) for each in (block.get("text"), *_list(block.get("fields")))]
        case "header" | "alert":
            parts = [_text_object(block.get("text"), names)]
        case "context":
            parts = [_text_object(each, names) for each in _list(block.get("elements"))]
        case "image":
            parts = [f"[{block.get('alt_text', 'image')}]"]
        case "task_card":
            parts = [str(block.get("title", ""))]
        case "table":
            parts = [
                " | ".join("".join(_leaves(cell, names)) for cell in _list(row)) for row in _list(block.get("rows"))
            ]
        case "actions" | "context_actions" | "divider" | "plan":  # a plan is shown by `Message.plan`
            pass
        case _:
            parts = ["".join(_leaves(block, names))]
    return "\n".join(filter(None, parts))


def _list(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []


def _text_object(value: JsonValue, names: Names) -> str:
    if not isinstance(value, dict):
        return ""
    text = str(value.get("text", ""))
    return mrkdwn_words(text, names) if value.get("type") == "mrkdwn" else html.unescape(text)


def _leaves(value: JsonValue, names: Names) -> Iterable[str]:
    """Yield all texts inside rich text, tables and other nested blocks."""
    if isinstance(value, list):
        for each in value:
            yield from _leaves(each, names)
    elif isinstance(value, dict):
        if value.get("type") == "user":
            yield f"@{names(str(value.get('user_id', '')))}"
        text = value.get("text") or value.get("url")
        if isinstance(text, str):
            yield text
        for inner in ("elements", "rows", "blocks"):
            yield from _leaves(value.get(inner), names)
