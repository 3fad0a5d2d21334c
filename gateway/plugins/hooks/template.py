"""Fills what was sent into the text that somebody has written for it. Nothing of it is code."""

import re
from collections.abc import Callable

from pydantic import JsonValue

from channels.text import literal
from gateway.plugins.hooks.content import Content, as_json

LONGEST_TEMPLATE = 2_000
LONGEST_VALUE = 500
"""Characters of one value."""
LONGEST_TOLD = 4_000
"""Characters of all that is told of an event."""
LONGEST_TEXT = 1_500
"""Characters of what is shown without a template."""
_PLACE = re.compile(r"(?P<space> ?)\{\{\s*(?P<path>[\w.@:/-]{1,200})\s*\}\}")
_DOT = " · "


def filled(template: str, content: Content, kind: str) -> str:
    """Return the template with values in place of `{{path}}`, escaped. What is not there is left out.

    `{{event}}` is the kind of the event if no field has that name, and `{{body}}` all that was sent. Of parts between
    dots those without a value are left out with their dot.
    """

    def value(found: re.Match[str]) -> str:
        path = found["path"]
        at = content.at(path)
        if at is None:
            at = {"event": kind, "body": content.text}.get(path)
        text = _literal(_cut(_words(at), LONGEST_VALUE))
        return f"{found['space']}{text}" if text else ""

    told = "\n".join(_line(line, value) for line in template.splitlines()).strip()
    return _cut(told, LONGEST_TOLD)


def _line(line: str, value: Callable[[re.Match[str]], str]) -> str:
    indent = line[: len(line) - len(line.lstrip())]
    parts = [(part, _PLACE.sub(value, part).strip()) for part in line.split(_DOT)]
    return indent + _DOT.join(shown for part, shown in parts if shown or not _PLACE.search(part))


def in_short(content: Content) -> str:
    """Return what was sent, for an event without a template."""
    return _literal(_cut(content.text.strip(), LONGEST_TEXT))


def _literal(text: str) -> str:
    """Return the text with its Markdown escaped, also where it begins a line."""
    return literal("\n".join(["", *text.splitlines()]))[1:]


def _words(value: JsonValue) -> str:
    if isinstance(value, str):
        return value
    return "" if value is None else as_json(value)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}…"
