"""The references in the schema of a tool's arguments: each leads to a definition at the root.

JSON schema lets a reference lead to any place of a document. Kimi's models and some servers of local ones follow only
`#` and `#/$defs/NAME`, and refuse the whole request for any other.
"""

import re
from collections.abc import Sequence
from itertools import chain, count
from urllib.parse import unquote

from pydantic import JsonValue

from agent_core.messages import JsonObject
from agent_core.tools.schema_keywords import BY_NAME, DATA

_PLAIN = re.compile("[a-zA-Z0-9_.-]+")
_UNFIT = re.compile("[^a-zA-Z0-9_.-]+")
_DEFINITIONS = frozenset({"$defs", "definitions"})
_Place = tuple[JsonObject, tuple[JsonObject, ...]]
"""A schema, and those around it, the innermost first."""


def with_definitions(sound: JsonObject, root: JsonObject) -> JsonObject:
    """Return a schema whose references lead to definitions at its root; those that lead nowhere are left out.

    Args:
        sound: The schema, flat at its root.
        root: The same as it was, in which references are looked up.
    """
    return _Definitions(root).of(sound)


def target(root: JsonObject, address: str) -> JsonObject | None:
    """Return the schema that a reference means, through further references; None if it leads nowhere or in a circle."""
    seen: set[str] = set()
    while address not in seen:
        seen.add(address)
        place = _at(root, address)
        if place is None:
            return None
        found = place[0]
        if not isinstance(found.get("$ref"), str) or found.keys() != {"$ref"}:
            return found
        address = str(found["$ref"])
    return None


class _Definitions:
    """The definitions of one document, which grow while references are followed."""

    def __init__(self, root: JsonObject) -> None:
        self._root = root
        self._names: dict[int, str] = {}
        """The names of schemas that are definitions, by their identity."""
        self._open: list[tuple[str, _Place]] = []
        """Definitions whose own references have not been followed yet."""
        own = root.get("$defs")
        for name, each in own.items() if isinstance(own, dict) else ():
            if isinstance(each, dict) and _PLAIN.fullmatch(name):
                self._define(name, (each, (root,)))

    def of(self, sound: JsonObject) -> JsonObject:
        """Return the schema with its definitions."""
        whole = self._object(sound, (self._root,))
        definitions: JsonObject = {}
        while self._open:
            name, (each, around) = self._open.pop(0)
            definitions[name] = self._object(each, (each, *around))
        if definitions:
            whole["$defs"] = definitions
        return {key: whole[key] for key in dict.fromkeys([*sound, *whole]) if key in whole}

    def _define(self, name: str, place: _Place) -> None:
        self._names[id(place[0])] = name
        self._open.append((name, place))

    def _value(self, value: JsonValue, around: tuple[JsonObject, ...]) -> JsonValue:
        if isinstance(value, list):
            return [self._value(each, around) for each in value]
        return self._object(value, (value, *around)) if isinstance(value, dict) else value

    def _object(self, schema: JsonObject, around: tuple[JsonObject, ...]) -> JsonObject:
        found: JsonObject = {}
        for key, item in schema.items():
            if key in _DEFINITIONS:
                continue
            if key == "$ref":
                address = self._address(str(item), around)
                found |= {key: address} if address else {}
            elif key in BY_NAME and isinstance(item, dict):
                found[key] = {name: self._value(each, around) for name, each in item.items()}
            else:
                found[key] = item if key in DATA else self._value(item, around)
        return found

    def _address(self, address: str, around: Sequence[JsonObject]) -> str | None:
        """Return the address of a definition for what a reference means; None if it leads nowhere."""
        for root in (self._root, *around):
            place = _at(root, address)
            if place is None or target(root, address) is None:
                continue
            found, outer = place
            if found is self._root:
                return "#"
            if id(found) not in self._names:
                self._define(self._free_name(address), (found, (*outer, *around)))
            return f"#/$defs/{self._names[id(found)]}"
        return None

    def _free_name(self, address: str) -> str:
        name = _UNFIT.sub("_", unquote(address).rpartition("/")[2]) or "part"
        numbered = chain([name], (f"{name}_{number}" for number in count(2)))
        return next(each for each in numbered if each not in self._names.values())


def _at(root: JsonObject, address: str) -> _Place | None:
    """Return the schema at an address of a document, and the schemas around it."""
    start, *steps = unquote(address).split("/")
    found: JsonValue = root if start == "#" else None
    around: list[JsonObject] = []
    for step in steps:
        key = step.replace("~1", "/").replace("~0", "~")
        if isinstance(found, list) and key.isascii() and key.isdigit():
            found = found[int(key)] if int(key) < len(found) else None
        elif isinstance(found, dict):
            around.insert(0, found)
            found = found.get(key)
        else:
            found = None
    return (found, tuple(around)) if isinstance(found, dict) else None
