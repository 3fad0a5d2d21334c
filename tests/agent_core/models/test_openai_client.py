"""The light client with servers that deviate from the OpenAI protocol."""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import aiohttp
import pytest
from aiohttp import web
from pydantic import JsonValue

from agent_core.clock import new_id
from agent_core.messages import StopReason
from agent_core.models.answer import Answer
from agent_core.models.chunks import read_chunk
from agent_core.models.llm import FailureKind, LlmOptions, ModelInfo, StreamDone, TextDelta, ThinkingDelta
from agent_core.models.openai_client import ERROR_BODY, OpenAiClient
from parley.testing.emulators.server import LoopbackServer
from tests.agent_core.models.clients import HELLO, OPTIONS, model_info
from tests.cpu import growth

DONE = b"data: [DONE]\n\n"
MODEL = model_info("test-model")


class RawServer(LoopbackServer):
    """A server that answers with exactly these bytes, chunk by chunk."""

    def __init__(self, *chunks: bytes, status: int = 200, kind: str = "text/event-stream", location: str = "") -> None:
        super().__init__()
        self._chunks = chunks
        self._status = status
        self._headers = {"Content-Type": kind} | ({"Location": location} if location else {})
        self.connections: set[object] = set()

    def routes(self) -> Sequence[web.RouteDef]:
        return [web.post("/v1/chat/completions", self._complete)]

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        await request.read()
        self.connections.add(request.transport)
        response = web.StreamResponse(status=self._status, headers=self._headers)
        await response.prepare(request)
        for chunk in self._chunks:
            await response.write(chunk)
        return response


@asynccontextmanager
async def client_of(server: RawServer) -> AsyncIterator[OpenAiClient]:
    async with server:
        client = OpenAiClient(f"{server.url}/v1/", "sk-secret-123456")
        yield client
        await client.close()


async def answer_of(server: RawServer) -> StreamDone:
    async with client_of(server) as client:
        *_, last = [event async for event in client.stream(MODEL, HELLO, OPTIONS)]
    assert isinstance(last, StreamDone)
    return last


def chunk(delta: dict[str, JsonValue], finish: str | None = None) -> bytes:
    return (
        b"data: " + json.dumps({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}).encode() + b"\n\n"
    )


def piece(name: str | None = None, arguments: JsonValue = None, **more: JsonValue) -> JsonValue:
    return {**more, "function": {"name": name, "arguments": arguments}}


A, B = '{"n": 1}', '{"n": 2}'


@pytest.mark.parametrize(
    "deltas",
    [
        pytest.param([[piece("add", A, index=0, id="a"), piece("add", B, index=1, id="b")]], id="all at once"),
        pytest.param([[piece("add", A, id="a")], [piece("add", B, id="b")]], id="no index"),
        pytest.param([[piece("add", A)], [piece("add", B)]], id="neither index nor id"),
        pytest.param([[piece("add", A, index=0)], [piece("add", B, index=0)]], id="one index and no ids"),
        pytest.param([[piece("add", A, index=0, id="a")], [piece("add", B, index=0, id="b")]], id="one index for all"),
        pytest.param([[piece("add", A, index=0, id="a"), piece("add", B, index=1, id="a")]], id="one id for all"),
        pytest.param([[piece("add", A, index=0, id="a"), piece("add", B, index=0, id="a")]], id="one index and one id"),
        pytest.param([[piece("add", {"n": 1}, index=0), piece("add", {"n": 2}, index=1)]], id="arguments as objects"),
        pytest.param(
            [
                [piece("add", "", index=0, id="a")],
                [piece("add", A[:3], index=0, id="a")],
                [piece("add", A[3:], index=0, id="a"), piece("add", "", index=1, id="b")],
                [piece(None, B[:2], index=1)],
                [piece("", B[2:], index=1, id="")],
            ],
            id="name and id repeated",
        ),
        pytest.param(
            [
                [piece("add", "", index=0)],
                [piece("add", A, index=0), piece("add", "", index=1)],
                [piece("add", B[:2], index=1)],
                [piece("add", B[2:], index=1)],
            ],
            id="name repeated without ids",
        ),
        pytest.param(
            [[piece("add", A[:4], id="a")], [piece(None, A[4:])], [piece("add", B[:4], id="b")], [piece(None, B[4:])]],
            id="pieces without index",
        ),
        pytest.param(
            [
                [piece("add", A[:4], index=0, id="a"), piece("add", B[:4], index=1, id="b")],
                [piece(None, B[4:], index=1), piece(None, A[4:], index=0)],
            ],
            id="pieces in turns",
        ),
    ],
)
async def test_calls_are_put_together_however_a_server_sends_them(deltas: list[list[JsonValue]]) -> None:
    chunks = [chunk({"tool_calls": each}) for each in deltas]
    done = await answer_of(RawServer(*chunks, chunk({}, "stop"), DONE))

    message = done.message
    assert [(call.name, call.arguments) for call in message.tool_calls] == [("add", {"n": 1}), ("add", {"n": 2})]
    assert len({(call.id, str(call.arguments)) for call in message.tool_calls}) == 2
    assert all(call.id for call in message.tool_calls)
    assert message.stop_reason is StopReason.TOOL_USE


