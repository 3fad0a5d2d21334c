"""The arguments of a tool are said in lines that people can read, and nothing that the model reads is left out."""

import pytest

from agent_core.messages import JsonObject
from gateway.plugins.mcp.schema_lines import MOST_LINES, schema_lines
from gateway.plugins.mcp.texts import TEXTS
from gateway.texts.say import add_texts

SCHEMA: JsonObject = {
    "type": "object",
    "properties": {
        "query": {"type": "string", "description": "Words to look for.\n`now`"},
        "limit": {"type": ["integer", "null"], "default": 5, "maximum": 50},
        "sort": {"enum": ["new", "old"]},
        "names": {"type": "array", "items": {"type": "string"}},
        "within": {"$ref": "#/$defs/Span"},
        "until": {"anyOf": [{"type": "string"}, {"type": "number"}, {"type": "object", "properties": {"at": True}}]},
        "and": {"type": "array", "items": {"$ref": "#/$defs/Span"}},
    },
    "required": ["query"],
    "$defs": {"Span": {"type": "object", "properties": {"from": {"type": "string"}, "in": {"$ref": "#/$defs/Span"}}}},
    "additionalProperties": False,
}


@pytest.fixture(autouse=True)
def _texts() -> None:
    add_texts(TEXTS)


def test_each_argument_is_a_line_with_its_type_and_description() -> None:
    assert schema_lines(SCHEMA, "en") == [
        "additionalProperties `false`",
        "`query` (text, required) `Words to look for. 'now'`",
        "`limit` (whole number or nothing) default `5` maximum `50`",
        '`sort` enum `["new", "old"]`',
        "`names` (list: text)",
        "`within` (`Span`)",
        "`Span` (object)",
        "`Span.from` (text)",
        "`Span.in` (`Span`)",
        "`until` (text or number)",
        "`until #3` (object)",
        "`until #3.at` `true`",
        "`and` (list)",
        "`and[]` (`Span`)",
    ]
    assert schema_lines(SCHEMA, "zh")[1] == "`query` (文本, 必填) `Words to look for. 'now'`"


def test_nothing_that_the_model_reads_is_hidden() -> None:
    hiding: JsonObject = {
        "pattern": "^hidden1$",
        "if": {"const": "hidden2"},
        "x-note": "hidden3",
        "type": "hidden4",
        "\u202ehidden5": 1,
        "required": ["hidden6"],
        "anyOf": "hidden7",
        "$ref": "#/$defs/hidden8",
        "properties": ["hidden9"],
    }
    whole: JsonObject = {
        "properties": {"a": {"type": "array", "items": hiding}},
        "not": "hidden10",
        "$defs": {"hidden11": {"description": "hidden12", "$defs": {"b": "hidden13"}}},
    }

    shown = "\n".join(schema_lines(whole, "en"))

    assert [number for number in range(1, 14) if f"hidden{number}" not in shown] == []
    assert "\u202e" not in shown


def test_the_lines_that_are_left_out_are_counted() -> None:
    names: JsonObject = {f"a{number}": {"type": "string"} for number in range(MOST_LINES + 2)}
    assert schema_lines({"properties": names}, "en")[MOST_LINES:] == [
        "… and 2 more lines of its arguments, which are not shown"
    ]
