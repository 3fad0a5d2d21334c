"""A server that answers in another protocol than that of the request is told as such, at once; one that only sends its
answer in one piece, or in another Unicode, is read."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from pydantic import JsonValue

from agent_core.events import AgentEnd
from agent_core.models.llm import FailureCause, FailureKind, StreamDone
from agent_core.reasons import TerminalReason
from gateway.connect.steps import Form
from gateway.runs.model_failures import Reader, trouble_text
from gateway.security.secrets import Secrets
from gateway.texts.say import LANGUAGES
from tests.agent_core.models.raw_models import Raw, RawModel, anthropic, call, frame, gemini, openai, tables
from tests.emulators.model_script import Json
from tests.gateway.connect.guiding import guided

# litellm silences this warning on import; pytest undoes that.
pytestmark = pytest.mark.filterwarnings("ignore:Accessing the 'model_:DeprecationWarning")

NOON = "It is noon."
IN_JSON = {"Content-Type": "application/json"}


def lines(*documents: Json) -> Raw:
    body = b"".join(json.dumps(each).encode() + b"\n" for each in documents)
    return 200, body, {"Content-Type": "application/x-ndjson"}


def whole(document: JsonValue, encoding: str = "utf-8") -> Raw:
    return 200, json.dumps(document).encode(encoding), IN_JSON


def message(*blocks: Json, ends: str = "end_turn") -> Json:
    usage: Json = {"input_tokens": 9, "output_tokens": 3}
    head: Json = {"id": "m", "type": "message", "role": "assistant", "model": "m", "stop_sequence": None}
    return {**head, "content": [*blocks], "stop_reason": ends, "usage": usage}


IN_CHAT: Json = {
    "object": "chat.completion",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": NOON}, "finish_reason": "stop"}],
}
IN_RESPONSES: Json = {
    "object": "response",
    "status": "completed",
    "output": [{"type": "message", "content": [{"type": "output_text", "text": NOON}]}],
}
OTHERS: Mapping[str, tuple[str, Raw]] = {
    "chat": ("openai", openai({"content": NOON})),
    "chat in one piece": ("openai", whole(IN_CHAT)),
    "Anthropic's": ("anthropic", anthropic({"type": "text", "text": NOON})),
    "Anthropic's in one piece": ("anthropic", whole(message({"type": "text", "text": NOON}))),
    "Gemini's": ("gemini", gemini({"text": NOON})),
    "Ollama's chat": (
        "ollama",
        lines(
            {"model": "m", "message": {"role": "assistant", "content": NOON}, "done": False},
            {"model": "m", "message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "stop"},
        ),
    ),
    "Ollama's text": ("ollama", lines({"model": "m", "response": NOON, "done": True})),
    "the Responses API": (
        "responses",
        frame({"type": "response.created", "response": {"object": "response", "output": []}})
        + frame({"type": "response.output_text.delta", "delta": NOON}),
    ),
    "the Responses API in one piece": ("responses", whole(IN_RESPONSES)),
    "llama.cpp's": ("llama", whole({"index": 0, "content": NOON, "stop": True, "stop_type": "eos"})),
    "llama.cpp's stream": ("llama", frame({"index": 0, "content": "It ", "tokens": [1], "stop": False})),
    "that of TGI": ("tgi", whole([{"generated_text": NOON}])),
    "that of TGI, a stream": ("tgi", frame({"index": 1, "token": {"id": 1, "text": "It"}, "generated_text": None})),
    "Cohere's": ("cohere", whole({"text": NOON, "generation_id": "g", "finish_reason": "COMPLETE"})),
    "Cohere's stream": ("cohere", lines({"event_type": "stream-start"}, {"event_type": "text-generation"})),
    "Cohere's second": (
        "cohere",
        whole({"id": "a", "finish_reason": "COMPLETE", "message": {"content": [{"type": "text", "text": NOON}]}}),
    ),
    "Cohere's second, a stream": ("cohere", frame({"type": "message-start", "id": "a", "delta": {"message": {}}})),
    "KoboldCpp's": ("kobold", whole({"results": [{"text": NOON, "finish_reason": "stop"}]})),
    "KoboldCpp's stream": ("kobold", frame({"token": "It", "finish_reason": None})),
    "a page": ("page", (200, b"\n<!doctype html><title>Sign in</title>", {"Content-Type": "text/html"})),
}
CLIENTS = {"own": "openai", "openai/m": "openai", "anthropic/claude-test": "anthropic", "gemini/m": "gemini"}


async def answered(client: str, *answers: Raw) -> tuple[StreamDone, int]:
    """Return an answer and the number of requests for it."""
    async with tables() as opens:
        chat = await (opens.own(*answers) if client == "own" else opens.litellm(client, *answers))
        done = await chat.goes_on("What time is it?")
        return done, len(chat.server.bodies)


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("name", OTHERS)
async def test_another_protocol_is_told_and_not_asked_again(name: str, client: str) -> None:
    protocol, answer = OTHERS[name]
    done, count = await answered(client, answer, answer)

    assert count == 1
    if protocol == CLIENTS[client]:
        assert (done.message.text, done.failure) == (NOON, None)
        return
    assert done.failure is not None
    assert (done.failure.kind, done.failure.cause) == (FailureKind.INVALID, FailureCause.PROTOCOL)
    assert done.failure.message.startswith("it answers with a web page" if protocol == "page" else "it speaks ")


PAGE, XML = {"Content-Type": "text/html"}, {"Content-Type": "application/xml"}
NO_CHATS: Mapping[str, tuple[Raw, str]] = {
    "no content": ((204, b"", {}), "it answers without any content (HTTP 204)"),
    "content that is reset": ((205, b"", {}), "it answers without any content (HTTP 205)"),
    "nothing, accepted": ((202, b"", {}), "it answers without any content (HTTP 202)"),
    "an empty body": ((200, b"", IN_JSON), "it answers without any content (HTTP 200)"),
    "blank lines": ((200, b"\n \n", IN_JSON), "it answers without any content (HTTP 200)"),
    "an empty page": ((200, b"", PAGE), "it answers without any content (HTTP 200)"),
    "a part of a page": ((200, b"<h1>It works!</h1>", PAGE), "it answers with a web page"),
    "a page in XML": ((200, b'<?xml version="1.0"?><!DOCTYPE html><html></html>', PAGE), "it answers with a web page"),
    "XML": ((200, b'<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>', XML), "it answers with XML"),
    "an empty object": ((200, b"{}", IN_JSON), "it answers with {}, which is no chat"),
    "an empty list": ((200, b"[]", IN_JSON), "it answers with [], which is no chat"),
    "null": ((200, b"null", IN_JSON), "it answers with null, which is no chat"),
    "a list of texts": ((200, b'["a", "b"]', IN_JSON), 'it answers with ["a", "b"], which is no chat'),
    "the state of a server": (
        (200, b'{"status": "ok"}\n', IN_JSON),
        'it answers with {"status": "ok"}, which is no chat',
    ),
    "a list of models": (
        (200, b'{"object": "list", "data": []}', IN_JSON),
        'it answers with {"object": "list", "data": []}, which is no chat',
    ),
}


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("name", NO_CHATS)
async def test_what_can_be_no_answer_is_told_and_not_asked_again(name: str, client: str) -> None:
    answer, told = NO_CHATS[name]
    done, count = await answered(client, answer, answer)

    assert done.failure is not None
    assert (done.failure.kind, done.failure.cause) == (FailureKind.INVALID, FailureCause.PROTOCOL)
    assert done.failure.message == told
    assert count == 1


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("kind", ["application/json", "text/event-stream"])
@pytest.mark.parametrize("end", [-3, -30, -45])
async def test_of_an_answer_that_is_cut_within_its_json_nobody_reads_the_json(end: int, kind: str, client: str) -> None:
    body = json.dumps(IN_CHAT).encode()[:end]
    done, _ = await answered(client, (200, body, {"Content-Type": kind}))

    assert done.failure is not None
    assert (done.failure.kind, done.failure.message) == (
        FailureKind.TRANSIENT,
        "the stream ended before the answer did",
    )


@pytest.mark.parametrize("client", CLIENTS)
async def test_a_stream_with_nothing_in_it_was_cut(client: str) -> None:
    done, _ = await answered(client, (200, b": keep-alive\n\n", {"Content-Type": "text/event-stream"}))

    assert done.failure is not None
    assert done.failure.kind is FailureKind.TRANSIENT


@pytest.mark.parametrize("status", [201, 202])
@pytest.mark.parametrize("client", CLIENTS)
async def test_an_answer_counts_whatever_good_status_it_has(client: str, status: int) -> None:
    answer = next(raw for protocol, raw in OTHERS.values() if protocol == CLIENTS[client] and isinstance(raw, bytes))
    done, _ = await answered(client, (status, answer, {"Content-Type": "text/event-stream"}))

    assert (done.message.text, done.failure) == (NOON, None)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_owner_reads_what_answers_and_where_to_look_and_others_one_sentence(language: str) -> None:
    end = AgentEnd(
        reason=TerminalReason.ERROR,
        messages=(),
        error="it speaks Ollama's own protocol",
        failure=FailureKind.INVALID,
        cause=FailureCause.PROTOCOL,
    )
    owner, other = (
        trouble_text(end, "abc", "qwen3", Reader(language, "/", is_owner=each), Secrets())  # type: ignore[arg-type]
        for each in (True, False)
    )

    assert "it speaks Ollama's own protocol" in owner
    assert "`OPENAI_BASE_URL`" in owner
    assert "/v1" in owner
    assert owner.startswith(other)
    assert "Ollama" not in other


async def test_the_guide_says_it_beside_the_form_that_keeps_what_was_entered(tmp_path: Path) -> None:
    _, answer = OTHERS["Ollama's chat"]
    async with RawModel(answer) as server, guided(tmp_path, "model", {}) as there:
        await there.next()
        await there.answer("server")
        step = await there.fill(f"{server.url}/v1", "", "qwen3")

        assert isinstance(step, Form)
        assert "does not lead to OpenAI's chat protocol: it speaks Ollama's own protocol" in step.trouble
        assert step.fields[0].default == f"{server.url}/v1"


@pytest.mark.parametrize(
    "blocks",
    [
        ({"type": "thinking", "thinking": "Hm.", "signature": "s1"}, {"type": "redacted_thinking", "data": "r1"}),
        (),
    ],
    ids=["thoughts", "none"],
)
async def test_an_answer_of_anthropics_in_one_piece_is_read_with_its_calls_and_goes_back(
    blocks: tuple[Json, ...],
) -> None:
    content: tuple[Json, ...] = (
        *blocks,
        {"type": "text", "text": "Let me look."},
        {"type": "tool_use", "id": "c1", "name": "clock", "input": {"zone": "UTC"}},
    )
    async with tables() as opens:
        answer, noon = whole(message(*content, ends="tool_use")), anthropic({"type": "text", "text": NOON})
        chat = await opens.litellm("anthropic/claude-test", answer, noon)
        done = await chat.goes_on("What time is it?")
        await chat.goes_on()
        (sent,) = chat.server.answers_of(1)

    assert done.failure is None
    assert done.message.text == "Let me look."
    assert [(each.name, each.arguments) for each in done.message.tool_calls] == [("clock", {"zone": "UTC"})]
    assert (done.message.usage.input, done.message.usage.output) == (9, 3)
    assert sent["content"] == [*content]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-8-sig"])
@pytest.mark.parametrize("text", [NOON, "现在是中午。 🕛"])
async def test_an_answer_in_another_unicode_is_read(encoding: str, text: str) -> None:
    stream = openai({"content": text}).decode().encode(encoding)
    piece = json.loads(json.dumps(IN_CHAT).replace(NOON, text))
    for answer in (stream, whole(piece, encoding)):
        done, _ = await answered("own", answer)
        assert (done.message.text, done.failure) == (text, None)


@pytest.mark.parametrize(
    "words",
    ["Unexpected endpoint or method. (POST /chat/completions)", "The model `m` does not exist", "model 'm' not found"],
)
@pytest.mark.parametrize("client", ["own", "openai/m"])
async def test_a_model_or_an_address_that_is_not_there_is_told_also_without_a_status(client: str, words: str) -> None:
    done, count = await answered(client, *[whole({"error": words})] * 2)

    assert done.failure is not None
    assert (done.failure.kind, done.failure.cause) == (FailureKind.INVALID, FailureCause.NOT_FOUND)
    assert words in done.failure.message
    assert count == 1


@pytest.mark.parametrize("client", ["own", "openai/m"])
async def test_a_page_in_the_middle_of_an_answer_is_a_cut(client: str) -> None:
    begun = openai({"content": "It is "}, finish=None).removesuffix(b"data: [DONE]\n\n")
    done, _ = await answered(client, begun + b"<html>\n")

    assert done.failure is not None
    assert done.failure.kind is FailureKind.TRANSIENT
    assert done.message.text == "It is "


@pytest.mark.parametrize("beside", [{"message": "fine"}, {"type": "message_start"}, {"done": True, "response": ""}])
async def test_what_stands_beside_the_choices_makes_no_other_protocol(beside: dict[str, JsonValue]) -> None:
    choices: list[JsonValue] = [{"index": 0, "delta": {"content": NOON}}]
    stream = frame({**beside, "choices": choices}) + openai({"tool_calls": [call()]}, finish="tool_calls")
    done, _ = await answered("own", stream)

    assert (done.message.text, done.failure) == (NOON, None)
