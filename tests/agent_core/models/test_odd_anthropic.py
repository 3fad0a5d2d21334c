"""Servers that imitate Anthropic's are read as they mean it, through litellm."""

import pytest

from agent_core.models.llm import StreamDone
from tests.agent_core.models.raw_models import frame, tables
from tests.emulators.model_script import Json

# litellm silences this warning on import; pytest undoes that.
pytestmark = pytest.mark.filterwarnings("ignore:Accessing the 'model_:DeprecationWarning")

MESSAGE: Json = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": []}
START: Json = {"type": "message_start", "message": {**MESSAGE, "usage": {"input_tokens": 9, "output_tokens": 1}}}
BLOCK: Json = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
WORDS: Json = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Noon."}}
STOP: Json = {"type": "content_block_stop", "index": 0}
END: Json = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 9}}
LAST: Json = {"type": "message_stop"}


async def answered(*events: Json) -> StreamDone:
    async with tables() as opens:
        chat = await opens.litellm("anthropic/claude-test", b"".join(map(frame, events)))
        return await chat.goes_on("What time is it?")


@pytest.mark.parametrize(
    "events",
    [
        [{"type": "message_start", "message": {**MESSAGE, "usage": None}}, BLOCK, WORDS, STOP, END],
        [{"type": "message_start", "message": None}, BLOCK, WORDS, STOP, END],
        [START, {**BLOCK, "content_block": None}, WORDS, STOP, END],
        [START, {**BLOCK, "content_block": {"type": "text", "text": None}}, WORDS, STOP, END],
        [START, BLOCK, {**WORDS, "delta": None}, WORDS, STOP, END],
        [START, BLOCK, WORDS, STOP, {"type": "message_delta", "delta": None, "usage": [1]}, END],
        [START, {"type": "ping"}, {"type": "brand_new", "delta": 5}, BLOCK, WORDS, STOP, {**END, "usage": None}],
    ],
    ids=str,
)
async def test_nulls_leave_the_words_alone(events: list[Json]) -> None:
    done = await answered(*events, LAST)

    assert (done.message.text, done.failure) == ("Noon.", None)


@pytest.mark.parametrize("pieces", [[], [""], [None], ['{"zone": ', '"UTC"}']], ids=str)
async def test_the_arguments_of_a_call_may_stand_at_its_beginning(pieces: list[str | None]) -> None:
    call: Json = {"type": "tool_use", "id": "toolu_1", "name": "clock", "input": {"zone": "UTC"}}
    deltas: list[Json] = [
        {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": each}}
        for each in pieces
    ]
    done = await answered(START, {**BLOCK, "content_block": call}, *deltas, STOP, END, LAST)

    assert done.failure is None
    assert [(each.id, each.name, each.arguments) for each in done.message.tool_calls] == [
        ("toolu_1", "clock", {"zone": "UTC"})
    ]


@pytest.mark.parametrize("call", [{"id": None, "name": "clock", "input": None}, {"name": "clock"}], ids=str)
async def test_a_call_needs_neither_id_nor_arguments(call: Json) -> None:
    done = await answered(START, {**BLOCK, "content_block": {"type": "tool_use", **call}}, STOP, END, LAST)

    assert done.failure is None
    assert [(bool(each.id), each.name, each.arguments) for each in done.message.tool_calls] == [(True, "clock", {})]


@pytest.mark.parametrize(
    ("error", "words"), [({"type": "api_error"}, "api_error"), ("Overloaded", "Overloaded"), (None, "an unnamed error")]
)
async def test_an_error_without_words_is_told_by_its_kind(error: Json | str | None, words: str) -> None:
    done = await answered(START, {"type": "error", "error": error})

    assert done.failure is not None
    assert done.failure.message == words
