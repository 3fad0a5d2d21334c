"""Telegram's rules for text: UTF-16 units, entities, and empty text."""

import re
import unicodedata
from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict, JsonValue

EntityType = Literal[
    "mention",
    "hashtag",
    "cashtag",
    "bot_command",
    "url",
    "email",
    "phone_number",
    "bold",
    "italic",
    "underline",
    "strikethrough",
    "spoiler",
    "blockquote",
    "expandable_blockquote",
    "code",
    "pre",
    "text_link",
    "text_mention",
    "custom_emoji",
    "date_time",
]

_COMMAND = re.compile(r"(?<![\w/@])/[A-Za-z0-9_]{1,64}(?:@\w{3,32})?(?![\w/])")
_MENTION = re.compile(r"(?<![\w/@])@[A-Za-z]\w{3,31}\b")
_INVISIBLE = {"Cc", "Cf", "Zs", "Zl", "Zp", "Mn"}


class Entity(BaseModel):
    """A span of formatted text; offset and length in UTF-16 units."""

    model_config = ConfigDict(extra="forbid")

    type: EntityType
    offset: int
    length: int
    url: str | None = None
    user: dict[str, JsonValue] | None = None
    language: str | None = None
    custom_emoji_id: str | None = None
    unix_time: int | None = None
    date_time_format: str | None = None

    def to_json(self) -> dict[str, JsonValue]:
        return self.model_dump(exclude_none=True)


def units(text: str) -> int:
    """Return the length as Telegram counts it."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def is_empty(text: str) -> bool:
    """Return True if nothing is visible: blanks, zero-width and direction marks, blank Braille and Hangul fillers."""
    return all(unicodedata.category(char) in _INVISIBLE or char in "\u2800\u3164\ufffc" for char in text)


def has_surrogates(text: str) -> bool:
    return not text.isascii() and any("\ud800" <= char <= "\udfff" for char in text)


def found_entities(text: str) -> list[Entity]:
    """Return the entities that Telegram detects in typed text: commands and mentions."""
    if "/" not in text and "@" not in text:
        return []
    found = [("bot_command", match) for match in _COMMAND.finditer(text)]
    found += [("mention", match) for match in _MENTION.finditer(text)]
    return sorted(
        (
            Entity.model_validate(
                {"type": kind, "offset": units(text[: match.start()]), "length": units(match.group())}
            )
            for kind, match in found
        ),
        key=lambda entity: entity.offset,
    )


def trim(text: str, entities: Sequence[Entity]) -> tuple[str, list[Entity]]:
    """Return the text without surrounding blanks, as Telegram stores it, with shifted entities."""
    kept = text.strip()
    if len(kept) == len(text) or not entities:
        return kept, list(entities)
    shift, size = units(text[: len(text) - len(text.lstrip())]), units(kept)
    moved = []
    for entity in entities:
        start = max(entity.offset - shift, 0)
        end = min(entity.offset + entity.length - shift, size)
        if end > start:
            moved.append(entity.model_copy(update={"offset": start, "length": end - start}))
    return kept, moved


def entity_problem(text: str, entities: Sequence[Entity]) -> str | None:
    """Return the error for entities that do not fit the text, as it follows "can't parse entities: ", or None."""
    size, inside = units(text), _inside_pairs(text)
    for entity in entities:
        start, end = entity.offset, entity.offset + entity.length
        if start < 0 or entity.length <= 0:
            return f"entity {entity.type} has offset {start} and length {entity.length}"
        if end > size:
            return f"entity beginning at UTF-16 offset {start} ends after the end of the text at UTF-16 offset {size}"
        if start in inside or end in inside:
            return f"entity at UTF-16 offset {start} begins or ends in the middle of a UTF-16 symbol"
        if entity.type == "text_link" and not entity.url:
            return "entity text_link has no url"
    return _crossing(entities)


def _inside_pairs(text: str) -> set[int]:
    """Return the offsets between the two units of one character."""
    if text.isascii():
        return set()
    at, inside = 0, set()
    for char in text:
        at += 1
        if char > "\uffff":
            inside.add(at)
            at += 1
    return inside


def _crossing(entities: Sequence[Entity]) -> str | None:
    open_ends: list[int] = []
    for entity in sorted(entities, key=lambda each: (each.offset, -each.length)):
        end = entity.offset + entity.length
        while open_ends and open_ends[-1] <= entity.offset:
            open_ends.pop()
        if open_ends and end > open_ends[-1]:
            return f"entity {entity.type} at UTF-16 offset {entity.offset} crosses another one"
        open_ends.append(end)
    return None
