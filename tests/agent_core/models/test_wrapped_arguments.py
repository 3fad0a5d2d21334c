"""Arguments that a model puts into a field of their own, as in the JSON of a whole call, are those of the call."""

import json

import pytest

from agent_core.clock import new_id
from agent_core.messages import JsonObject
from agent_core.models.answer import Answer
from agent_core.models.chunks import read_chunk
from agent_core.models.llm import ModelInfo
from tests.agent_core.models.raw_models import call

TEXT: JsonObject = {"type": "string"}
NOTE: JsonObject = {"type": "object", "properties": {"text": TEXT}}
PASSES_ON: JsonObject = {"type": "object", "properties": {"name": TEXT, "arguments": {"type": "object"}}}
ANYTHING: JsonObject = {"type": "object"}


def arguments(given: JsonObject, schema: JsonObject) -> JsonObject:
    answer = Answer(ModelInfo(id="m"), new_id, tools={"note": schema})
    delta = {"tool_calls": [call("note", json.dumps(given))]}
    list(answer.take(read_chunk({"choices": [{"index": 0, "delta": delta, "finish_reason": "tool_calls"}]})))
    (made,) = answer.done().message.tool_calls
    return made.arguments


@pytest.mark.parametrize(
    "given",
    [
        {"arguments": {"text": "5"}},
        {"parameters": {"text": "5"}},
        {"name": "note", "arguments": {"text": "5"}},
        {"type": "function", "name": "note", "parameters": {"text": "5"}},
    ],
    ids=json.dumps,
)
def test_arguments_in_a_field_of_their_own_are_taken_out_of_it(given: JsonObject) -> None:
    assert arguments(given, NOTE) == {"text": "5"}


@pytest.mark.parametrize(
    ("given", "schema"),
    [
        ({"name": "x", "arguments": {"text": "5"}}, PASSES_ON),
        ({"arguments": {"text": "5"}}, ANYTHING),
        ({"text": "5", "arguments": {"text": "6"}}, NOTE),
        ({"arguments": "5"}, NOTE),
        ({"arguments": {"text": "5"}, "parameters": {}}, NOTE),
        ({"other": {"text": "5"}}, NOTE),
    ],
    ids=str,
)
def test_arguments_that_may_be_meant_as_they_are_stay_so(given: JsonObject, schema: JsonObject) -> None:
    assert arguments(given, schema) == given
