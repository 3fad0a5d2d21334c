"""Mends the keywords of JSON schemas, at every depth.

What is sound stays as it is. What is not, and has one plain meaning, gets the form of draft 2020-12 for it: other names
of types, a single value for a list, bounds of draft 4, tuples. Anything else is left out, which allows more values.
"""

import re
import warnings
from collections.abc import Callable, Mapping
from itertools import chain

from pydantic import JsonValue

from agent_core.late_pattern import LatePattern
from agent_core.messages import JsonObject

TYPES = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})
_OTHER_NAMES: Mapping[str, str] = {
    **dict.fromkeys(("bool",), "boolean"),
    **dict.fromkeys(("int", "int32", "int64", "long"), "integer"),
    **dict.fromkeys(("decimal", "double", "float"), "number"),
    **dict.fromkeys(("dict", "json", "map", "record"), "object"),
    **dict.fromkeys(("list", "set", "tuple"), "array"),
    **dict.fromkeys(("none", "undefined"), "null"),
    **dict.fromkeys(("date", "date-time", "datetime", "email", "str", "text", "uri", "url", "uuid"), "string"),
}
_KINDS: Mapping[type, set[str]] = {
    bool: {"boolean"},
    int: {"integer", "number"},
    float: {"number"},
    str: {"string"},
    list: {"array"},
    dict: {"object"},
    type(None): {"null"},
}
"""The types of a value."""
DATA = frozenset({"const", "default", "enum", "example", "examples"})
"""Keywords whose values are values of arguments, not schemas."""
BY_NAME = frozenset({"$defs", "definitions", "dependentSchemas", "patternProperties", "properties"})
"""Keywords whose keys are names, and whose values are schemas."""
_DROPPED = frozenset(
    ("$anchor", "$dynamicAnchor", "$dynamicRef", "$id", "$recursiveAnchor", "$recursiveRef", "$schema", "$vocabulary")
) | {"additionalItems", "id"}
_LARGEST = 2**64
"""Bounds from here on say nothing, and many readers of JSON take no such number."""
_PLAIN_ESCAPE = LatePattern(r"\\[^1-9kAZzG]")
_SOME_READ = LatePattern(r"\\[1-9kAZzG]|\(\?(?!:)|\[[^\]]*\[|[*+?}]\+")
"""Of patterns: what only some languages read, as lookarounds, references back, and a bare bracket in a class. A model's
server compiles the patterns of all tools, and fails for one."""
_Mend = Callable[[JsonValue], JsonValue]
"""Returns None for what has no meaning."""


def schema(value: JsonValue) -> JsonObject:
    """Return a schema with sound keywords; for what is no schema at all one that allows everything."""
    match value:
        case str():
            kind = _type(value)
            return {"type": kind} if kind else {"description": value}
        case False:
            return {"not": {}}
        case dict():
            return _mended(value)
        case list() if (kind := _type(value)) is not None:
            return {"type": kind}
        case _:
            return {}


def _mended(given: JsonObject) -> JsonObject:
    whole = _with_bounds(given)
    listed, needed = _listed(whole.get("properties"))
    if "properties" in whole:
        whole["properties"] = listed
    members, is_closed = _members(whole)
    mended: JsonObject = {}
    for key, item in whole.items():
        if key in _DROPPED:
            continue
        kept = item if key not in _KEYWORDS else _KEYWORDS[key](item)
        if kept is not None or (key not in _KEYWORDS or key in ("const", "default")):
            mended[key] = kept
    if needed:
        named = mended.get("required", [])
        mended["required"] = list(dict.fromkeys([*(named if isinstance(named, list) else []), *needed]))
    if members:
        mended["items"] = members[0] if len(members) == 1 else {"anyOf": list(members)}
        if is_closed:
            mended.setdefault("maxItems", is_closed)
    elif "array" in _names(mended.get("type")):
        mended.setdefault("items", {})
    return _with_fitting_choices(mended)


def _with_fitting_choices(mended: JsonObject) -> JsonObject:
    """Drop choices that the type rules out; those for the members of a list go to them."""
    kinds = {str(each) for each in _names(mended.get("type"))} - {"None"}
    choices = mended.get("enum")
    if not kinds:
        return mended
    if mended.get("nullable") is True:
        kinds.add("null")
    if "const" in mended and not kinds & _kinds_of(mended["const"]):
        del mended["const"]
    if isinstance(choices, list):
        del mended["enum"]
        members = mended.get("items")
        if fitting := [each for each in choices if kinds & _kinds_of(each)]:
            mended["enum"] = fitting
        elif isinstance(members, dict) and "array" in kinds:
            mended["items"] = schema({"enum": choices, **members})
    return mended


def _kinds_of(value: JsonValue) -> set[str]:
    if isinstance(value, float) and value.is_integer():
        return {"integer", "number"}
    return _KINDS[type(value)]


def _names(kind: JsonValue) -> list[JsonValue]:
    return kind if isinstance(kind, list) else [kind]


def _with_bounds(given: JsonObject) -> JsonObject:
    """Return a copy in which a bound of draft 4, `minimum` and `exclusiveMinimum: true`, is one number."""
    whole = dict(given)
    for exclusive, bound in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        flag = whole.get(exclusive)
        if isinstance(flag, bool):
            del whole[exclusive]
            if flag and bound in whole:
                whole[exclusive] = whole.pop(bound)
    return whole