@pytest.mark.parametrize(
    "chunks",
    [
        pytest.param([chunk({"content": "Hel"}), chunk({"content": "lo"}, "stop")], id="no usage and no DONE"),
        pytest.param([chunk({"content": "Hello"}), DONE], id="no finish reason"),
        pytest.param([chunk({"content": "Hello"}, "stop"), b"data: {oops\n\n"], id="garbage after the end"),
        pytest.param([chunk({"content": "Hello"}), b"data: [DONE]"], id="no line break at the end"),
        pytest.param([b": wait\n\n", b"event: x\r\nid: 1\r\n", chunk({"content": "Hello"}), DONE], id="comments"),
        pytest.param([chunk({"content": [{"type": "text", "text": "Hello"}]}, "stop")], id="content in parts"),
        pytest.param([chunk({"content": "Hello", "reasoning": {"effort": 1}}, "stop")], id="reasoning that is no text"),
        pytest.param([b'data: {"choices": null}\n\n', chunk({"content": "Hello"}, "stop")], id="no choices"),
    ],
)
async def test_an_answer_is_whole_when_the_server_said_so_once(chunks: list[bytes]) -> None:
    done = await answer_of(RawServer(*chunks))

    assert (done.failure, done.message.text, done.message.stop_reason) == (None, "Hello", StopReason.STOP)


@pytest.mark.parametrize(
    "chunks",
    [
        pytest.param([chunk({"content": "Hello"})], id="no end"),
        pytest.param([chunk({"content": "Hello"}), b"<html>\n"], id="a page"),
        pytest.param([chunk({"content": "Hello"}), b'data: {"choices": 7}\n\n', DONE], id="another shape"),
        pytest.param([chunk({"content": "Hello"}), b"data: " + b"[" * 50_000 + b"\n\n", DONE], id="a pit of brackets"),
        pytest.param([chunk({"content": "Hello"}), b'data: {"error": "overloaded"}\n\n', DONE], id="an error in words"),
    ],
)
async def test_anything_else_is_a_cut_that_keeps_the_words(chunks: list[bytes]) -> None:
    done = await answer_of(RawServer(*chunks))

    assert done.failure is not None
    assert done.failure.kind is FailureKind.TRANSIENT
    assert (done.message.text, done.message.stop_reason) == ("Hello", StopReason.ERROR)


async def test_characters_cut_in_the_middle_and_halves_of_pairs_arrive_whole() -> None:
    stream = chunk({"content": "x"}).replace(b'"x"', '"天☔👩"'.encode()) + chunk({"content": "\ud83d"}) + DONE
    done = await answer_of(RawServer(*(stream[at : at + 1] for at in range(len(stream)))))

    assert done.failure is None
    assert done.message.text.startswith("天☔👩")
    assert done.message.text.encode()


async def test_reasoning_is_heard_under_both_of_its_names() -> None:
    server = RawServer(
        chunk({"reasoning_content": "Let me "}), chunk({"reasoning": "think."}), chunk({"content": "4"}), DONE
    )
    async with client_of(server) as client:
        events = [event async for event in client.stream(MODEL, HELLO, OPTIONS)]

    assert "".join(event.delta for event in events if isinstance(event, ThinkingDelta)) == "Let me think."


async def test_words_that_come_together_are_passed_on_together() -> None:
    thoughts = chunk({"reasoning": "Let me "}) + chunk({"reasoning": "think."})
    words = chunk({"content": "It "}) + chunk({"content": "is "}) + chunk({"content": "4."})
    async with client_of(RawServer(thoughts + words + DONE)) as client:
        _, *deltas, _ = [event async for event in client.stream(MODEL, HELLO, OPTIONS)]

    assert deltas == [ThinkingDelta(index=0, delta="Let me think."), TextDelta(index=1, delta="It is 4.")]


