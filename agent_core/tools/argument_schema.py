"""Makes the schema of a tool's arguments one that every provider takes.

Providers refuse a whole request for one schema of it: unless its root is a plain object, or if anything in it is not as
JSON schema wants it. `mended` returns what is sound unchanged, and otherwise allows rather more values than fewer, as
whoever runs the tool checks its arguments, too.
"""

from collections.abc import Iterable
from typing import Literal

from pydantic import JsonValue

from agent_core.messages import JsonObject
from agent_core.tools.schema_keywords import schema
from agent_core.tools.schema_names import by_place
from agent_core.tools.schema_references import target, with_definitions

DEEPEST = 40
"""Levels of objects and lists in each other; what people write has less than twenty."""
_BRANCHES = ("anyOf", "oneOf")
_NOT_AT_THE_ROOT = frozenset(
    ("$ref", "allOf", *_BRANCHES, "enum", "const", "not", "if", "then", "else", "dependentRequired", "dependentSchemas")
)


class UnusableSchema(ValueError):
    """A schema that cannot be mended; `why` is the reason."""

    def __init__(self, why: Literal["not_object", "too_deep", "invalid"]) -> None:
        super().__init__(why)
        self.why = why


def mended(given: JsonValue) -> JsonObject:
    """Return a sound schema of an object. Raises UnusableSchema.

    What stands for "no arguments" is an empty object: null, true, an empty list as PHP writes it. Alternatives at the
    root become one object with the properties of all.
    """
    if given in (None, [], True, ""):
        given = {}
    if not isinstance(given, dict):
        raise UnusableSchema("not_object")
    if _deeper_than(given, DEEPEST):
        raise UnusableSchema("too_deep")
    whole = schema(by_place(given))
    flat = _Merged(whole).of(whole)
    kinds = flat.get("type", "object")
    if "object" not in (kinds if isinstance(kinds, list) else [kinds]) and not flat.get("properties"):
        raise UnusableSchema("not_object")
    sound: JsonObject = {"type": "object", "properties": {}}
    sound.update(flat)
    sound["type"] = "object"
    return with_definitions(sound, whole)


def _deeper_than(value: JsonValue, levels: int) -> bool:
    layer: list[JsonValue] = [value]
    for _ in range(levels):
        layer = [inner for each in layer for inner in _inner(each)]
        if not layer:
            return False
    return True


def _inner(value: JsonValue) -> Iterable[JsonValue]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


class _Merged:
    """Schemas of a document as single objects, without references and alternatives at their own root."""

    def __init__(self, root: JsonObject) -> None:
        self._root = root
        self._done: dict[str, JsonObject] = {}

    def of(self, part: JsonObject) -> JsonObject:
        whole = {key: item for key, item in part.items() if key not in _NOT_AT_THE_ROOT}
        if isinstance(address := part.get("$ref"), str):
            whole = _both(whole, self._referred(address))
        for each in _objects(part.get("allOf")):
            whole = _both(whole, self.of(each))
        for key in _BRANCHES:
            if branches := [self.of(each) for each in _objects(part.get(key))]:
                whole = _both(whole, _either(branches))
        return whole

    def _referred(self, address: str) -> JsonObject:
        if address not in self._done:
            self._done[address] = {}  # what refers to itself adds nothing
            meant = target(self._root, address)
            self._done[address] = self.of(meant) if meant is not None else {}
        return self._done[address]


def _objects(value: JsonValue) -> list[JsonObject]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _both(one: JsonObject, other: JsonObject) -> JsonObject:
    """Return a schema for what fits both, roughly: it may forbid no property that one of them describes."""
    whole = other | one
    mine, its = _properties(one), _properties(other)
    if mine and its:
        shared = {name: _combined("allOf", [mine[name], its[name]]) for name in mine if name in its}
        whole["properties"] = mine | its | shared
        if one.get("additionalProperties") != other.get("additionalProperties"):
            whole.pop("additionalProperties", None)
    if needed := list(dict.fromkeys([*_required(one), *_required(other)])):
        whole["required"] = list(needed)
    return whole


def _either(branches: list[JsonObject]) -> JsonObject:
    """Return a schema for what fits any of these: with the properties of all, and those required that all require."""
    found: dict[str, list[JsonValue]] = {}
    for each in branches:
        for name, described in _properties(each).items():
            found.setdefault(name, []).append(described)
    whole: JsonObject = {"properties": {name: _combined("anyOf", parts) for name, parts in found.items()}}
    needed = [name for name in _required(branches[0]) if all(name in _required(each) for each in branches)]
    if needed:
        whole["required"] = list(needed)
    kinds = {str(each["type"]) for each in branches if "type" in each}
    if len(kinds) == 1 and all("type" in each for each in branches):
        whole["type"] = branches[0]["type"]
    return whole


def _combined(how: str, parts: list[JsonValue]) -> JsonValue:
    distinct: list[JsonValue] = []
    for each in parts:
        if each not in distinct:
            distinct.append(each)
    return distinct[0] if len(distinct) == 1 else {how: distinct}


def _properties(whole: JsonObject) -> JsonObject:
    found = whole.get("properties")
    return found if isinstance(found, dict) else {}


def _required(whole: JsonObject) -> list[str]:
    found = whole.get("required")
    return [each for each in found if isinstance(each, str)] if isinstance(found, list) else []
