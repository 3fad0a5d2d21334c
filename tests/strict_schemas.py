"""What providers check of the schemas of tools, as their refusals tell it."""

import re
from collections.abc import Iterator

from jsonschema import Draft202012Validator
from pydantic import JsonValue

from agent_core.messages import JsonObject
from agent_core.tools.schema_keywords import BY_NAME, DATA

ROOTLESS = ("oneOf", "anyOf", "allOf", "enum", "not")
LARGEST = 2**64
LOOKS_AROUND = re.compile(r"\(\?(?:<?[=!]|P?[<=>])")
KEY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")


def refusals(schema: JsonObject) -> list[str]:
    """Return the sentences with which OpenAI or Anthropic would refuse this schema."""
    found = [error.message for error in Draft202012Validator(Draft202012Validator.META_SCHEMA).iter_errors(schema)]
    if schema.get("type") != "object":
        found.append(f"schema must be a JSON Schema of 'type: \"object\"', got {schema.get('type')!r}")
    found += [f"schema must not have {key!r} at the top level" for key in ROOTLESS if key in schema]
    for part in _parts(schema):
        kind = part.get("type")
        if "array" in (kind if isinstance(kind, list) else [kind]) and not isinstance(part.get("items"), dict):
            found.append("array schema missing items")
        for choice in [*_choices(part), *([part["const"]] if "const" in part else [])]:
            if kind and not Draft202012Validator({"type": kind}).is_valid(choice) and choice is not None:
                found.append(f"enum value {choice!r} does not validate against {kind!r}")
        found += [f"number out of range: {key}" for key, bound in part.items() if _is_too_large(bound)]
        if "pattern" in part:
            found += _not_read(part["pattern"])
        if isinstance(address := part.get("$ref"), str):
            found += _leads_nowhere(schema, address)
        properties = part.get("properties")
        if isinstance(properties, dict) and not all(KEY.fullmatch(key) for key in properties):
            found.append("Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'")
    return found


def _choices(part: JsonObject) -> list[JsonValue]:
    choices = part.get("enum")
    return choices if isinstance(choices, list) else []


def _is_too_large(bound: JsonValue) -> bool:
    return isinstance(bound, int | float) and abs(bound) >= LARGEST


def _not_read(pattern: JsonValue) -> list[str]:
    if LOOKS_AROUND.search(str(pattern)):
        return ["Invalid JSON schema: regex lookaround is not supported"]
    try:
        re.compile(str(pattern))
    except re.error:
        return [f"{pattern!r} is not a 'regex'"]
    return []


def _parts(value: JsonValue, *, names: bool = False) -> Iterator[JsonObject]:
    """Yield the schema and those in it."""
    if isinstance(value, list):
        for each in value:
            yield from _parts(each)
    elif isinstance(value, dict):
        if not names:
            yield value
        for key, item in value.items():
            if names or key not in DATA:
                yield from _parts(item, names=key in BY_NAME and not names)


def _leads_nowhere(root: JsonObject, address: str) -> list[str]:
    known = root.get("$defs")
    if address == "#":
        return []
    if not address.startswith("#/$defs/"):
        return ["references must start with #/$defs/"]
    if address.removeprefix("#/$defs/") not in (known if isinstance(known, dict) else {}):
        return [f"reference {address!r} can not be resolved"]
    return []
