"""Text with what its entities hide: the addresses behind links, the people behind mentions without a user name, and
that something is struck out, quoted or code.

Telegram counts in UTF-16 units.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from channels.base import Sender
from channels.telegram.wire import Entity
from channels.text import MessageText, hides, in_utc, without

_QUOTES = frozenset({"blockquote", "expandable_blockquote"})
_SIGNS = {
    "strikethrough": ("~~", "~~"),
    "spoiler": ("||", "||"),
    "code": ("`", "`"),
    "pre": ("```\n", "\n```"),
    **dict.fromkeys(_QUOTES, ("> ", "")),
}
"""What people write on other platforms for the same."""
IsOurs = Callable[[Entity, str], bool]
"""Tells if an entity over this text mentions the bot."""


class Span(NamedTuple):
    """A stretch of text in code points."""

    start: int
    end: int


def spelled(text: str, entities: Sequence[Entity], is_ours: IsOurs = lambda _entity, _named: False) -> MessageText:
    """Return the text with each hidden address after its label, and without mentions of the bot.

    An address whose label lies outside of the text stands at its end.
    """
    found = list(_spans(text, entities)) if entities else []
    placed = [entity for entity, _ in found]
    others = dict.fromkeys(entity.url for entity in entities if entity.url and entity not in placed)
    mentions = [span for entity, span in found if is_ours(entity, text[span.start : span.end])]
    named = tuple(
        Sender(id=str(each.user.id), name=each.user.name)
        for each, span in found
        if each.user is not None and span not in mentions
    )
    for place, words in sorted(_additions(text, found, mentions), reverse=True):
        text = text[:place] + words + text[place:]
        mentions = [_moved(span, place, len(words)) for span in mentions]
    own = without(text, mentions)
    behind = (f"({url})" for url in others) if text else ()
    return MessageText(" ".join(filter(None, (own, *behind))), bool(mentions), named=named)


def within(entities: Sequence[Entity], start: int, length: int) -> list[Entity]:
    """Return the entities of a part of the text, which begins at this offset; an entity may be cut."""
    parts = []
    for entity in (each for each in entities if _is_placed(each)):
        first, last = max(entity.offset, start), min(entity.offset + entity.length, start + length)
        if first < last:
            parts.append(entity.model_copy(update={"offset": first - start, "length": last - first}))
    return parts


def _spans(text: str, entities: Sequence[Entity]) -> Iterator[tuple[Entity, Span]]:
    """Yield each entity with its place; one that ends inside a surrogate pair takes in the whole character."""
    units = text.encode("utf-16-le", "surrogatepass")
    for entity in entities:
        if not _is_placed(entity) or entity.offset >= len(units) // 2:
            continue
        start, end = (_points(units, place) for place in (entity.offset, entity.offset + entity.length))
        if start < end:
            yield entity, Span(start, end)


def _is_placed(entity: Entity) -> bool:
    return entity.offset >= 0 and entity.length > 0


def _points(units: bytes, place: int) -> int:
    return len(units[: 2 * place].decode("utf-16-le", "replace"))


def _additions(
    text: str, found: Sequence[tuple[Entity, Span]], mentions: Sequence[Span]
) -> dict[tuple[int, str], None]:
    """Return what is added and where, each once."""
    added: dict[tuple[int, str], None] = {} if text.startswith("/") else dict.fromkeys(_signs(text, found, mentions))
    for entity, span in found:
        label = text[span.start : span.end].rstrip()
        hidden = _hidden(entity, label)
        if not hidden or (span in mentions and not entity.url):
            continue
        place = span.start + len(label)
        place = _beside(mentions, place)
        glue = " " if text[place : place + 1].isalnum() else ""
        added[place, f" ({hidden}){glue}"] = None
    return added


def _signs(text: str, found: Sequence[tuple[Entity, Span]], mentions: Sequence[Span]) -> Iterator[tuple[int, str]]:
    """Yield the signs of what is struck out, hidden, quoted or code, without which it reads as plain words.

    A text that is nothing but inline code is left as it is: commands and codes are copied like that.
    """
    for entity, span in found:
        begins, ends = _SIGNS.get(entity.type, ("", ""))
        if not begins or (entity.type == "code" and text.strip() == text[span.start : span.end].strip()):
            continue
        yield _beside(mentions, span.start), begins
        yield _beside(mentions, span.end), ends
        if entity.type in _QUOTES:
            breaks = (place for place in range(span.start, span.end - 1) if text[place] == "\n")
            yield from ((_beside(mentions, place + 1), begins) for place in breaks)


def _beside(mentions: Sequence[Span], place: int) -> int:
    """Return a place that is not within a mention."""
    return next((mention.end for mention in mentions if mention.start < place < mention.end), place)


def _hidden(entity: Entity, label: str) -> str:
    """Return the address, the moment or the name that the label does not tell; "" if there is none."""
    if entity.url and hides(label, entity.url):
        return entity.url.removeprefix("mailto:")
    if entity.type == "date_time" and entity.unix_time is not None:  # Telegram shows it by each reader's clock
        moment = in_utc(entity.unix_time)
        return "" if label == moment else moment
    if entity.type == "text_mention" and entity.user is not None:
        return "" if label.casefold() in entity.user.name.casefold() else entity.user.name
    return ""


def _moved(span: Span, place: int, by: int) -> Span:
    """Return where a stretch is after an addition at `place`, which is never inside of it."""
    return Span(span.start + by, span.end + by) if place <= span.start else span
