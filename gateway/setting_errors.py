"""What is wrong with a setting, as one sentence that names the place and the fix."""

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from gateway.errors import SettingsError
from gateway.setting_sources import Key, Layer, Names

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
"""By pydantic's kind of error."""


def refused(error: ValidationError, layer: Layer, names: Names, *prefix: str) -> SettingsError:
    """The first error, placed where the value stood. `prefix`: where the model that refused stands in the settings."""
    first = error.errors(include_url=False, include_input=False)[0]
    beside = next((entry.place for entry in layer.values()), "the others")
    if not first["loc"]:  # about several settings together, in words of its own
        return SettingsError(f"Beside {beside}: {_words(first)}.")
    key: Key = (*prefix, *(str(part) for part in first["loc"]))
    entry = next((layer[key[:length]] for length in range(len(key), 0, -1) if key[:length] in layer), None)
    if entry is not None:
        words = _words(first)
        return SettingsError(f"{entry.place} {words}{'' if words.endswith('?') else '.'}")
    missing = next((name for name, setting in names.flat.items() if setting == key[:2]), ".".join(key))
    return SettingsError(f"{missing} is missing beside {beside}; set it too, or take that out.")


def _words(error: ErrorDetails) -> str:
    """What a value must be, and never the value itself, which may be a secret."""
    words = _WORDS.get(error["type"])
    if words is None:
        return f"cannot be used: {error['msg'][0].lower()}{error['msg'][1:]}"
    return words.format_map(error.get("ctx", {}))
