"""The JSON schema of an MCP tool: reduced for the model, and used to validate arguments."""

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
"""Regular expressions of the server can take exponential time on the model's text; the server checks these itself."""


class Schema:
    """The schema of one tool's arguments."""

    def __init__(self, schema: Mapping[str, object]) -> None:
        given = clean_json(dict(schema))
        whole: dict[str, JsonValue] = {"type": "object", "properties": {}}
        whole.update(given if isinstance(given, dict) else {})
        if not isinstance(whole.get("$schema", ""), str):
            del whole["$schema"]
        shown = _shown(whole)
        self.shown: JsonObject = shown if isinstance(shown, dict) else whole
        """The schema as the model sees it."""
        checked = _checked(whole)
        kind = validator_for(whole, default=Draft202012Validator)
        # An empty registry, so that references in the schema are never fetched.
        self._validator = kind(checked, registry=Registry())

    def problems(self, arguments: JsonObject) -> list[str]:
        """Return at most three validation errors with their paths. An invalid schema accepts everything: the server
        decides."""
        try:
            return list(self._problems(arguments))[:MOST_PROBLEMS]
        except (SchemaError, Unresolvable, ValueError, TypeError, LookupError, AttributeError, RecursionError):
            return []

    def _problems(self, arguments: JsonObject) -> Iterator[str]:
        for error in self._validator.iter_errors(arguments):
            path = ".".join(str(part) for part in error.absolute_path)
            yield f"{path}: {plain(error.message, 100)}" if path else plain(error.message, 100)


def _shown(value: JsonValue, *, names: bool = False) -> JsonValue:
    """Return the schema for the model. `names` is True if the keys are argument names, not schema keywords."""
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
    # Additional properties cannot be checked without the patterns.
    left_out = _UNCHECKED | ({"additionalProperties"} if "patternProperties" in value else frozenset())
    return {
        key: item if key in ("const", "enum") else _checked(item, names=key in ("properties", "$defs"))
        for key, item in value.items()
        if key not in left_out
    }
