"""Odd answers are read as they are meant, by both clients, whatever else stands in them and however they are cut."""

import gzip
import json
from collections.abc import Iterator
from copy import deepcopy
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from agent_core.clock import new_id
from agent_core.messages import AssistantMessage
from agent_core.models.answer import Answer
from agent_core.models.chunks import Unreadable, read_chunk
from agent_core.models.event_stream import NotAnEventStream, SseReader
from agent_core.models.llm import FailureCause, FailureKind, LlmFailure, ModelInfo
from tests.agent_core.models.raw_models import CLOCK, Raw, frame, openai, tables
from tests.any_json import anything, beside
from tests.emulators.model_script import Json
from tests.odd_answers import NOON, ODD_ANSWERS, OddAnswer

# litellm silences this warning on import; pytest undoes that.
pytestmark = [
    pytest.mark.filterwarnings("ignore:Accessing the 'model_:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:Pydantic serializer warnings:UserWarning"),
]

each_client = pytest.mark.parametrize("client", ["own", "deepseek", "openai"])
DONE = b"data: [DONE]\n\n"
COMMENTS = (b": OPENROUTER PROCESSING\n\n", b":\n\n", b"event: ping\ndata: {}\n\n", b"data:\n\n", b"id: 7\nretry: 9\n")


async def answered(client: str, answer: Raw) -> tuple[AssistantMessage, LlmFailure | None]:
    async with tables() as opens:
        chat = await (opens.own(answer) if client == "own" else opens.litellm(f"{client}/m", answer))
        done = await chat.goes_on("What time is it?")
    return done.message, done.failure


def written(chunks: tuple[JsonValue, ...]) -> bytes:
    return b"".join(b"data: " + json.dumps(each).encode() + b"\n\n" for each in chunks) + DONE


def is_meant(message: AssistantMessage, odd: OddAnswer) -> bool:
    calls = [] if odd.arguments is None else [("clock", odd.arguments, None)]
    return message.text == odd.text and calls == [(c.name, c.arguments, c.arguments_error) for c in message.tool_calls]


@each_client
@pytest.mark.parametrize("name", ODD_ANSWERS)
async def test_what_is_meant_is_read(client: str, name: str) -> None:
    message, failure = await answered(client, written(ODD_ANSWERS[name].chunks))

    assert failure is None
    assert is_meant(message, ODD_ANSWERS[name])


@each_client
@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("kind", ["application/json", "text/plain", "text/event-stream", "application/problem+json"])
async def test_an_answer_in_one_piece_is_read_whatever_it_is_called(client: str, kind: str, indent: int | None) -> None:
    (whole,) = ODD_ANSWERS["a whole answer without a reason"].chunks
    body = b"\xef\xbb\xbf" + json.dumps(whole, indent=indent).encode()
    message, failure = await answered(client, (200, body, {"Content-Type": kind}))

    assert (message.text, failure) == (NOON, None)


@each_client
@pytest.mark.parametrize("kind", ["application/json", "application/x-ndjson", "text/plain"])
async def test_chunks_on_lines_of_their_own_or_in_a_list_are_read_whatever_they_are_called(
    client: str, kind: str
) -> None:
    chunks = ODD_ANSWERS["two ends"].chunks
    bodies = [b"\n".join(json.dumps(each).encode() for each in chunks), json.dumps(chunks).encode(), written(chunks)]
    for body in bodies:
        message, failure = await answered(client, (200, body, {"Content-Type": kind}))
        assert (message.text, failure) == (NOON, None)


@each_client
async def test_two_chunks_on_one_line_are_two(client: str) -> None:
    begins, goes_on, *_ = ODD_ANSWERS["two ends"].chunks
    line = b"data: " + json.dumps(begins).encode() + json.dumps(goes_on).encode() + b"\n\n"
    message, failure = await answered(client, line + openai())

    assert (message.text, failure) == (NOON, None)


@each_client
async def test_a_compressed_answer_is_read_though_its_end_is_cut(client: str) -> None:
    stream = gzip.compress(written(ODD_ANSWERS["two ends"].chunks))
    headers = {"Content-Type": "text/event-stream", "Content-Encoding": "gzip"}
    for body in (stream, stream[:-8]):
        message, failure = await answered(client, (200, body, headers))
        assert (message.text, failure) == (NOON, None)


@each_client
async def test_a_page_instead_of_an_answer_is_no_answer(client: str) -> None:
    page = b"<!DOCTYPE html><html><head><title>Sign in</title></head><body>Who are you?</body></html>"
    message, failure = await answered(client, (200, page, {"Content-Type": "text/html"}))

    assert failure is not None
    assert (failure.kind, failure.cause) == (FailureKind.INVALID, FailureCause.PROTOCOL)
    assert failure.message == "it answers with a web page"
    assert message.text == ""


