"""Answers of servers on people's own machines that come whole, repeated, without `data:`, or in an older protocol."""

import json

import pytest
from pydantic import JsonValue

from tests.agent_core.models.raw_models import call, frame, openai, tables
from tests.emulators.model_script import Json

HEAD: Json = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m"}


async def said(stream: bytes) -> tuple[str, list[tuple[str, Json]]]:
    async with tables() as opens:
        done = await (await opens.own(stream)).goes_on("What time is it?")
    assert done.failure is None
    return done.message.text, [(each.name, each.arguments) for each in done.message.tool_calls]


def choice(finish: str | None = None, **said: JsonValue) -> Json:
    return {**HEAD, "choices": [{"index": 0, "finish_reason": finish, **said}]}


async def test_text_of_the_older_protocol_is_read() -> None:
    assert await said(frame(choice(text="It is ")) + frame(choice("stop", text="noon."))) == ("It is noon.", [])


async def test_chunks_without_data_before_them_are_read() -> None:
    lines = [choice(delta={"content": "It is "}), choice(delta={"content": "noon."}), choice("stop", delta={})]
    assert await said(b"".join(json.dumps(each).encode() + b"\n" for each in lines)) == ("It is noon.", [])


@pytest.mark.parametrize("repeated", ["It is noon.", "It is noon.\n", " It is noon."])
async def test_an_answer_that_is_repeated_whole_at_the_end_is_said_once(repeated: str) -> None:
    pieces = frame(choice(delta={"content": "It is "})) + frame(choice(delta={"content": "noon."}))
    text, _ = await said(pieces + frame(choice("stop", message={"role": "assistant", "content": repeated})))

    assert text.strip() == "It is noon."


async def test_calls_that_are_repeated_whole_at_the_end_are_made_once() -> None:
    made: Json = {"role": "assistant", "content": None, "tool_calls": [call(arguments='{"zone": "UTC"}')]}
    pieces = frame(choice(delta={"tool_calls": [call(arguments='{"zone": "UTC"}')]}))

    assert await said(pieces + frame(choice("tool_calls", message=made))) == ("", [("clock", {"zone": "UTC"})])


async def test_an_answer_in_messages_instead_of_deltas_is_joined() -> None:
    pieces = [choice(message={"content": "It is "}), choice("stop", message={"content": "noon."})]
    assert await said(b"".join(map(frame, pieces))) == ("It is noon.", [])


async def test_calls_that_come_as_an_object_are_calls() -> None:
    calls: Json = {"0": call(arguments='{"zone": "UTC"}'), "1": call(arguments="{}", identity="c2", index=1)}
    _, made = await said(openai({"tool_calls": calls}, finish="tool_calls"))

    assert made == [("clock", {"zone": "UTC"}), ("clock", {})]


async def test_a_call_whose_name_stands_beside_its_number_is_a_call() -> None:
    flat: Json = {"index": 0, "id": "c1", "type": "function", "name": "clock", "arguments": "{}"}
    assert (await said(openai({"tool_calls": [flat]}, finish="tool_calls")))[1] == [("clock", {})]
