"""Turns pydantic validation errors into sentences that name the place and the fix."""

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from gateway.errors import SettingsError
from gateway.settings.sources import Key, Layer, Names

_WORDS = {
    "value_error": "{error}",
    "literal_error": "must be {expected}",
    "int_parsing": "must be a whole number",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "bool_parsing": "must be on or off (in TOML: true or false)",
    "bool_type": "must be on or off (in TOML: true or false)",
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
    "string_type": "must be text in quotes",
    "frozen_set_type": "must be a list",
    "tuple_type": 'must be a list of texts in quotes: ["...", "..."]',
    "mapping_type": 'must be a table: {{ NAME = "..." }}',
    "dict_type": 'must be a table: {{ NAME = "..." }}',
    "string_too_short": "must not be empty",
}
"""Message templates by pydantic error type."""


def refused(error: ValidationError, layer: Layer, names: Names, *prefix: str) -> SettingsError:
    """Return the errors as sentences that name where each value was set.

    `prefix` is the path of the failing model within the settings.
    """
    return SettingsError(*(_sentence(each, layer, names, prefix) for each in _errors(error)))


def refused_keys(error: ValidationError) -> set[Key]:
    """Return the keys of the settings whose values were refused."""
    return {tuple(str(part) for part in each["loc"]) for each in _errors(error)}


def _errors(error: ValidationError) -> list[ErrorDetails]:
    return error.errors(include_url=False, include_input=False)


def _sentence(error: ErrorDetails, layer: Layer, names: Names, prefix: tuple[str, ...]) -> str:
    beside = next((entry.place for entry in layer.values()), "the others")
    if not error["loc"]:  # an error about several settings together, with its own message
        return f"Beside {beside}: {_words(error)}."
    key: Key = (*prefix, *(str(part) for part in error["loc"]))
    entry = next((layer[key[:length]] for length in range(len(key), 0, -1) if key[:length] in layer), None)
    if entry is not None:
        words = _words(error)
        return f"{entry.place} {words}{'' if words.endswith('?') else '.'}"
    missing = next((name for name, setting in names.flat.items() if setting == key[:2]), ".".join(key))
    return f"{missing} is missing beside {beside}; set it too, or take that out."


def _words(error: ErrorDetails) -> str:
    """Return what the value must be, never the value itself, which may be a secret."""
    words = _WORDS.get(error["type"])
    if words is None:
        return f"cannot be used: {error['msg'][0].lower()}{error['msg'][1:]}"
    return words.format_map(error.get("ctx", {}))
