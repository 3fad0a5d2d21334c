"""Assembly of the fields of an answer or a call that only its own model can use; see `agent_core.messages.Opaque`."""

import json
from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from agent_core.messages import JsonObject, clean

MOST = 256 * 1024
"""Characters of JSON that are kept of one answer and its calls."""
_GROWS = frozenset({"reasoning_content", "reasoning", "reasoning_text", "thinking", "thought"})
"""Texts that come in pieces; any other text comes whole."""
_DETAILS = "reasoning_details"
_GROWS_IN_DETAIL = ("text", "summary")


class PrivateFields:
    """Joins the fields of one answer or call, which come piece by piece."""

    def __init__(self) -> None:
        self._texts: dict[str, list[str]] = {}
        self._details: list[_Detail] = []
        self._fields: JsonObject = {}

    def add(self, fields: Mapping[str, JsonValue]) -> None:
        """Add the fields of a chunk."""
        for name, value in fields.items():
            if name in _GROWS and isinstance(value, str):
                self._texts.setdefault(name, []).append(value)
            elif name == _DETAILS and isinstance(value, list):
                self._add_details(value)
            else:
                self._fields[name] = _joined(self._fields.get(name), value)

    def __bool__(self) -> bool:
        return bool(self._texts or self._details or self._fields)

    @property
    def texts(self) -> dict[str, str]:
        """Return the fields with reasoning as text."""
        return {name: str(clean("".join(pieces))) for name, pieces in self._texts.items()}

    @property
    def others(self) -> JsonObject:
        """Return all other fields."""
        found: JsonObject = {name: value for name, value in self._fields.items() if value is not None}
        if self._details:
            found[_DETAILS] = [*(each.whole for each in self._details)]
        return found

    def _add_details(self, details: Sequence[JsonValue]) -> None:
        for detail in details:
            if not isinstance(detail, dict):
                continue
            if not (self._details and self._details[-1].goes_on_with(detail)):
                self._details.append(_Detail())
            self._details[-1].add(detail)


class _Detail:
    """One of OpenRouter's `reasoning_details`: pieces of the same kind and index, one after the other."""

    def __init__(self) -> None:
        self._fields: JsonObject = {}
        self._texts: dict[str, list[str]] = {}

    def goes_on_with(self, piece: JsonObject) -> bool:
        """Return True if the piece belongs to this detail."""
        if "data" in piece or any(self._fields.get(name) != piece.get(name) for name in ("type", "index")):
            return False
        if (mine := self._fields.get("id")) and (other := piece.get("id")) and mine != other:
            return False
        return not (self._fields.get("signature") and any(piece.get(name) for name in _GROWS_IN_DETAIL))

    def add(self, piece: JsonObject) -> None:
        for name, value in piece.items():
            if name in _GROWS_IN_DETAIL and isinstance(value, str):
                self._texts.setdefault(name, []).append(value)
                self._fields.setdefault(name, "")
            elif value is not None or name not in self._fields:
                self._fields[name] = value

    @property
    def whole(self) -> JsonObject:
        return self._fields | {name: "".join(pieces) for name, pieces in self._texts.items()}


def size_of(*fields: JsonObject | None) -> int:
    """Return the characters of the fields as JSON."""
    return sum(len(json.dumps(each, ensure_ascii=False)) for each in fields if each)


def _joined(old: JsonValue, new: JsonValue) -> JsonValue:
    """Join two values of a field: lists grow, objects get fields, and of anything else the newer one counts."""
    match old, new:
        case _, None:
            return old
        case list(), list():
            old.extend(new)
            return old
        case dict(), dict():
            for name, value in new.items():
                old[name] = _joined(old.get(name), value)
            return old
        case _:
            return new
