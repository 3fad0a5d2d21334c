"""Gemini's and Kimi's models get the schemas of tools in the part of JSON schema that they take."""

import re
from collections.abc import Iterator
from copy import deepcopy

import pytest
from hypothesis import given
from pydantic import JsonValue

from agent_core.mcp.tool import Schema
from agent_core.messages import JsonObject
from agent_core.models.llm import ToolSpec
from agent_core.models.manner import known_of
from agent_core.models.openai_wire import tools_to_wire
from agent_core.models.plain_schema import MOST_CHARS, MOST_CHOICES, plain_schema
from agent_core.tools.argument_schema import UnusableSchema, mended
from tests.agent_core.models.raw_models import CLOCK
from tests.agent_core.test_argument_schema import mutated
from tests.kimi_schemas import refusals_of_kimi
from tests.odd_schemas import ODD, SOUND

FIELDS = frozenset(
    ("anyOf", "description", "enum", "format", "items", "maxItems", "maxLength", "maximum", "minItems", "minLength")
) | {"minimum", "nullable", "pattern", "properties", "required", "type"}
KINDS = frozenset(("array", "boolean", "integer", "number", "object", "string"))
FORMATS = {"string": {"date-time", "enum"}, "number": {"float", "double"}, "integer": {"int32", "int64"}}


def refusals(schema: JsonValue, place: str = "parameters") -> Iterator[str]:
    """Yield the sentences with which Gemini would refuse this schema."""
    if not isinstance(schema, dict):
        yield f"Invalid value at '{place}'"
        return
    yield from (f"Unknown name \"{key}\" at '{place}': Cannot find field." for key in schema.keys() - FIELDS)
    if "anyOf" in schema:
        branches = schema["anyOf"]
        if schema.keys() - {"anyOf"}:
            yield f"{place}: when using any_of, it must be the only field set"
        for each in branches if isinstance(branches, list) else []:
            yield from refusals(each, f"{place}.any_of")
        return
    kind = schema.get("type")
    if not isinstance(kind, str) or kind not in KINDS:
        yield f"{place}.type: Proto field is not repeating, cannot start list, or no such type"
        return
    yield from _values(schema, kind, place)
    yield from _inside(schema, kind, place)


def _inside(schema: JsonObject, kind: str, place: str) -> Iterator[str]:
    if kind == "array" and "items" not in schema:
        yield f"{place}.items: missing field"
    if "items" in schema:
        yield from refusals(schema["items"], f"{place}.items")
    properties = schema.get("properties", {})
    if not isinstance(properties, dict):
        yield f"{place}.properties: not a map"
        return
    for name, each in properties.items():
        yield from refusals(each, f"{place}.properties[{name}]")
    required = schema.get("required", [])
    for needed in required if isinstance(required, list) else []:
        if needed not in properties:
            yield f"{place}.required[{needed}]: property is not defined"


def _values(schema: JsonObject, kind: str, place: str) -> Iterator[str]:
    choices = schema.get("enum")
    if choices is not None and kind != "string":
        yield f"{place}.enum: only allowed for STRING type"
    for each in choices if isinstance(choices, list) else []:
        if not isinstance(each, str) or not each:
            yield f"{place}.enum: cannot be empty"
    if "format" in schema and schema["format"] not in FORMATS.get(kind, ()):
        yield f"{place}.format: only 'enum' and 'date-time' are supported for STRING type"


def shown(given: JsonValue) -> JsonObject:
    return Schema(mended(deepcopy(given))).shown


@pytest.mark.parametrize("schema", [*SOUND, *ODD.values()])
def test_what_public_servers_send_goes_out_in_a_form_that_they_take(schema: JsonValue) -> None:
    plain = plain_schema(shown(schema))
    assert list(refusals(plain)) == []
    assert list(refusals_of_kimi(plain)) == []


@given(mutated())
def test_whatever_is_sent_nothing_goes_out_that_they_refuse(schema: JsonValue) -> None:
    try:
        sound = shown(schema)
    except UnusableSchema:
        return

    plain = plain_schema(sound)
    assert list(refusals(plain)) == []
    assert list(refusals_of_kimi(plain)) == []
    assert plain_schema(plain) == plain


def test_what_can_be_said_is_kept() -> None:
    plain = plain_schema(shown(SOUND[2]))

    assert plain["required"] == ["where"]
    assert plain["properties"] == {
        "where": {
            "type": "object",
            "properties": {"lat": {"type": "number"}, "near": plain["properties"]["where"]["properties"]["near"]},  # type: ignore[call-overload, index]
        },
        "days": {"type": "integer", "maximum": 14, "nullable": True},
        "tags": {"type": "array", "items": {"type": "string"}, "minItems": 1},
        "unit": {"type": "string", "enum": ["C", "F"]},
        "when": {"type": "string", "nullable": True},
        "properties": {"type": "object"},
        "_ref": {"type": "string", "pattern": "^[a-z]+$"},
    }


def test_references_that_double_again_and_again_are_not_written_out() -> None:
    defs: JsonObject = {
        f"A{level}": {"type": "object", "properties": {each: {"$ref": f"#/$defs/A{level + 1}"} for each in "abcdefgh"}}
        for level in range(30)
    }
    plain = plain_schema({"type": "object", "properties": {"a": {"$ref": "#/$defs/A0"}}, "$defs": defs})

    assert len(str(plain)) <= MOST_CHARS
    assert list(refusals(plain)) == []


def test_more_choices_than_they_take_are_left_out() -> None:
    def choosing(number: int) -> JsonObject:
        choices: list[JsonValue] = [f"Europe/Town{each}" for each in range(number)]
        return plain_schema({"type": "object", "properties": {"zone": {"type": "string", "enum": choices}}})

    assert len(str(choosing(MOST_CHOICES))) > 12 * MOST_CHOICES
    assert choosing(MOST_CHOICES + 1)["properties"] == {"zone": {"type": "string"}}


@pytest.mark.parametrize("model", ["gpt-5", "gemini/gemini-3-pro"])
def test_a_tool_is_converted_once_however_often_it_is_offered(model: str) -> None:
    spec = ToolSpec(name="a", description="", parameters=SOUND[3])

    assert tools_to_wire([spec], known_of(model))[0] is tools_to_wire([spec, CLOCK], known_of(model))[0]


def test_other_models_get_the_schema_with_its_references() -> None:
    spec = ToolSpec(name="a", description="", parameters=SOUND[3])

    plain = plain_schema(SOUND[3])
    for model, expected in (
        ("gpt-5", SOUND[3]),
        ("gemini/gemini-3-pro", plain),
        ("moonshot/kimi-k2.6", plain),
        ("openrouter/moonshotai/kimi-k2", plain),
    ):
        (wire,) = tools_to_wire([spec], known_of(model))
        assert re.sub("'", "", str(expected)) in re.sub("'", "", str(wire))
