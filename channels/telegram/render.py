"""Rendering of GitHub-flavoured Markdown for Telegram: plain text with entities, and inline keyboards. Pure.

Entities instead of a parse mode, because Telegram can reject markup but cannot misread positions.
"""

import importlib
import re
from collections.abc import Sequence
from functools import cache, lru_cache, partial
from typing import NamedTuple, Protocol, cast

from pydantic import JsonValue

from channels.attachments import Attachment
from channels.base import Button, OutboundMessage
from channels.tables import without_tables
from channels.text import split_markdown, split_message, utf16_len, visible

MAX_TEXT = 4_096
MAX_CAPTION = 1_024
MAX_LABEL = 100
MAX_ENTITIES = 100
"""Telegram shows all further words without their formatting, and links without their address."""
MAX_ENTITY_BYTES = 8_000
"""Telegram refuses a message whose formatting takes more than about 9,500 bytes, most of them addresses."""
_ENTITY_BYTES = 16
WIDEST_TABLE = 60
"""Columns of the widest table that is a block of code; in wider ones the lines would break on most screens."""

_NOTHING = "…"
_COLOURS = {"primary": "primary", "danger": "danger", "yes": "success"}
"""Telegram's styles of buttons: blue, red and green. Clients of before 2026 show all alike."""
_CODE_OR_TAG = re.compile(
    r"^[ \t>]*(?P<fence>`{3,}|~{3,})[^\n]*\n[\s\S]*?(?:^[ \t>]*(?P=fence)[^\n]*$|\Z)"
    r"|(?<!`)(?P<ticks>`{1,2})(?!`)[^`\n]+(?P=ticks)(?!`)"
    r"|\\<|<[a-z][a-z0-9+.-]*:[^\s<>]*>|<[^\s<>@]+@[^\s<>@]+>"
    r"|(?P<tag></?(?P<name>[a-zA-Z][\w-]*)(?:\s[^<>\n]*)?/?>)"
    r"|(?P<comment><!--(?:(?!<!--).)*?-->)|(?P<less><)(?=[a-zA-Z/!?])",
    re.MULTILINE,
)
_FORMATTING = re.compile(
    r"a|abbr|b|big|center|code|del|details|div|em|font|h[1-6r]|i|img|ins|kbd|li|mark|ol|p|pre|s|small|span|strike"
    r"|strong|su[bp]|summary|table|tbody|t[dhr]|thead|u|ul"
)

_FORMULA = re.compile(
    r"(?<!\\)(?:\\\\)*\\[A-Za-z(]|^[ \t]*\\\[(?:(?!\n\n|\\[*_~`<>!\\])[\s\S])*?\\\][ \t.,]*$", re.MULTILINE
)
r"""A command such as `\frac`, `\(`, or `\[...\]` on lines of its own. Elsewhere `\[` is an escaped bracket."""

Entity = dict[str, JsonValue]


class Rendered(NamedTuple):
    text: str
    entities: tuple[Entity, ...]
    """MessageEntity objects of the Bot API, with offsets and lengths in UTF-16 units."""


class _Span(Protocol):
    """A formatted part of a text, as the converter finds it."""

    @property
    def type(self) -> str: ...

    @property
    def offset(self) -> int: ...

    @property
    def length(self) -> int: ...

    def to_dict(self) -> Entity: ...


class _Convert(Protocol):
    def __call__(self, markdown: str, *, latex_escape: bool) -> tuple[str, Sequence[_Span]]: ...


@cache
def converter() -> _Convert:
    """Return what converts Markdown. The first call imports it."""
    return cast(_Convert, importlib.import_module("channels.telegram.conversion").convert)


@lru_cache(maxsize=64)
def render(markdown: str) -> Rendered:
    """Render a text; never empty. Falls back to the Markdown source if it cannot be converted or would show nothing."""
    try:
        shown = _keep_tags(without_tables(markdown, WIDEST_TABLE))
        text, entities = converter()(shown, latex_escape=has_formula(markdown))
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError):
        return plain(markdown)
    if not visible(text):
        return plain(markdown)
    size = utf16_len(text)
    kept: list[Entity] = []
    quote_end = 0
    for entity in sorted(entities, key=lambda entity: (entity.offset, -entity.length)):
        end = min(entity.offset + entity.length, size)
        if entity.type.endswith("blockquote"):
            if entity.offset < quote_end:
                continue  # Telegram does not support nested quotes
            quote_end = end
        if end > entity.offset:
            kept.append({**entity.to_dict(), "length": end - entity.offset})
    return Rendered(text, tuple(kept))


def has_formula(markdown: str) -> bool:
    """Return True if the text has a formula in LaTeX."""
    return _FORMULA.search(markdown) is not None


def plain(markdown: str) -> Rendered:
    return Rendered(markdown if visible(markdown) else _NOTHING, ())


def _keep_tags(markdown: str) -> str:
    """Escape tags such as `<name>`: the converter drops every tag, and also the text between block tags.

    Formatting tags are dropped, as they do not become entities, and so are comments.
    """
    return _CODE_OR_TAG.sub(_kept, markdown) if "<" in markdown else markdown


def _kept(found: re.Match[str]) -> str:
    if found["comment"]:
        return ""
    if found["tag"]:
        name = found["name"].lower()
        if name == "br":
            return " "
        return "" if _FORMATTING.fullmatch(name) else "\\" + found[0]
    return "\\<" if found["less"] else found[0]


def split(message: OutboundMessage) -> tuple[OutboundMessage, ...]:
    """Split a message into texts of at most 4,096 UTF-16 units and 100 entities, and files; see `split_message`.

    Buttons keep a text apart from several files, as an album has none.
    """
    bare = not message.buttons or len(message.attachments) <= 1
    texts = partial(split_markdown, fits=_fits, size=MAX_TEXT)
    return split_message(message, texts, lambda text: bare and _is_caption(text))


def _is_caption(markdown: str) -> bool:
    return bool(markdown.strip()) and _fits(markdown, MAX_CAPTION)


def _fits(markdown: str, size: int = MAX_TEXT) -> bool:
    text, entities = render(markdown)
    return utf16_len(text) <= size and len(entities) <= MAX_ENTITIES and entity_bytes(entities) <= MAX_ENTITY_BYTES


def entity_bytes(entities: Sequence[Entity]) -> int:
    """Return about how many bytes Telegram counts for the entities."""
    return sum(_ENTITY_BYTES + len(str(entity.get("url", "")).encode()) for entity in entities)


def keyboard(rows: Sequence[Sequence[Button]]) -> JsonValue:
    """Build an inline keyboard. Raises ValueError for an action that is too long for Telegram."""
    return {"inline_keyboard": [[_button(button) for button in row] for row in rows if row]}


def _button(button: Button) -> JsonValue:
    label = button.label[:MAX_LABEL] if visible(button.label) else _NOTHING
    colour = _COLOURS.get("yes" if button.says == "yes" else button.style)
    return {"text": label, "callback_data": button.action, **({"style": colour} if colour else {})}


def is_picture(attachment: Attachment) -> bool:
    """Return True if Telegram can show it as a photo; a GIF would lose its animation."""
    return attachment.is_image and attachment.mime_type != "image/gif"
