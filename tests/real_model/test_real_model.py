"""A real model on a real llama.cpp server answers; `./run test --real-model` installs both."""

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent_core.messages import text_of
from agent_core.models.llm import LlmOptions, LlmRequest, StreamDone
from agent_core.models.selection import choose_model, make_client
from tests.messages import user

PYTHON = os.environ.get("PARLEY_REAL_MODEL", "")
"""The Python of the environment that has the model."""

pytestmark = pytest.mark.skipif(not PYTHON, reason="`./run test --real-model` asks a real model")


@pytest.fixture
async def address() -> AsyncIterator[str]:
    process = await asyncio.create_subprocess_exec(
        PYTHON,
        str(Path(__file__).with_name("server.py")),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        assert process.stdout is not None
        yield (await process.stdout.readline()).decode().strip()
    finally:
        process.kill()
        await process.wait()


@pytest.mark.timeout(180)
async def test_a_real_model_answers(address: str) -> None:
    choice = await choose_model(None, {}, base_url=f"{address}/v1")
    client = make_client(choice)
    request = LlmRequest(system="Be brief.", messages=(user("What is the capital of France?"),))
    options = LlmOptions(timeout_s=150, max_tokens=24, temperature=0)
    *_, done = [event async for event in client.stream(choice.model, request, options)]
    await client.close()

    assert isinstance(done, StreamDone)
    assert done.failure is None
    assert "Paris" in text_of(done.message.content)
    assert done.message.usage.output > 0
