"""Schemas of tools go out in a form that every provider takes, and what is sound as it is."""

import json
from copy import deepcopy

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import JsonValue

from agent_core.clock import SystemClock
from agent_core.mcp.tool import Schema
from agent_core.messages import JsonObject
from agent_core.tools.argument_schema import UnusableSchema, mended
from agent_core.tools.catalogue import builtin_tools
from agent_core.tools.tool import tool
from tests.cpu import cpu_seconds_at_most
from tests.odd_schemas import ODD, SOUND, UNUSABLE
from tests.strict_schemas import refusals

KEYWORDS = (
    *("type", "properties", "required", "items", "prefixItems", "additionalItems", "additionalProperties", "enum"),
    *("const", "anyOf", "oneOf", "allOf", "not", "if", "$ref", "$defs", "definitions", "minimum", "exclusiveMinimum"),
    *("maxLength", "minItems", "pattern", "patternProperties", "format", "description", "default", "dependencies"),
    *("propertyNames", "contains", "uniqueItems", "multipleOf", "$id", "$schema", "$anchor", "nullable", "x-odd"),
    "$dynamicRef",
)
WORDS = (
    "object",
    "string",
    "array",
    "any",
    "int",
    "a",
    "b",
    "$x",
    "#/$defs/a",
    "#/properties/a",
    "#",
    "#a",
    "http://[",
    "^(",
    "5",
    "",
)
leaves = st.none() | st.booleans() | st.integers(-2, 5) | st.floats(-1, 1) | st.sampled_from(WORDS)
odd = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(KEYWORDS), inner, max_size=5)
        | st.dictionaries(st.sampled_from(WORDS), inner, max_size=3)
    ),
    max_leaves=25,
)
known: list[JsonValue] = [*SOUND, *ODD.values()]


@st.composite
def mutated(draw: st.DrawFn) -> JsonValue:
    """Draw a known schema in which some places are something else."""
    whole = deepcopy(draw(st.sampled_from(known)))
    for _ in range(draw(st.integers(1, 4))):
        place = whole
        while isinstance(place, dict | list) and place:
            key = draw(st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place))))
            inner = place[key]  # type: ignore[call-overload, index]
            if not isinstance(inner, dict | list) or not inner or draw(st.booleans()):
                place[key] = draw(odd)  # type: ignore[call-overload, index]
                break
            place = inner
    return whole


@pytest.mark.parametrize("schema", SOUND)
def test_what_is_sound_stays_as_it_is(schema: JsonObject) -> None:
    assert mended(deepcopy(schema)) == schema


@pytest.mark.parametrize("name", ODD)
def test_what_public_servers_send_goes_out_in_a_form_that_is_taken(name: str) -> None:
    assert refusals(Schema({"given": None} if ODD[name] is None else mended(deepcopy(ODD[name]))).shown) == []


@pytest.mark.parametrize("name", UNUSABLE)
def test_what_describes_no_arguments_is_refused_with_the_reason(name: str) -> None:
    schema, why = UNUSABLE[name]
    with pytest.raises(UnusableSchema) as refused:
        mended(schema)

    assert refused.value.why == why


def test_what_is_nested_without_end_is_refused_in_no_time() -> None:
    deep: JsonValue = {}
    for _ in range(500):
        deep = {"items": deep}
    with cpu_seconds_at_most(1), pytest.raises(UnusableSchema, match="too_deep"):
        mended({"properties": {"a": deep}})


@given(odd | mutated())
def test_whatever_is_sent_nothing_goes_out_that_a_provider_refuses(schema: JsonValue) -> None:
    try:
        sound = mended(schema)
    except UnusableSchema:
        return

    assert refusals(Schema(sound).shown) == []
    assert mended(sound) == sound, "mending is done once and for all"


@given(mutated())
def test_a_call_that_fits_what_the_model_sees_is_not_held_back(schema: JsonValue) -> None:
    """What the model is shown is what its arguments are held against."""
    try:
        shown = Schema(mended(schema))
    except UnusableSchema:
        return

    arguments: JsonObject = {}
    if Draft202012Validator(shown.shown).is_valid(arguments):
        assert shown.problems(arguments) == []


