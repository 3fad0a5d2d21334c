"""Reads the header of a SKILL.md that is not valid YAML, key by key.

Each key with what belongs to it is read as YAML by itself. Where even that fails, a text is taken as it stands, and
anything else is passed over. Switches that take rights away count wherever they are written.
"""

import re
from collections.abc import Callable, Iterator, Mapping

from agent_core.late_pattern import LatePattern

_KEY = LatePattern(r"[^\S\n]?([A-Za-z][\w-]{0,60})[^\S\n]*(?::(?=\s|$)|\uff1a)(.*)")
_NAME_OR_DESCRIPTION = LatePattern(r"[^\S\n]?(name|description)[^\S\n]*[:\uff1a](.*)", re.IGNORECASE)
"""For these the space after the colon may be missing."""
_SWITCH = LatePattern(
    r"\s*[\"']?(enabled|disabled|disable[-_]model[-_]invocation)[\"']?\s*[:\uff1a]\s*[\"']?(\w+)", re.IGNORECASE
)
_BLOCK = LatePattern(r"[|>][+-]?\d?(?:\s+|$)")
_TEXTS = frozenset({"description", "license", "name", "version", "when_to_use"})
_QUOTES = "\"'"
Parse = Callable[[str], Mapping[object, object]]
"""Parses YAML. Raises ValueError."""


def loosely(head: str, parse: Parse) -> dict[object, object]:
    """Return what can be read of the header."""
    fields: dict[object, object] = {}
    for key, lines in _parts(head):
        fields.setdefault(key.lower(), _value(key.lower().replace("-", "_"), lines, parse))
    for line in head.split("\n"):
        if (switch := _SWITCH.match(line)) is not None:
            fields[switch[1].lower()] = switch[2]
    return fields


def text_at(head: str, wanted: str) -> str:
    """Return the text of a key as it stands, on one line; empty if it is not there."""
    return next((_literal(lines) for key, lines in _parts(head) if key.lower() == wanted), "")


def _parts(head: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each key of the outermost level with its lines: the first one without the key."""
    key, lines = "", [""]
    for line in head.split("\n"):
        found = _KEY.match(line) or _NAME_OR_DESCRIPTION.match(line)
        if found is None:
            lines.append(line)
            continue
        if key:
            yield key, lines
        key, lines = found[1], [found[2]]
    if key:
        yield key, lines


def _value(key: str, lines: list[str], parse: Parse) -> object:
    given = "\n".join([f"key: {lines[0].strip()}", *lines[1:]])
    for text in (given, given.expandtabs(2)):
        try:
            value = parse(text)
        except ValueError:
            continue
        if value.keys() == {"key"}:
            return value["key"]
    return _literal(lines) if key in _TEXTS else ""


def _literal(lines: list[str]) -> str:
    """Return the words of lines, without what stands for a block or a quotation."""
    first, *rest = (line.strip() for line in lines)
    block = _BLOCK.match(first)
    words = (first[block.end() :] if block else first, *rest)
    text = " ".join(line for line in words if line and not line.startswith("#"))
    if text[:1] in _QUOTES:
        is_closed = len(text) > 1 and text[-1] == text[0]
        text = text[1:-1] if is_closed else text[1:]
    return text
