"""Words of blocks, of which apps make their messages."""

from collections.abc import Iterator

from pydantic import JsonValue

from channels.slack.mentions import Names, link, readable
from channels.slack.wire import Blocks
from channels.text import emoji_told, in_utc, linked

_MARKS = {
    "user": ("@", "user_id"),
    "channel": ("#", "channel_id"),
    "usergroup": ("!", "usergroup_id"),
    "broadcast": ("!", "range"),
}
"""Elements of rich text that are marks, with the field of what they name."""
_DEEPEST = 8
"""Most levels by which lists are indented."""
_STYLES = {"strike": "~", "code": "`"}
"""Signs of styles without which words mean something else."""
_PARTS = ("title", "subtitle", "body", "caption", "details", "output")
"""Fields of cards, plans and tables with words of their own lines."""
_CONTROLS = frozenset(("image", "button", "workflow_button", "overflow"))
"""Elements of which only the label and the address are words."""


def block_words(blocks: Blocks, names: Names) -> str:
    """Return the text of an app's blocks, one line per block with text."""
    return "\n".join(filter(None, (_block_words(block, names) for block in blocks)))


def custom_emoji(value: JsonValue) -> Iterator[str]:
    """Yield the names of emoji inside blocks that are not everybody's."""
    if isinstance(value, list):
        for each in value:
            yield from custom_emoji(each)
    elif isinstance(value, dict):
        if value.get("type") == "emoji" and isinstance(name := value.get("name"), str) and not value.get("unicode"):
            yield name
        for inner in value.values():
            yield from custom_emoji(inner)


def _block_words(block: dict[str, JsonValue], names: Names) -> str:
    match block.get("type"):
        case "section":
            shown = _several([block.get("text"), block.get("fields"), block.get("accessory")], names, "\n")
        case "header" | "alert":
            shown = _text_object(block.get("text"), names)
        case "context":
            shown = _several([block.get("elements")], names, " ")
        case "markdown":
            shown = str(block.get("text") or "")
        case "image" | "video":
            shown = (_picture if block["type"] == "image" else _video)(block, names)
        case "container":
            shown = _container(block, names)
        case "call":
            shown = _call(block)
        case "actions":
            shown = _several([block.get("elements")], names, "\n")
        case "divider" | "input":
            shown = ""
        case _:
            shown = "".join(_leaves(block, names)).strip()
    return shown


def _several(parts: list[JsonValue], names: Names, glue: str) -> str:
    flat = [each for part in parts for each in (part if isinstance(part, list) else [part])]
    return glue.join(filter(None, (_text_object(each, names) for each in flat)))


def _text_object(value: JsonValue, names: Names) -> str:
    """Return a text; of a picture, a button or a menu, also the addresses."""
    if not isinstance(value, dict):
        return ""
    match value:
        case {"type": "image"}:
            return _picture(value, names)
        case {"type": "overflow", "options": list(options)}:
            return "\n".join(filter(None, (_addressed(each, names) for each in options)))
        case {"type": str(kind)} if kind.endswith("button"):
            return _addressed(value, names)
        case {"text": str(text)}:
            return readable(text, names)
    return ""


def _addressed(button: JsonValue, names: Names) -> str:
    """Return the label and the address of a button; empty for one that only tells its app that it was pressed."""
    if not isinstance(button, dict):
        return ""
    url = button.get("url")
    return linked(_text_object(button.get("text"), names), url) if isinstance(url, str) and url else ""


def _picture(picture: dict[str, JsonValue], names: Names) -> str:
    label = _text_object(picture.get("title"), names) or str(picture.get("alt_text") or "")
    stored = picture.get("slack_file")
    url = picture.get("image_url") or (stored.get("url") if isinstance(stored, dict) else None)
    return linked(label, url) if isinstance(url, str) and url else f"[{label or 'image'}]"


def _video(video: dict[str, JsonValue], names: Names) -> str:
    """Return the title of a video with the address of its page or, without one, of its player, and what it is about."""
    label = _text_object(video.get("title"), names) or str(video.get("alt_text") or "")
    url = video.get("title_url") or video.get("video_url")
    title = linked(label, url) if isinstance(url, str) and url else label
    return "\n".join(filter(None, (title, _text_object(video.get("description"), names))))


def _call(block: dict[str, JsonValue]) -> str:
    """Return the name of a call with the address at which it is joined."""
    call = block.get("call")
    about = call.get("v1") if isinstance(call, dict) else None
    url = about.get("join_url") if isinstance(about, dict) else None
    name = about.get("name") if isinstance(about, dict) else None
    return linked(name if isinstance(name, str) else "", url) if isinstance(url, str) and url else ""