def test_what_is_meant_is_kept() -> None:
    assert mended(ODD["properties a list of named ones"]) == {
        "type": "object",
        "properties": {"a": {"name": "a", "type": "string"}},
        "required": ["a"],
    }
    assert mended(ODD["kinds at the root"]) == {
        "type": "object",
        "properties": {
            "kind": {"anyOf": [{"const": "a"}, {"const": "b"}]},
            "x": {"type": "string"},
            "y": {"type": "string"},
        },
        "required": ["kind"],
    }
    assert mended(ODD["a closed tuple of draft 7"])["properties"] == {"a": {"items": {"type": "number"}, "maxItems": 2}}
    assert mended(ODD["bounds of draft 4"])["properties"] == {"a": {"type": "integer", "exclusiveMinimum": 0}}
    assert mended(ODD["a reference at the root"])["properties"] == {"a": {"$ref": "#/$defs/A"}}
    assert mended(ODD["parts at the root"])["required"] == ["a", "b"]


def test_a_reference_by_name_is_one_to_where_that_stands() -> None:
    named = mended(ODD["references by names"])
    number: JsonObject = {"type": "number"}

    assert named["properties"] == {
        "by_id": {"$ref": "#/$defs/Place"},
        "whole": {"$ref": "#/$defs/Place"},
        "part": {"$ref": "#/$defs/lat"},
        "by_anchor": {"$ref": "#/$defs/Near"},
        "dynamic": {"$ref": "#/$defs/Near"},
        "tree": {"type": "object", "properties": {"in": {"type": "array", "items": {"$ref": "#/$defs/tree"}}}},
        "id": {"type": "integer"},
        "odd": {},
    }
    assert named["$defs"] == {
        "Place": {"type": "object", "properties": {"lat": number}},
        "Near": {"enum": ["x", "y"]},
        "lat": number,
        "tree": {"type": "object", "properties": {"in": {"type": "array", "items": {"$ref": "#/$defs/tree"}}}},
    }
    itself = mended(ODD["the whole within itself, by the sign of 2019"])["properties"]
    assert itself == {"and": {"type": "array", "items": {"$ref": "#"}}, "q": {"type": "string"}}


def test_names_that_a_provider_refuses_are_changed_for_it_and_back_for_the_server() -> None:
    schema = Schema(mended(ODD["names that are not taken"]))
    shown = schema.shown["properties"]
    assert isinstance(shown, dict)
    (own,) = [name for name in shown if name.startswith("_filter_")]
    assert schema.shown["required"] == [own]

    arguments: JsonObject = {own: "a", "filter_id_": "b", "_filter": "c", "name_with_spaces": {"_type": "d"}}

    assert schema.originals(arguments) == {
        "$filter": "a",
        "filter[id]": "b",
        "_filter": "c",
        "name with spaces": {"@type": "d"},
    }
    assert schema.problems({"_filter": "c"}) == ["'$filter' is a required property"]


def test_the_schemas_of_our_own_tools_are_such_and_one_with_a_pair_becomes_such() -> None:
    @tool()
    async def pair(numbers: tuple[int, int], words: list[str] | None = None) -> str:
        """Takes a pair."""
        return f"{numbers}{words}"

    for each in (*builtin_tools(SystemClock()), pair):
        assert refusals(each.spec.parameters) == [], each.name
        assert json.dumps(mended(each.spec.parameters)) == json.dumps(each.spec.parameters), each.name


@pytest.mark.parametrize("pattern", [r"^\(?\d{3}\)?$", r"^(?:a|b)+$", r"^[^\[\]]*$", r"^\\[1-9]$", r"a+?b"])
def test_a_pattern_that_everybody_reads_stays(pattern: str) -> None:
    given: JsonObject = {"type": "object", "properties": {"a": {"type": "string", "pattern": pattern}}}

    assert mended(given) == given


def test_choices_for_the_members_of_a_list_go_to_them() -> None:
    assert mended(ODD["choices on a list, not on its members"])["properties"] == {
        "a": {"type": "array", "items": {"type": "integer", "enum": [0, 1]}}
    }
    assert mended(ODD["choices on the branch for null"])["properties"] == {
        "a": {"anyOf": [{"type": "string", "enum": ["A"]}, {"type": "null"}]}
    }
