"""The JSON schema of a server's tool: shown to the model without what is not needed, and held against its arguments."""

from collections.abc import Iterator, Mapping

from jsonschema import Draft202012Validator, SchemaError
from jsonschema.validators import validator_for
from pydantic import JsonValue
from referencing import Registry
from referencing.exceptions import Unresolvable

from agent_core.mcp.words import plain
from agent_core.messages import JsonObject, clean_json

MOST_PROBLEMS = 3
_WORDS = frozenset({"description", "title", "$comment"})
_UNSHOWN = frozenset({"title", "$comment", "$schema", "$id", "examples"})
_UNCHECKED = frozenset({"pattern", "patternProperties", "format"})
"""Expressions of the server's making, which may take for ever on a text of the model's; the server checks these."""


class Schema:
    """One tool's arguments."""

    def __init__(self, schema: Mapping[str, object]) -> None:
        given = clean_json(dict(schema))
        whole: dict[str, JsonValue] = {"type": "object", "properties": {}}
        whole.update(given if isinstance(given, dict) else {})
        if not isinstance(whole.get("$schema", ""), str):
            del whole["$schema"]
        shown = _shown(whole)
        self.shown: JsonObject = shown if isinstance(shown, dict) else whole
        """What the model is told."""
        checked = _checked(whole)
        kind = validator_for(whole, default=Draft202012Validator)
        # With a registry of its own, nothing that the schema refers to is ever fetched.
        self._validator = kind(checked, registry=Registry())

    def problems(self, arguments: JsonObject) -> list[str]:
        """What does not fit, each with its path, at most three. A schema that is none fits all: the server decides."""
        try:
            return list(self._problems(arguments))[:MOST_PROBLEMS]
        except (SchemaError, Unresolvable, ValueError, TypeError, LookupError, AttributeError, RecursionError):
            return []

    def _problems(self, arguments: JsonObject) -> Iterator[str]:
        for error in self._validator.iter_errors(arguments):
            path = ".".join(str(part) for part in error.absolute_path)
            yield f"{path}: {plain(error.message, 100)}" if path else plain(error.message, 100)


def _shown(value: JsonValue, *, names: bool = False) -> JsonValue:
    """`names`: the keys are names of arguments, not words of the schema."""
    if isinstance(value, list):
        return [_shown(item) for item in value]
    if not isinstance(value, dict):
        return value
    if names:
        return {key: _shown(item) for key, item in value.items()}
    return {
        key: plain(item)
        if key in _WORDS and isinstance(item, str)
        else _shown(item, names=key in ("properties", "$defs"))
        for key, item in value.items()
        if key not in _UNSHOWN or isinstance(item, dict)
    }


def _checked(value: JsonValue, *, names: bool = False) -> JsonValue:
    if isinstance(value, list):
        return [_checked(item) for item in value]
    if not isinstance(value, dict):
        return value
    if names:
        return {key: _checked(item) for key, item in value.items()}
    # What other arguments there may be depends on the patterns, too.
    left_out = _UNCHECKED | ({"additionalProperties"} if "patternProperties" in value else frozenset())
    return {
        key: item if key in ("const", "enum") else _checked(item, names=key in ("properties", "$defs"))
        for key, item in value.items()
        if key not in left_out
    }
