"""Words of blocks, of which apps make their messages."""

from collections.abc import Iterator
from datetime import UTC, datetime

from pydantic import JsonValue

from channels.slack.mentions import Names, link, readable
from channels.slack.wire import Blocks

_MARKS = {
    "user": ("@", "user_id"),
    "channel": ("#", "channel_id"),
    "usergroup": ("!", "usergroup_id"),
    "broadcast": ("!", "range"),
}
"""Elements of rich text that are marks, with the field of what they name."""


def block_words(blocks: Blocks, names: Names) -> str:
    """Return the text of an app's blocks, one line per block with text."""
    return "\n".join(filter(None, (_block_words(block, names) for block in blocks)))


def _block_words(block: dict[str, JsonValue], names: Names) -> str:
    match block.get("type"):
        case "section":
            shown = _several([block.get("text"), block.get("fields")], names, "\n")
        case "header":
            shown = _text_object(block.get("text"), names)
        case "context":
            shown = _several([block.get("elements")], names, " ")
        case "markdown":
            shown = str(block.get("text") or "")
        case "image":
            shown = _text_object(block, names)
        case "actions" | "divider" | "input":
            shown = ""
        case _:
            shown = "".join(_leaves(block, names)).strip()
    return shown


def _several(parts: list[JsonValue], names: Names, glue: str) -> str:
    flat = [each for part in parts for each in (part if isinstance(part, list) else [part])]
    return glue.join(filter(None, (_text_object(each, names) for each in flat)))


def _text_object(value: JsonValue, names: Names) -> str:
    if not isinstance(value, dict):
        return ""
    if value.get("type") == "image":
        return f"[{value.get('alt_text') or 'image'}]"
    text = value.get("text")
    return readable(text, names) if isinstance(text, str) else ""


def _leaves(value: JsonValue, names: Names) -> Iterator[str]:
    """Yield the texts inside rich text, tables, cards and other nested blocks."""
    if isinstance(value, list):
        for each in value:
            yield from _leaves(each, names)
    elif isinstance(value, dict):
        kind = value.get("type")
        yield _element(value, names)
        for inner in ("title", "elements", "rows", "blocks", "tasks"):
            yield from _leaves(value.get(inner), names)
        if kind in ("rich_text_section", "rich_text_preformatted", "rich_text_quote"):
            yield "\n"


def _element(value: dict[str, JsonValue], names: Names) -> str:
    """Return the text of one element of rich text, without those inside it."""
    match value:
        case {"type": str(kind)} if kind in _MARKS:
            sign, field = _MARKS[kind]
            return readable(f"<{sign}{value.get(field)}>", names)
        case {"type": "emoji"}:
            return f":{value.get('name')}:"
        case {"type": "link"}:
            return link(str(value.get("text") or ""), str(value.get("url") or ""))
        case {"type": "date", "timestamp": int(timestamp)}:
            return str(value.get("fallback") or _at(timestamp))
        case {"type": "color", "value": str(color)}:
            return color
    text = value.get("text") or value.get("url")
    return text if isinstance(text, str) else ""


def _at(timestamp: int) -> str:
    try:
        return f"{datetime.fromtimestamp(timestamp, UTC):%Y-%m-%d %H:%M UTC}"
    except (OverflowError, ValueError, OSError):
        return str(timestamp)