def _listed(properties: JsonValue) -> tuple[JsonValue, list[JsonValue]]:
    """Return the properties by name, and those that say themselves that they are required."""
    if isinstance(properties, list):
        found = {_name_of(each): each for each in properties}
        properties = {name: {} if isinstance(each, str) else each for name, each in found.items() if name}
    if not isinstance(properties, dict):
        return {}, []
    own = {name: each for name, each in properties.items() if isinstance(each, dict) and "required" in each}
    return properties, [name for name, each in own.items() if each["required"] is True]


def _name_of(item: JsonValue) -> str:
    name = item.get("name") if isinstance(item, dict) else item
    return name if isinstance(name, str) else ""


def _members(whole: JsonObject) -> tuple[list[JsonValue], int]:
    """Take the tuple out of a schema: the distinct schemas of its members, and their number if no more are allowed."""
    items, rest = whole.get("items"), whole.get("additionalItems")
    given = whole.pop("prefixItems", None)
    if isinstance(items, list):
        given = whole.pop("items")
    else:
        rest = items
    if not isinstance(given, list):
        return [], 0
    more = [rest] if isinstance(rest, dict) else []
    members: list[JsonValue] = []
    for each in (schema(each) for each in chain(given, more)):
        if each not in members:
            members.append(each)
    return members, len(given) if rest is False else 0


def _type(value: JsonValue) -> JsonValue:
    """Return the type or types; None if any of them is unknown, as anything may be meant then."""
    known: list[JsonValue] = []
    for each in _names(value):
        name = _OTHER_NAMES.get(each.lower(), each.lower()) if isinstance(each, str) else ""
        if name not in TYPES:
            return None
        if name not in known:
            known.append(name)
    return (known or None) if isinstance(value, list) else known[0]


def _number(value: JsonValue) -> JsonValue:
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if abs(value) < _LARGEST else None


def _step(value: JsonValue) -> JsonValue:
    number = _number(value)
    return number if isinstance(number, int | float) and number > 0 else None


def _count(value: JsonValue) -> JsonValue:
    number = _number(value)
    return int(number) if isinstance(number, int | float) and number >= 0 and number == int(number) else None


def _text(value: JsonValue) -> JsonValue:
    return value if isinstance(value, str) else None


def _flag(value: JsonValue) -> JsonValue:
    return value if isinstance(value, bool) else None


def _pattern(value: JsonValue) -> JsonValue:
    """Return a pattern that Python and the engines of model servers can read."""
    if not isinstance(value, str) or _SOME_READ.search(_PLAIN_ESCAPE.sub("", value)):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(value)
    except (re.error, OverflowError, RecursionError):
        return None
    return value


def _strings(value: JsonValue) -> JsonValue:
    if isinstance(value, str):
        return [value]
    return list(dict.fromkeys(each for each in value if isinstance(each, str))) if isinstance(value, list) else None


def _choices(value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        value = list(value.values())
    elif not isinstance(value, list):
        value = [value]
    distinct: list[JsonValue] = []
    for each in value:
        if each not in distinct or any(type(each) is not type(other) for other in distinct if other == each):
            distinct.append(each)
    return distinct or None


def _open_or_schema(value: JsonValue) -> JsonValue:
    return value if isinstance(value, bool) else schema(value) if isinstance(value, dict) else None


def _one(value: JsonValue) -> JsonValue:
    return None if value is None else schema(value)


def _several(value: JsonValue) -> JsonValue:
    given = [value] if isinstance(value, dict) else value
    return [schema(each) for each in given] or None if isinstance(given, list) else None


def _by_name(value: JsonValue) -> JsonValue:
    return {name: schema(each) for name, each in value.items()} if isinstance(value, dict) else None


def _properties(value: JsonValue) -> JsonValue:
    if not isinstance(value, dict):
        return {}
    return {name: schema(_without_flag(each)) for name, each in value.items() if each is not False}


def _without_flag(value: JsonValue) -> JsonValue:
    """Drop `required: true` of draft 3, which belongs to the schema around a property."""
    if isinstance(value, dict) and isinstance(value.get("required"), bool):
        return {key: item for key, item in value.items() if key != "required"}
    return value


def _patterns(value: JsonValue) -> JsonValue:
    if not isinstance(value, dict):
        return None
    return {name: schema(each) for name, each in value.items() if _pattern(name) is not None}


def _lists_by_name(value: JsonValue) -> JsonValue:
    if not isinstance(value, dict):
        return None
    return {name: _strings(each) or [] for name, each in value.items()}


def _nothing(_: JsonValue) -> JsonValue:
    return None


def _as_is(value: JsonValue) -> JsonValue:
    return value


_KEYWORDS: Mapping[str, _Mend] = {
    "type": _type,
    "enum": _choices,
    "properties": _properties,
    "required": _strings,
    "pattern": _pattern,
    "patternProperties": _patterns,
    "dependentRequired": _lists_by_name,
    "dependencies": _nothing,
    "multipleOf": _step,
    "const": _as_is,
    "default": _as_is,
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _number),
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems", "minContains", "maxContains"), _count),
    **dict.fromkeys(("minProperties", "maxProperties"), _count),
    **dict.fromkeys(("$comment", "$ref", "description", "format", "title"), _text),
    **dict.fromkeys(("contentEncoding", "contentMediaType"), _text),
    **dict.fromkeys(("deprecated", "nullable", "readOnly", "uniqueItems", "writeOnly"), _flag),
    **dict.fromkeys(("additionalProperties", "unevaluatedItems", "unevaluatedProperties"), _open_or_schema),
    **dict.fromkeys(("contains", "contentSchema", "else", "if", "items", "not", "propertyNames", "then"), _one),
    **dict.fromkeys(("allOf", "anyOf", "oneOf"), _several),
    **dict.fromkeys(("$defs", "definitions", "dependentSchemas"), _by_name),
}
