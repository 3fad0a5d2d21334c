"""Reads what a program has sent: JSON, a form or a text."""

import json
from collections.abc import Mapping
from urllib.parse import parse_qsl

from msgspec import Struct
from pydantic import JsonValue

from agent_core.json_text import read_json

MOST_FIELDS = 1_000
NUL = "\N{SYMBOL FOR NULL}"


class Content(Struct, frozen=True):
    """The body of a request, as text and as fields. A text has none."""

    text: str
    fields: JsonValue = None

    def at(self, path: str) -> JsonValue:
        """Return the value at a path such as `alerts.0.labels.name`; None if there is none."""
        found = self.fields
        for part in path.split("."):
            if isinstance(found, dict):
                found = found.get(part)
            elif isinstance(found, list) and part.isdecimal() and int(part) < len(found):
                found = found[int(part)]
            else:
                return None
        return clean(found) if isinstance(found, str) else found


def clean(text: str) -> str:
    """Return a text as it can be stored and sent: halves of characters, which JSON can hold, are replaced."""
    return text.encode("utf-8", "replace").decode().replace("\0", NUL)


def text_of(body: bytes) -> str:
    """Return a body as text. What is not UTF-8 is replaced."""
    return body.decode("utf-8", "replace").replace("\0", NUL)


def content_of(text: str, headers: Mapping[str, str] | None = None) -> Content:
    """Return the content of a text. `headers` say if it is a form; otherwise it is JSON if it can be read so."""
    kind = (headers or {}).get("Content-Type", "").partition(";")[0].strip().lower()
    if kind == "application/x-www-form-urlencoded":
        return _form(text)
    return Content(text, _json(text))


def _form(text: str) -> Content:
    try:
        fields: dict[str, JsonValue] = dict(parse_qsl(text, keep_blank_values=True, max_num_fields=MOST_FIELDS))
    except ValueError:
        return Content(text)
    payload = fields.get("payload")  # GitHub sends JSON so, if it is told to send forms
    inner = _json(payload) if isinstance(payload, str) else None
    fields = inner if isinstance(inner, dict) else fields
    return Content(as_json(fields) or text, fields)


def as_json(value: JsonValue) -> str:
    """Return a value as JSON."""
    return clean(json.dumps(value, ensure_ascii=False))


def _json(text: str) -> JsonValue:
    """Return what a text holds as JSON; None for one that cannot be read, as it is broken or nested too deep."""
    try:
        return read_json(text)
    except ValueError:
        return None
