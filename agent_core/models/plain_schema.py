"""Schemas of tools in the part of JSON schema that Gemini's and Kimi's models take.

Gemini's know one type at a time, no references, and none of the keywords that are not named here; one other keyword
fails the whole request. Kimi's want a type everywhere, none beside alternatives and references, and the latter without
circles; see MoonshotAI/walle. What cannot be said is told in the description, or left to whoever runs the tool.
"""

from collections.abc import Callable, Iterator

from pydantic import JsonValue

from agent_core.messages import JsonObject

MOST_PARTS = 500
"""Schemas in a schema once references are written out; those beyond allow any text."""
DEEPEST = 8
MOST_CHARS = 60_000
"""Characters of such a schema."""
MOST_CHOICES = 250
"""Values that an argument can be chosen from; with more, any text is allowed."""
_READERS = ("gemini", "kimi", "moonshot")
_KEPT = ("description", "minimum", "maximum", "minItems", "maxItems", "minLength", "maxLength", "pattern")
_FORMATS = frozenset({"date-time", "double", "enum", "float", "int32", "int64"})
_TEXT: JsonObject = {"type": "string"}


def wants_plain_schemas(model: str) -> bool:
    """Return True for the name of a model that takes no others."""
    return any(each in model.lower() for each in _READERS)


def plain_schema(schema: JsonObject) -> JsonObject:
    """Return the schema of a tool's arguments, which is a sound one of an object."""
    whole = _object(schema, _Plain(schema).of, 0)
    if len(str(whole)) > MOST_CHARS:  # references written out again and again
        whole = _object(schema, lambda *_: _TEXT, 0)
    return {"type": "object", **whole}


def _object(whole: JsonObject, inner: Callable[[JsonObject, int], JsonObject], depth: int) -> JsonObject:
    """Return the properties of an object, and those that it needs."""
    properties: JsonObject = {}
    for name, each in _objects(whole.get("properties")):
        properties[name] = inner(each, depth + 1)
    needed: list[JsonValue] = [
        each for each in _list(whole.get("required")) if isinstance(each, str) and each in properties
    ]
    return _without_nothing({"properties": properties, "required": needed})


class _Plain:
    def __init__(self, root: JsonObject) -> None:
        self._root = root
        self._left = MOST_PARTS

    def of(self, given: JsonObject, depth: int) -> JsonObject:
        """Return a schema in the form that such models take."""
        self._left -= 1
        if self._left < 0 or depth > DEEPEST:
            return _TEXT
        whole = _joined(self._root, given)
        is_nullable, kinds = _kinds(whole)
        branches = [each for each in _list(whole.get("anyOf") or whole.get("oneOf")) if isinstance(each, dict)]
        real = [each for each in branches if each.get("type") != "null"]
        is_nullable |= len(real) < len(branches)
        if len(real) == 1:
            plain = self.of({**{key: whole[key] for key in ("description",) if key in whole}, **real[0]}, depth)
        elif real:
            plain = {"anyOf": [self.of(each, depth + 1) for each in real]}
        elif len(kinds) > 1:
            plain = {"anyOf": [self.of({**whole, "type": kind}, depth) for kind in kinds]}
        else:
            plain = self._of_kind(whole, kinds[0] if kinds else _kind(whole), depth)
        return {**plain, "nullable": True} if is_nullable and "anyOf" not in plain else plain

    def _of_kind(self, whole: JsonObject, kind: str, depth: int) -> JsonObject:
        plain: JsonObject = {"type": kind, **{key: whole[key] for key in _KEPT if key in whole}}
        choices = _list(whole.get("enum")) or ([whole["const"]] if "const" in whole else [])
        if len(choices) > MOST_CHOICES:
            choices = []
        if kind == "string" and choices:
            plain["enum"] = [each for each in choices if isinstance(each, str) and each]
        elif choices:
            told = f"{whole.get('description', '')} One of: {', '.join(map(str, choices))}."
            plain["description"] = told.strip()
        if whole.get("format") in _FORMATS:
            plain["format"] = whole["format"]
        if kind == "array":
            items = whole.get("items")
            plain["items"] = self.of(items, depth + 1) if isinstance(items, dict) and items else _TEXT
        if kind == "object":
            plain |= _object(whole, self.of, depth)
        return _without_nothing(plain)


def _joined(root: JsonObject, given: JsonObject) -> JsonObject:
    """Return a schema with what it refers to, and all of its parts."""
    whole, seen = dict(given), 0
    while seen < DEEPEST and (isinstance(whole.get("$ref"), str) or isinstance(whole.get("allOf"), list)):
        seen += 1
        address, parts = whole.pop("$ref", None), _list(whole.pop("allOf", None))
        for part in [_at(root, str(address)) if address else None, *parts]:
            if isinstance(part, dict):
                inner: JsonObject = {}
                inner.update(_objects(part.get("properties")))
                inner.update(_objects(whole.get("properties")))
                needed = list(dict.fromkeys([*_list(whole.get("required")), *_list(part.get("required"))]))
                whole = {**part, **whole} | ({"properties": inner} if inner else {})
                whole |= {"required": needed} if needed else {}
    return whole


def _at(root: JsonObject, address: str) -> JsonValue:
    found: JsonValue = root
    for step in address.split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        found = found.get(key) if isinstance(found, dict) else None
    return found


def _kinds(whole: JsonObject) -> tuple[bool, list[str]]:
    """Return whether null is allowed, and the types besides."""
    given = whole.get("type")
    kinds = [str(each) for each in (given if isinstance(given, list) else [given] if given else [])]
    return "null" in kinds or whole.get("nullable") is True, [each for each in kinds if each != "null"]


def _kind(whole: JsonObject) -> str:
    """Return the type of a schema that tells none."""
    if "properties" in whole or "additionalProperties" in whole:
        return "object"
    if "items" in whole:
        return "array"
    choices = _list(whole.get("enum")) or [whole.get("const")]
    numbers = all(isinstance(each, int | float) and not isinstance(each, bool) for each in choices)
    return "boolean" if all(isinstance(each, bool) for each in choices) else "number" if numbers else "string"


def _objects(value: JsonValue) -> Iterator[tuple[str, JsonObject]]:
    if isinstance(value, dict):
        yield from ((name, each) for name, each in value.items() if isinstance(each, dict))


def _list(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []


def _without_nothing(plain: JsonObject) -> JsonObject:
    return {key: item for key, item in plain.items() if item not in ([], {}, "")}
