"""The emulated models through litellm, and through plain HTTP where litellm hides the response."""

import asyncio
import json
from collections.abc import Mapping, Sequence

import aiohttp
import pytest

from tests.emulators.anthropic import AnthropicEmulator
from tests.emulators.model_script import (
    Answer,
    Break,
    ModelRequest,
    overflow,
    says,
)
from tests.emulators.openai import OpenAiEmulator

ASK = {"model": "test-model", "stream": True, "messages": [{"role": "user", "content": "hi"}]}


def words(lines: Sequence[str]) -> list[str]:
    """Return the text of each chunk; lines that are not JSON stay as they are."""
    found = []
    for line in lines:
        if line.startswith('{"'):
            found += [each["delta"].get("content") for each in json.loads(line)["choices"]]
        else:
            found.append(line)
    return [each for each in found if each]


async def lines(url: str, body: Mapping[str, object]) -> list[str]:
    """Return the data lines of a streamed response."""
    async with aiohttp.ClientSession() as session, session.post(url, json=body) as answer:
        text = await answer.text()
    return [line.removeprefix("data: ") for line in text.splitlines() if line.startswith("data: ")]


async def test_the_usage_comes_after_the_finish_reason() -> None:
    async with OpenAiEmulator([says(deltas=["Hel", "lo"])]) as model:
        body = {**ASK, "stream_options": {"include_usage": True}}
        *chunks, done = await lines(f"{model.base_url}/chat/completions", body)
        await model.wait_for(lambda: model.requests[0].finished)

    assert done == "[DONE]"
    *_, first, second, finish, usage = [json.loads(chunk) for chunk in chunks]
    assert [each["choices"][0]["delta"]["content"] for each in (first, second)] == ["Hel", "lo"]
    assert finish["choices"][0]["finish_reason"] == "stop"
    assert (usage["choices"], usage["usage"]["total_tokens"]) == ([], 120)
    assert model.violations == []
    assert model.requests[0].last_text == "hi"


async def test_a_script_may_be_a_function_of_the_request() -> None:
    def echo(request: ModelRequest) -> Answer:
        return says(request.last_text.upper())

    async with OpenAiEmulator(echo) as model, aiohttp.ClientSession() as session:
        body = {**ASK, "stream": False}
        async with session.post(f"{model.base_url}/chat/completions", json=body) as answer:
            assert (await answer.json())["choices"][0]["message"]["content"] == "HI"


async def test_a_stalled_stream_ends_when_the_client_hangs_up() -> None:
    async with OpenAiEmulator([says("never ends", chunk=3, breaks=Break("stall", 2))]) as model:
        asking = asyncio.create_task(lines(f"{model.base_url}/chat/completions", ASK))
        await model.wait_for(lambda: len(model.requests) == 1)
        assert model.open_requests == 1
        asking.cancel()
        await model.wait_for(lambda: model.requests[0].abandoned)
        assert model.open_requests == 0


@pytest.mark.parametrize(
    ("broken", "expected"),
    [
        (Break("end", 1), ["abc"]),
        (Break("garbage", 1), ["abc", "{oops", "def", "[DONE]"]),
        (Break("end", 9), ["abc", "def"]),
    ],
    ids=["in the middle", "by a line of garbage", "before the finish reason"],
)
async def test_a_stream_breaks_where_the_script_says(broken: Break, expected: list[str]) -> None:
    async with OpenAiEmulator([says(deltas=["abc", "def"], breaks=broken)]) as model:
        assert words(await lines(f"{model.base_url}/chat/completions", ASK)) == expected


async def test_a_cut_stream_is_a_broken_connection() -> None:
    async with OpenAiEmulator([says("abcdef", chunk=3, breaks=Break("cut", 1))]) as model:
        with pytest.raises(aiohttp.ClientError):
            await lines(f"{model.base_url}/chat/completions", ASK)


