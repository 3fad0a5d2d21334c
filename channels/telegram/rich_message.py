"""The words and files of rich messages, which bots and channels write: articles with headings, lists, tables and media.

They come as blocks of blocks; one of an unknown or odd shape loses only itself.
"""

from collections.abc import Callable, Iterator, Sequence

from pydantic import JsonValue

from channels.text import in_utc, linked

DEEPEST = 40
"""Levels of blocks in blocks that are read; Telegram allows 16."""
_SIGNS = {"strikethrough": "~~", "spoiler": "||", "code": "`"}
_INSTEAD = {"mathematical_expression": "expression", "custom_emoji": "alternative_text"}
"""Fields that hold the text of what has none."""
MEDIA = ("photo", "video", "animation", "audio", "voice_note")

Json = dict[str, JsonValue]


def rich_words(blocks: Sequence[JsonValue]) -> str:
    """Return the words of a rich message, as Markdown."""
    return "\n\n".join(filter(None, (_block(each, 0) for each in blocks)))


def rich_media(blocks: Sequence[JsonValue], depth: int = 0) -> Iterator[tuple[str, JsonValue]]:
    """Yield the kind and the content of each picture, video and recording in a rich message."""
    for block in blocks if depth < DEEPEST else ():
        if not isinstance(block, dict):
            continue
        kind = str(block.get("type"))
        if kind in MEDIA and block.get(kind):
            yield kind, block[kind]
        for inner in ("blocks", "items"):
            yield from rich_media(_listed(block.get(inner)), depth + 1)


def _block(block: JsonValue, depth: int) -> str:
    if not isinstance(block, dict) or depth > DEEPEST:
        return ""
    draw = _DRAWN.get(str(block.get("type")))
    if draw is not None:
        return draw(block, depth)
    text, summary = _text(block.get("text"), depth), _text(block.get("summary"), depth)
    return "\n".join(filter(None, (summary, text, _inner(block, depth), _caption(block))))


def _heading(block: Json, depth: int) -> str:
    size = block.get("size")
    marks = "#" * (size if isinstance(size, int) and size in _SIZES else 1)
    text = _text(block.get("text"), depth)
    return f"{marks} {text}" if text else ""


def _code(block: Json, depth: int) -> str:
    return f"```\n{_text(block.get('text'), depth)}\n```"


def _formula(block: Json, _depth: int) -> str:
    return f"$${block.get('expression', '')}$$"


def _list(block: Json, depth: int) -> str:
    return "\n".join(_item(each, depth + 1) for each in _listed(block.get("items")))


def _quote(block: Json, depth: int) -> str:
    return "\n".join(f"> {line}" for line in _inner(block, depth).splitlines())


def _inner(block: Json, depth: int) -> str:
    return "\n\n".join(filter(None, (_block(each, depth + 1) for each in _listed(block.get("blocks")))))


def _item(item: JsonValue, depth: int) -> str:
    if not isinstance(item, dict):
        return ""
    tick = f"[{'x' if item.get('is_checked') else ' '}] " if item.get("has_checkbox") else ""
    label = str(item.get("label", ""))
    sign = label if label.rstrip(".)").isalnum() else "-"
    first, *others = _inner(item, depth).splitlines() or [""]
    return "\n".join([f"{sign} {tick}{first}", *(f"  {line}" for line in others)])


def _table(block: Json, depth: int) -> str:
    lines = []
    for row in _listed(block.get("cells")):
        cells = [each for each in _listed(row) if isinstance(each, dict)]
        lines.append(f"| {' | '.join(_text(each.get('text'), depth) for each in cells)} |")
        if len(lines) == 1:
            lines.append(f"|{' --- |' * len(cells)}")
    return "\n".join(lines)


def _caption(block: Json) -> str:
    caption = block.get("caption")
    return _text(caption.get("text"), 0) if isinstance(caption, dict) else ""


def _text(text: JsonValue, depth: int) -> str:
    """Return the words of a text, which is a string, a list of texts, or a text with a format."""
    if depth > DEEPEST:
        return ""
    if isinstance(text, str):
        return text
    if isinstance(text, list):
        return "".join(_text(each, depth + 1) for each in text)
    if not isinstance(text, dict):
        return ""
    kind = str(text.get("type"))
    inside = str(text.get(_INSTEAD[kind], "")) if kind in _INSTEAD else _text(text.get("text"), depth + 1)
    sign = "$" if kind == "mathematical_expression" else _SIGNS.get(kind, "")
    words = f"{sign}{inside}{sign}" if inside else ""
    if kind == "date_time" and isinstance(moment := text.get("unix_time"), int):
        return " ".join(filter(None, (words, f"({in_utc(moment)})")))
    return linked(words, str(text.get("url", ""))) if kind == "url" else words


def _listed(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []


_SIZES = range(1, 7)
_DRAWN: dict[str, Callable[[Json, int], str]] = {
    "heading": _heading,
    "pre": _code,
    "divider": lambda _block, _depth: "---",
    "mathematical_expression": _formula,
    "list": _list,
    "table": _table,
    "blockquote": _quote,
}
"""The blocks that are more than their text."""