@each_client
async def test_of_a_line_that_is_no_json_nobody_reads_how_a_library_calls_it(client: str) -> None:
    stream = frame({"choices": [{"delta": {"content": "It is "}}]}) + b"event: error\ndata: Overloaded, sorry\n\n"
    message, failure = await answered(client, stream)

    assert failure is not None
    assert failure.message.startswith("the server sent what is no chat stream")
    assert "parsing" not in failure.message
    assert message.text == "It is "


@each_client
@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_a_conversation_is_not_taken_to_another_server(client: str, status: int) -> None:
    async with tables() as opens:
        other = await opens.own(openai({"content": NOON}))
        place = f"{other.server.url}/v1/chat/completions"
        moved = status, b"", {"Location": place}
        chat = await (opens.own(moved) if client == "own" else opens.litellm(f"{client}/m", moved))
        done = await chat.goes_on("What time is it?")

    assert done.failure is not None
    assert done.failure.message == f"HTTP {status}: the server redirects to {place}: use that as the base URL"
    assert other.server.bodies == []


@pytest.mark.parametrize("provider", ["anthropic", "gemini", "mistral", "xai", "moonshot"])
async def test_a_key_is_not_taken_to_another_server(provider: str) -> None:
    async with tables() as opens:
        other = await opens.own(openai({"content": NOON}))
        moved = 307, b"", {"Location": f"{other.server.url}/v1/chat/completions"}
        done = await (await opens.litellm(f"{provider}/m", moved)).goes_on("What time is it?")

    assert done.failure is not None
    assert "redirects to" in done.failure.message
    assert other.server.bodies == []


# Properties: an odd answer is still read if more stands in it, and if other things stand in its places, nothing breaks.


def read(stream: bytes, cuts: list[int]) -> AssistantMessage:
    reader, answer = SseReader(), Answer(ModelInfo(id="m"), new_id, tools={CLOCK.name: CLOCK.parameters})
    edges = [0, *sorted(cuts), len(stream)]
    pieces = [stream[start:end] for start, end in pairwise(edges)]
    for document in [*(event for piece in pieces for event in reader.feed(piece)), *reader.finish()]:
        if document != "[DONE]":
            assert all(event.type for event in answer.take(read_chunk(json.loads(document))))
    assert all(event.type for event in answer.rest())
    return answer.done().message


def parts_of(value: JsonValue) -> Iterator[Json]:
    """Yield the objects of a chunk to which any field may be added: the chunk, its choices and their deltas."""
    chunks = value if isinstance(value, list) else [value]
    for each in chunks:
        choices = each.get("choices") if isinstance(each, dict) else None
        if isinstance(each, dict) and isinstance(choices, list):
            yield each
            yield from (choice for choice in choices if isinstance(choice, dict))


@given(st.sampled_from(sorted(ODD_ANSWERS)), st.data())
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_whatever_is_added_to_an_odd_answer_and_however_it_is_cut_it_is_read(name: str, data: st.DataObject) -> None:
    odd = ODD_ANSWERS[name]
    chunks = deepcopy(odd.chunks)
    for part in [part for each in chunks for part in parts_of(each)]:
        part.update({key: item for key, item in data.draw(beside).items() if key not in part})
    lines = [b"data: " + json.dumps(each).encode() + b"\n\n" for each in chunks]
    for _ in range(data.draw(st.integers(0, 3))):
        lines.insert(data.draw(st.integers(0, len(lines))), data.draw(st.sampled_from(COMMENTS)))
    stream = b"".join(lines) + DONE
    if data.draw(st.booleans()):
        stream = stream.replace(b"\n", b"\r\n")

    assert is_meant(read(stream, data.draw(st.lists(st.integers(0, len(stream)), max_size=6))), odd)


@given(st.sampled_from(sorted(ODD_ANSWERS)), st.data())
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_whatever_stands_in_the_places_of_an_odd_answer_it_is_read_or_called_unreadable(
    name: str, data: st.DataObject
) -> None:
    chunks: JsonValue = deepcopy([*ODD_ANSWERS[name].chunks])
    for _ in range(data.draw(st.integers(1, 3))):
        place: JsonValue = chunks
        while isinstance(place, dict | list) and place:
            key = data.draw(st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place))))
            inner = place[key]  # type: ignore[call-overload, index]
            if not isinstance(inner, dict | list) or not inner or data.draw(st.booleans()):
                place[key] = data.draw(anything)  # type: ignore[call-overload, index]
                break
            place = inner
    assert isinstance(chunks, list)
    try:
        message = read(written(tuple(chunks)), [])
    except (Unreadable, NotAnEventStream):
        return

    assert message.role == "assistant"
    assert AssistantMessage.model_validate_json(message.model_dump_json()) == message