async def test_words_are_passed_on_before_what_comes_with_them_and_cannot_be_read() -> None:
    together = chunk({"content": "It is "}) + chunk({"content": "4."}) + b"data: {oops\n\n"
    async with client_of(RawServer(together)) as client:
        _, *deltas, done = [event async for event in client.stream(MODEL, HELLO, OPTIONS)]

    assert deltas == [TextDelta(index=0, delta="It is 4.")]
    assert isinstance(done, StreamDone)
    assert (done.message.text, done.failure is None) == ("It is 4.", False)


async def test_a_server_that_does_not_stream_is_understood() -> None:
    body = {
        "choices": [
            {"message": {"content": "Hello", "tool_calls": [piece("clock", "{}", id="a")]}, "finish_reason": "stop"}
        ],
        "usage": {"prompt_tokens": 3, "completion_tokens": 2},
    }
    done = await answer_of(RawServer(json.dumps(body).encode(), kind="application/json"))

    assert (done.message.text, [call.name for call in done.message.tool_calls]) == ("Hello", ["clock"])
    assert (done.message.usage.input, done.message.usage.output) == (3, 2)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ({"code": 400, "message": "the request exceeds the available context size"}, FailureKind.OVERFLOW),
        ({"code": 401, "message": "no"}, FailureKind.AUTH),
        ({"code": "400", "message": "no"}, FailureKind.INVALID),
        ({"code": "insufficient_quota", "message": "no"}, FailureKind.QUOTA),
        ({"code": None, "message": "something broke"}, FailureKind.TRANSIENT),
    ],
)
async def test_an_error_inside_the_stream_has_its_kind(error: JsonValue, kind: FailureKind) -> None:
    done = await answer_of(RawServer(b"data: " + json.dumps({"error": error}).encode() + b"\n\n", DONE))

    assert done.failure is not None
    assert done.failure.kind is kind


async def test_an_answer_cut_before_its_first_token_means_a_full_window() -> None:  # U-10
    usage = b'data: {"choices": [], "usage": {"prompt_tokens": 8192, "completion_tokens": 0}}\n\n'
    done = await answer_of(RawServer(chunk({}, "length"), usage, DONE))

    assert done.failure is not None
    assert done.failure.kind is FailureKind.OVERFLOW


async def test_a_redirect_is_not_followed_with_the_key() -> None:
    done = await answer_of(RawServer(status=308, location="http://127.0.0.1:1/v2"))

    assert done.failure is not None
    assert done.failure.kind is FailureKind.INVALID
    assert "http://127.0.0.1:1/v2" in done.failure.message


async def test_a_huge_error_page_is_read_only_in_part() -> None:
    done = await answer_of(RawServer(*[b"x" * ERROR_BODY] * 200, status=502, kind="text/html"))

    assert done.failure is not None
    assert done.failure.kind is FailureKind.TRANSIENT
    assert len(done.failure.message) < 600


@pytest.mark.parametrize("base_url", ["not a url", "http://", "ftp://127.0.0.1/v1", "http://127.0.0.1:99999/v1"])
async def test_a_base_url_that_is_none_is_a_failure_too(base_url: str) -> None:
    client = OpenAiClient(base_url, "sk-secret-123456\n")
    *_, last = [event async for event in client.stream(MODEL, HELLO, LlmOptions(timeout_s=2))]
    await client.close()

    assert isinstance(last, StreamDone)
    assert last.failure is not None
    assert "sk-secret" not in last.failure.message


async def test_a_connection_is_used_again() -> None:
    server = RawServer(chunk({"content": "Hello"}, "stop"), DONE)
    async with client_of(server) as client:
        for _ in range(3):
            assert [event async for event in client.stream(MODEL, HELLO, OPTIONS)]
    assert len(server.connections) == 1


async def test_a_session_that_was_handed_in_stays_open() -> None:
    async with RawServer(chunk({"content": "Hello"}, "stop")) as server, aiohttp.ClientSession() as session:
        client = OpenAiClient(f"{server.url}/v1", None, session)
        assert [event async for event in client.stream(MODEL, HELLO, OPTIONS)]
        await client.close()
        assert not session.closed


def test_twice_as_many_pieces_of_arguments_take_twice_as_long() -> None:
    def take(pieces: int) -> None:
        answer = Answer(ModelInfo(id="m"), new_id)
        for text in ['{"text": "', *["ab "] * pieces, '"}']:
            again = {"index": 0, "id": "a", "function": {"name": "echo", "arguments": text}}
            delta = {"choices": [{"delta": {"tool_calls": [again]}}]}
            assert len([*answer.take(read_chunk(delta))]) == 1
        assert answer.done().message.tool_calls[0].arguments == {"text": "ab " * pieces}

    assert growth(lambda: take(8_000), lambda: take(16_000), times=2, most=2.5) <= 2.5
