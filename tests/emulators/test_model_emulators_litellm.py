"""The emulated models through unmodified litellm, each with the provider whose protocol it speaks."""

import importlib
import json
import os
from collections.abc import AsyncIterator, Sequence
from types import ModuleType

import pytest

from tests.emulators.anthropic import AnthropicEmulator
from tests.emulators.model_script import Break, ToolUse, calls, overflow, says
from tests.emulators.openai import OpenAiEmulator

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "weather",
            "description": "The weather in a city.",
            "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
        },
    }
]
ASKED = [{"role": "user", "content": "What is it like in Oslo?"}]
CALL = ToolUse("weather", {"city": "Oslo"}, id="call_7")
ANSWERED = [
    *ASKED,
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": "call_7",
                "type": "function",
                "function": {"name": "weather", "arguments": json.dumps(CALL.arguments)},
            }
        ],
    },
    {"role": "tool", "tool_call_id": "call_7", "content": "rain"},
]


@pytest.fixture
async def litellm() -> AsyncIterator[ModuleType]:
    """The litellm module, imported late because it is slow and reads its environment on import."""
    os.environ |= {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_MODE": "PRODUCTION"}
    module = importlib.import_module("litellm")
    yield module
    await module.close_litellm_async_clients()


async def streamed(litellm: ModuleType, model: str, url: str, messages: Sequence[object]) -> list[object]:
    stream = await litellm.acompletion(
        model=model,
        api_base=url,
        api_key="emulated",
        messages=list(messages),
        tools=TOOLS,
        stream=True,
        stream_options={"include_usage": True},
        num_retries=0,
        max_retries=0,
        drop_params=True,
        _skip_mcp_handler=True,
    )
    return [chunk async for chunk in stream]


@pytest.mark.parametrize("wire", ["openai", "anthropic"])
async def test_a_tool_call_is_streamed_and_its_result_answered(litellm: ModuleType, wire: str) -> None:
    emulator = OpenAiEmulator if wire == "openai" else AnthropicEmulator
    async with emulator([calls(CALL, text="Let me look."), says("Take an umbrella ☔.")]) as model:
        url = f"{model.url}/v1" if wire == "openai" else model.url
        first = litellm.stream_chunk_builder(await streamed(litellm, f"{wire}/claude-test", url, ASKED))
        second = litellm.stream_chunk_builder(await streamed(litellm, f"{wire}/claude-test", url, ANSWERED))

    (call,) = first.choices[0].message.tool_calls
    assert (call.id, call.function.name, json.loads(call.function.arguments)) == ("call_7", "weather", CALL.arguments)
    assert first.choices[0].message.content == "Let me look."
    assert (first.usage.prompt_tokens, first.usage.completion_tokens) == (100, 20)
    assert second.choices[0].message.content == "Take an umbrella ☔."
    assert model.requests[0].tools == ["weather"]
    assert model.violations == []


async def test_a_stream_that_ends_early_looks_whole_to_litellm(litellm: ModuleType) -> None:
    """Its finish reason cannot be trusted; only the missing usage shows the cut."""
    async with OpenAiEmulator([says("half an answer", chunk=5, breaks=Break("end", 2))]) as model:
        chunks = await streamed(litellm, "openai/test-model", model.base_url, ASKED)
    whole = litellm.stream_chunk_builder(chunks)
    assert whole.choices[0].message.content == "half an an"
    assert whole.choices[0].finish_reason == "stop"


async def test_a_stream_that_is_cut_raises(litellm: ModuleType) -> None:
    async with OpenAiEmulator([says("half an answer", chunk=5, breaks=Break("cut", 2))]) as model:
        with pytest.raises(litellm.exceptions.MidStreamFallbackError):
            await streamed(litellm, "openai/test-model", model.base_url, ASKED)


@pytest.mark.parametrize("wire", ["openai", "anthropic"])
async def test_a_context_that_overflows_is_recognised(litellm: ModuleType, wire: str) -> None:
    emulator = OpenAiEmulator if wire == "openai" else AnthropicEmulator
    async with emulator([overflow()]) as model:
        url = f"{model.url}/v1" if wire == "openai" else model.url
        with pytest.raises(litellm.ContextWindowExceededError):
            await streamed(litellm, f"{wire}/claude-test", url, ASKED)
