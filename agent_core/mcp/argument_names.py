"""Names of arguments that every provider takes, in place of those such as `$filter` or `required` that some refuse."""

import hashlib
import re
from collections.abc import Iterator, Mapping

from pydantic import JsonValue

from agent_core.messages import JsonObject
from agent_core.tools.schema_keywords import BY_NAME, DATA

LONGEST = 64
"""Characters; a limit of Anthropic's."""
_PLAIN = re.compile(rf"[a-zA-Z0-9_.-]{{1,{LONGEST}}}")
_UNFIT = re.compile(r"[^a-zA-Z0-9_.-]")
_KEYWORDS = frozenset({"additionalProperties", "anyOf", "required"})
"""Kimi's models take no arguments with these names."""
_LISTS = frozenset({"required", "dependentRequired"})


def with_plain_names(schema: JsonObject) -> tuple[Mapping[str, str], JsonObject]:
    """Return the schema with plain names of arguments, at every depth, and the original of each one that was changed.

    No other argument of the schema has the new name, so a name means the same everywhere in the arguments of a call.
    """
    names = set(_names(schema))
    plain: dict[str, str] = {}
    for name in sorted(name for name in names if name in _KEYWORDS or not _PLAIN.fullmatch(name)):
        short = f"{name}_" if name in _KEYWORDS else _UNFIT.sub("_", name)[:LONGEST]
        if not short or short in names:
            checksum = hashlib.sha256(name.encode(errors="replace")).hexdigest()[:8]
            short = f"{short[: LONGEST - 9]}_{checksum}"
        names.add(short)
        plain[name] = short
    renamed = _renamed(schema, plain) if plain else schema
    return {short: name for name, short in plain.items()}, renamed if isinstance(renamed, dict) else schema


def restored(arguments: JsonObject, originals: Mapping[str, str]) -> JsonObject:
    """Return the arguments of a call under their original names."""
    found = _restored(arguments, originals) if originals else arguments
    return found if isinstance(found, dict) else arguments


def _restored(value: JsonValue, originals: Mapping[str, str]) -> JsonValue:
    if isinstance(value, list):
        return [_restored(each, originals) for each in value]
    if isinstance(value, dict):
        return {originals.get(key, key): _restored(each, originals) for key, each in value.items()}
    return value


def _names(value: JsonValue, *, names: bool = False) -> Iterator[str]:
    if isinstance(value, list):
        for each in value:
            yield from _names(each)
    elif isinstance(value, dict):
        for key, item in value.items():
            inner = item.keys() if key == "properties" and not names and isinstance(item, dict) else ()
            yield from inner
            if names or key not in DATA:
                yield from _names(item, names=key in BY_NAME and not names)


def _renamed(value: JsonValue, plain: Mapping[str, str], *, names: str = "") -> JsonValue:
    """Return the schema with other names. `names` is the keyword whose names the keys are."""
    if isinstance(value, list):
        return [_renamed(each, plain) for each in value]
    if not isinstance(value, dict):
        return value
    if names:
        known = plain if names in ("properties", "dependentSchemas") else {}
        return {known.get(key, key): _renamed(item, plain) for key, item in value.items()}
    return {key: _keyword(key, item, plain) for key, item in value.items()}


def _keyword(key: str, item: JsonValue, plain: Mapping[str, str]) -> JsonValue:
    if key in DATA:
        return item
    if key in _LISTS:
        return _all_renamed(item, plain)
    return _renamed(item, plain, names=key if key in BY_NAME else "")


def _all_renamed(value: JsonValue, plain: Mapping[str, str]) -> JsonValue:
    """Return names as they are called now, in a list or as keys with lists."""
    if isinstance(value, list):
        return [_all_renamed(each, plain) for each in value]
    if isinstance(value, dict):
        return {plain.get(key, key): _all_renamed(each, plain) for key, each in value.items()}
    return plain.get(value, value) if isinstance(value, str) else value
