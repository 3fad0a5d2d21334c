"""Says the schema of a tool's arguments in lines that people can read, with all that the model reads of it."""

import json
from collections.abc import Iterator, Mapping

from pydantic import JsonValue

from agent_core.messages import JsonObject
from gateway.texts.say import Language, say
from gateway.upkeep.mcp_notices import quoted

MOST_LINES = 40
"""Lines of one tool."""
MOST_WORDS = 300
"""Characters of a name, a description or a value."""
_TOLD = frozenset(
    {"type", "properties", "items", "required", "description", "$ref", "anyOf", "oneOf", "allOf", "$defs"}
)
"""Keywords that are told in words; others are quoted."""
_EITHER = ("anyOf", "oneOf", "allOf")
_KINDS: Mapping[str, str] = {
    "string": "mcp_type_string",
    "integer": "mcp_type_integer",
    "number": "mcp_type_number",
    "boolean": "mcp_type_boolean",
    "array": "mcp_type_array",
    "object": "mcp_type_object",
    "null": "mcp_type_null",
}
"""Keys of texts."""


def schema_lines(schema: JsonObject, language: Language) -> list[str]:
    """Return a line for each argument: its name, type, description, and other keywords as they are."""
    lines = list(_Reading(schema, language).lines("", schema, is_required=False))
    more = len(lines) - MOST_LINES
    return [*lines[:MOST_LINES], *([say("mcp_more_arguments", language, count=more)] if more > 0 else ())]


class _Reading:
    """The reading of one schema. A definition is read where it is referred to first."""

    def __init__(self, whole: JsonObject, language: Language) -> None:
        defs = whole.get("$defs")
        self._defs: Mapping[str, JsonValue] = defs if isinstance(defs, dict) else {}
        self._language = language
        self._read: set[str] = set()

    def lines(self, path: str, schema: JsonObject, *, is_required: bool) -> Iterator[str]:
        """Yield the lines of the schema at a path, `filter.names[]`, which is empty for that of all arguments."""
        facts = [*self._kinds(schema), *([say("mcp_required", self._language)] if is_required else ())]
        said = [self._quoted(schema["description"])] if "description" in schema else []
        others = [each for each in schema.items() if not self._is_told(*each, schema)]
        said += [f"{self._keyword(key)} {self._quoted(value)}" for key, value in others]
        if path:
            yield " ".join(filter(None, [self._quoted(path), f"({', '.join(facts)})" if facts else "", *said]))
        elif said:
            yield " ".join(said)
        yield from self._inside(path, schema)
        for name in () if path else self._defs.keys() - self._read:  # to which nothing refers
            yield from self._child(name, self._defs[name])

    def _inside(self, path: str, schema: JsonObject) -> Iterator[str]:
        properties, required = schema.get("properties"), schema.get("required")
        names = required if isinstance(required, list) else []
        for name, each in properties.items() if isinstance(properties, dict) else ():
            yield from self._child(f"{path}.{name}" if path else name, each, is_required=name in names)
        if "items" in schema and not _is_plain(schema["items"]):
            yield from self._child(f"{path}[]", schema["items"])
        for key in _EITHER:
            branches = schema.get(key)
            for number, each in enumerate(branches if isinstance(branches, list) else (), 1):
                if not _is_plain(each):
                    yield from self._child(f"{path} #{number}", each)
        referred = str(schema.get("$ref", "")).removeprefix("#/$defs/")
        if referred in self._defs and referred not in self._read:
            self._read.add(referred)
            yield from self._child(referred, self._defs[referred])

    def _child(self, path: str, schema: JsonValue, *, is_required: bool = False) -> Iterator[str]:
        if isinstance(schema, dict):
            yield from self.lines(path, schema, is_required=is_required)
        else:  # `true` or `false`: anything, or nothing
            yield f"{self._quoted(path)} {self._quoted(schema)}"

    def _kinds(self, schema: JsonObject) -> list[str]:
        """Return the types in words, and the name of what is referred to."""
        either = [each for key in _EITHER if isinstance(branches := schema.get(key), list) for each in branches]
        given = [kind for each in (schema, *filter(_is_plain, either)) for kind in _types(each)]
        items = schema.get("items")
        kinds = [self._word(kind, items if kind == "array" and _is_plain(items) else None) for kind in given]
        referred = [self._quoted(str(schema["$ref"]).removeprefix("#/$defs/"))] if "$ref" in schema else []
        told = [*dict.fromkeys(kinds), *referred]
        return [say("mcp_or", self._language).join(told)] if told else []

    def _word(self, kind: str, items: JsonValue) -> str:
        word = say(_KINDS[kind], self._language) if kind in _KINDS else self._quoted(kind)
        inner = _types(items)
        return f"{word}: {self._word(inner[0], None)}" if inner else word

    def _is_told(self, key: str, value: JsonValue, schema: JsonObject) -> bool:
        """Return True for a keyword that is told in words, in this form; others are quoted."""
        known = schema.get("properties")
        forms = {
            "description": True,
            "items": True,
            "type": _types(schema) == (value if isinstance(value, list) else [value]),
            "properties": isinstance(value, dict),
            "required": isinstance(value, list) and isinstance(known, dict) and {*map(str, value)} <= known.keys(),
            "$defs": value is self._defs,
            "$ref": isinstance(value, str),
            **dict.fromkeys(_EITHER, isinstance(value, list)),
        }
        return forms.get(key, False)

    def _keyword(self, key: str) -> str:
        return key if key.isascii() and key.isalpha() else self._quoted(key)

    def _quoted(self, value: JsonValue) -> str:
        words = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        return quoted(words, MOST_WORDS, self._language)


def _is_plain(schema: JsonValue) -> bool:
    """Return True for a schema that says nothing but a type."""
    return isinstance(schema, dict) and set(schema) == {"type"} and bool(_types(schema))


def _types(schema: JsonValue) -> list[str]:
    given = schema.get("type") if isinstance(schema, dict) else None
    return [each for each in (given if isinstance(given, list) else [given]) if isinstance(each, str)]