def _container(block: dict[str, JsonValue], names: Names) -> str:
    """Return the titles of a box with blocks, and the words of these."""
    inner = block.get("child_blocks")
    blocks = tuple(each for each in inner if isinstance(each, dict)) if isinstance(inner, list) else ()
    titles = (_part(block.get("rich_text_title") or block.get("title"), names), _part(block.get("subtitle"), names))
    return "\n".join(filter(None, (*titles, block_words(blocks, names))))


def _leaves(value: JsonValue, names: Names) -> Iterator[str]:
    """Yield the texts inside rich text, tables, cards and other nested blocks."""
    if isinstance(value, list):
        for each in value:
            yield from _leaves(each, names)
    elif isinstance(value, dict):
        kind = value.get("type")
        if isinstance(kind, str) and kind in _CONTROLS:
            yield f"\n{_text_object(value, names)}\n"
            return
        if kind in ("rich_text_list", "table", "data_table"):
            yield from (_list if kind == "rich_text_list" else _table)(value, names)
            return
        if kind in ("rich_text_preformatted", "rich_text_quote"):
            yield _set_off(value, names)
            return
        yield _element(value, names)
        parts = [f"\n{words}" for each in _PARTS if (words := _part(value.get(each), names))]
        yield from [*parts, "\n"] if parts and any(value.get(each) for each in ("rows", "tasks", "sources")) else parts
        for inner in ("elements", "rows", "blocks", "tasks", "sources", "hero_image", "accessory", "actions"):
            yield from _leaves(value.get(inner), names)
        if kind == "rich_text_section":
            yield "\n"


def _part(value: JsonValue, names: Names) -> str:
    """Return a part of a card or a plan: a text, a text object or rich text."""
    if isinstance(value, str):
        return readable(value, names).strip()
    return (_text_object(value, names) or "".join(_leaves(value, names))).strip()


def _set_off(value: dict[str, JsonValue], names: Names) -> str:
    """Return code or a quotation with its signs, as Slack writes them in the text beside the blocks."""
    words = "".join(_leaves(value.get("elements"), names)).strip("\n")
    if value.get("type") == "rich_text_preformatted":
        return f"```\n{words}\n```\n"
    return "".join(f"> {line}\n" for line in words.split("\n"))


def _list(value: dict[str, JsonValue], names: Names) -> Iterator[str]:
    """Yield the entries of a list with their signs, as Slack writes them in the text beside the blocks."""
    entries, indent, offset = value.get("elements"), value.get("indent"), value.get("offset")
    first = 1 + (offset if isinstance(offset, int) else 0)
    deep = "    " * min(indent if isinstance(indent, int) else 0, _DEEPEST)
    for number, entry in enumerate(entries if isinstance(entries, list) else [], first):
        sign = f"{number}." if value.get("style") == "ordered" else "•"
        yield f"{deep}{sign} {''.join(_leaves(entry, names)).strip()}\n"


def _table(value: dict[str, JsonValue], names: Names) -> Iterator[str]:
    """Yield what a table is called, and its rows, each on a line, with signs between its cells."""
    rows = value.get("rows")
    if caption := _part(value.get("caption"), names):
        yield f"{caption}\n"
    for row in rows if isinstance(rows, list) else []:
        cells = ("".join(_leaves(cell, names)).strip() for cell in (row if isinstance(row, list) else [row]))
        yield f"{' | '.join(cells)}\n"


def _element(value: dict[str, JsonValue], names: Names) -> str:
    """Return the text of one element of rich text, without those inside it."""
    match value:
        case {"type": str(kind)} if kind in _MARKS:
            sign, field = _MARKS[kind]
            return readable(f"<{sign}{value.get(field)}>", names)
        case {"type": "emoji", "name": str(name)}:
            return f":{name}:" if value.get("unicode") else emoji_told(name)
        case {"type": "link" | "url"}:
            return link(str(value.get("text") or ""), str(value.get("url") or ""))
        case {"type": "date", "timestamp": int(timestamp)}:
            return str(value.get("fallback") or in_utc(timestamp) or timestamp)
        case {"type": "color", "value": str(color)}:
            return color
    text = value.get("text") or value.get("url")
    if not text and value.get("type") == "raw_number":
        text = str(value.get("value"))
    return _styled(text, value.get("style")) if isinstance(text, str) else ""


def _styled(text: str, style: JsonValue) -> str:
    given = style if isinstance(style, dict) and text.strip() else {}
    signs = [sign for name, sign in _STYLES.items() if given.get(name)]
    return f"{''.join(signs)}{text}{''.join(reversed(signs))}"
