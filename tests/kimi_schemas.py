"""Moonshot's checks of the schemas of tools, as MoonshotAI/walle documents it and its refusals tell it."""

from collections.abc import Iterator

from pydantic import JsonValue

from agent_core.messages import JsonObject

DEEPEST = 10
MOST_ALTERNATIVES = 100
MOST_CHOICES = 500
MANY_CHOICES = 250
MOST_CHARS_OF_MANY = 7500
RESERVED = frozenset({"$defs", "$ref", "anyOf", "required", "additionalProperties"})
TYPES = frozenset({"null", "boolean", "object", "array", "number", "integer", "string"})
BESIDE_TYPES = frozenset({"$defs", "$id", "description", "enum", "title", "type"})


def refusals_of_kimi(schema: JsonObject) -> Iterator[str]:
    """Yield the sentences with which Moonshot would refuse this schema of an object."""
    if schema.get("type") != "object":
        yield 'tools.function.parameters.type is required and must be "object"'
    for details in _checked(schema, schema, "root", 0):
        yield f"tools.function.parameters is not a valid moonshot flavored json schema, details: <{details}>"


def _checked(root: JsonObject, part: JsonObject, path: str, depth: int) -> Iterator[str]:
    if depth > DEEPEST:
        yield f"At path '{path}': schema depth exceeds maximum limit of {DEEPEST}"
        return
    yield from (f"At path '{path}': {said}" for said in _types(part))
    yield from (f"At path '{path}': {said}" for said in _reference(root, part))
    yield from (f"At path '{path}': {said}" for said in _object(part))
    yield from (f"At path '{path}': {said}" for said in _choices(part))
    for name, each, deeper in _inner(part):
        if isinstance(each, dict):
            yield from _checked(root, each, f"{path}.{name}", depth + deeper)
        else:
            yield f"At path '{path}.{name}': schema must be an object"


def _types(part: JsonObject) -> Iterator[str]:
    kind = part.get("type")
    kinds = kind if isinstance(kind, list) else [kind]
    branches = part.get("anyOf")
    if "anyOf" in part:
        if kind is not None:
            yield "when using anyOf, type should be defined in anyOf items instead of the parent schema"
        if not isinstance(branches, list) or not 1 <= len(branches) <= MOST_ALTERNATIVES:
            yield f"anyOf must have 1-{MOST_ALTERNATIVES} items"
    elif "$ref" in part:
        if kind is not None:
            yield "when using $ref, type should be defined in the referenced schema instead of the parent schema"
    elif kind is None:
        yield "type is not defined"
    elif not set(map(str, kinds)) <= TYPES or not kinds:
        yield "invalid type"
    elif len(kinds) > 1 and part.keys() - BESIDE_TYPES:
        yield f"keyword {min(part.keys() - BESIDE_TYPES)} is not allowed in combination with multiple types"


def _reference(root: JsonObject, part: JsonObject) -> Iterator[str]:
    address = part.get("$ref", "#")
    known = root.get("$defs")
    if not isinstance(address, str):
        yield "$ref must be a string"
    elif address != "#" and not address.startswith("#/$defs/"):
        yield "references must start with #/$defs/"
    elif address != "#" and address.removeprefix("#/$defs/") not in (known if isinstance(known, dict) else {}):
        yield f"$defs not found for reference: {address}"


def _object(part: JsonObject) -> Iterator[str]:
    properties, needed = part.get("properties", {}), part.get("required", [])
    if not isinstance(properties, dict) or not isinstance(needed, list):
        yield "properties must be an object, required must be an array"
        return
    for name in properties.keys() & RESERVED:
        yield f"property name '{name}' is reserved for JSON Schema keywords"
    yield from (f"required property '{each}' is not defined in properties" for each in needed if each not in properties)
    if not isinstance(part.get("description", ""), str):
        yield "description must be a string"


def _choices(part: JsonObject) -> Iterator[str]:
    choices, kind = part.get("enum"), part.get("type")
    if choices is None:
        return
    if not isinstance(choices, list) or not 1 <= len(choices) <= MOST_CHOICES:
        yield f"enum array cannot have more than {MOST_CHOICES} items"
        return
    kinds = kind if isinstance(kind, list) else [kind]
    for each in choices:
        if not any(_fits(each, str(name)) for name in kinds):
            yield f"enum value ({each}) does not match any type in {kinds}"
    length = sum(len(str(each)) for each in choices)
    if len(choices) > MANY_CHOICES and length > MOST_CHARS_OF_MANY:
        yield f"total string length of enum values ({length}) exceeds maximum limit of {MOST_CHARS_OF_MANY}"


def _fits(value: JsonValue, kind: str) -> bool:
    match value:
        case bool():
            return kind == "boolean"
        case str():
            return kind == "string"
        case int():
            return kind in ("integer", "number")
        case float():
            return kind == "number"
        case None:
            return kind == "null"
        case _:
            return False


def _inner(part: JsonObject) -> Iterator[tuple[str, JsonValue, int]]:
    """Yield the schemas in a schema, with their names and how much deeper they are."""
    properties, definitions, branches = part.get("properties"), part.get("$defs"), part.get("anyOf")
    for name, each in properties.items() if isinstance(properties, dict) else ():
        yield f"properties.{name}", each, 1
    for name, each in definitions.items() if isinstance(definitions, dict) else ():
        yield f"$defs.{name}", each, 0
    for place, each in enumerate(branches if isinstance(branches, list) else ()):
        yield f"anyOf.{place}", each, 0
    if "items" in part:
        yield "items", part["items"], 0
    if isinstance(part.get("additionalProperties"), dict) and part["additionalProperties"]:
        yield "additionalProperties", part["additionalProperties"], 0