async def test_what_the_real_service_would_refuse_is_a_violation() -> None:
    unanswered = [
        {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "type": "function"}]},
        {"role": "user", "content": "well?"},
    ]
    async with OpenAiEmulator([says("never said")]) as model, aiohttp.ClientSession() as session:
        for body in ({**ASK, "nonsense": 1}, {**ASK, "messages": unanswered}):
            async with session.post(f"{model.base_url}/chat/completions", json=body) as answer:
                assert answer.status == 400
        async with session.get(f"{model.url}/elsewhere") as answer:
            assert answer.status == 404
        assert [each.split(":")[0] for each in model.violations] == [
            "Unrecognized request argument supplied",
            "tool_call_ids did not have response messages",
            "unknown route GET /elsewhere",
        ]


async def test_the_models_are_listed_with_their_window() -> None:
    async with OpenAiEmulator(models=["small"], context_window=4096) as model, aiohttp.ClientSession() as session:
        answer = await session.get(f"{model.base_url}/models")
        (only,) = (await answer.json())["data"]
    assert (only["id"], only["max_model_len"]) == ("small", 4096)


async def test_faults_and_failures_have_the_words_of_the_wire() -> None:
    async with AnthropicEmulator([overflow()]) as model, aiohttp.ClientSession() as session:
        model.faults.rate_limit("messages", retry_after=3)
        body = {**ASK, "max_tokens": 10}
        told = []
        for _ in range(2):
            answer = await session.post(f"{model.url}/v1/messages", json=body, headers={"anthropic-version": "1"})
            told.append((answer.status, answer.headers.get("Retry-After"), (await answer.json())["error"]["type"]))
    assert told == [(429, "3", "rate_limit_error"), (400, None, "invalid_request_error")]
    assert model.violations == []


async def test_a_script_that_has_run_out_is_a_violation() -> None:
    async with OpenAiEmulator([]) as model:
        await lines(f"{model.base_url}/chat/completions", ASK)
        assert model.violations == ["the script has no answer to request 1: 'hi'"]


USE = {"type": "tool_use", "id": "1", "name": "look", "input": {}}
CALL = {"role": "assistant", "content": [USE]}
TWICE = {"role": "assistant", "content": [USE, USE]}
RESULT = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "seen"}]}
LOOK = {"name": "look", "input_schema": {"type": "object"}}
HI = {"role": "user", "content": "hi"}


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"messages": [{"role": "assistant", "content": "hi"}]}, "first message must use the `user` role"),
        ({"messages": [{"role": "user", "content": ""}]}, "must have non-empty content"),
        ({"messages": [{"role": "user", "content": " \n"}]}, "must contain non-whitespace text"),
        ({"messages": [HI, {"role": "assistant", "content": "So "}]}, "cannot end with trailing whitespace"),
        ({"messages": [HI, CALL, RESULT]}, "must define tools"),
        (
            {"messages": [HI, TWICE, RESULT], "tools": [LOOK]},
            "ids must be unique",
        ),
        ({"tools": [LOOK, LOOK]}, "Tool names must be unique"),
        ({"tools": [{"name": "look"}]}, "Input should be 'object'"),
        ({"temperature": 1.5}, "range: 0..1"),
        ({"thinking": {"type": "enabled", "budget_tokens": 10}}, "must be greater than"),
        ({"system": [{"type": "text", "text": "s", "cache_control": {}}] * 5}, "Found 5"),
    ],
)
async def test_what_anthropic_would_refuse_is_a_violation(wrong: dict[str, object], told: str) -> None:
    async with AnthropicEmulator([says("never said")]) as model, aiohttp.ClientSession() as session:
        body = {**ASK, "max_tokens": 10, **wrong}
        answer = await session.post(f"{model.url}/v1/messages", json=body, headers={"anthropic-version": "1"})
        refused = (await answer.json())["error"]["message"]

    assert answer.status == 400
    assert told in refused
    assert model.violations == [refused]
