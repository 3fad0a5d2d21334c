"""All model clients, each connected to an emulated model that plays a script."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass

from agent_core.models.litellm_client import LitellmClient
from agent_core.models.llm import FailureKind, LlmClient, LlmOptions, LlmRequest, ModelInfo, StreamDone, StreamEvent
from agent_core.models.openai_client import OpenAiClient
from agent_core.models.scripted import Call, Calls, CutOff, ScriptedLlm, Thinks
from agent_core.models.scripted import Failure as ScriptedFailure
from agent_core.models.scripted import Turn as ScriptedTurn
from tests.emulators.anthropic import AnthropicEmulator
from tests.emulators.gemini import GeminiEmulator
from tests.emulators.model_script import Answer, Failure, Script, Turn
from tests.emulators.model_server import ModelServer
from tests.emulators.openai import OpenAiEmulator
from tests.messages import user

KEY = "sk-emulated-0123456789"
OPTIONS = LlmOptions(timeout_s=20)
HELLO = LlmRequest(system="Be brief.", messages=(user("Hello?"),))


def model_info(name: str, provider: str = "") -> ModelInfo:
    return ModelInfo(
        id=name,
        provider=provider,
        vision=True,
        reasoning=True,
        input_price=3.0,
        output_price=15.0,
        cache_read_price=0.3,
    )


@dataclass(frozen=True)
class Talk:
    """A client and the server at the other end; None if the client has no wire."""

    client: LlmClient
    model: ModelInfo
    server: ModelServer | None = None

    async def events(self, request: LlmRequest = HELLO, options: LlmOptions = OPTIONS) -> list[StreamEvent]:
        return [event async for event in self.client.stream(self.model, request, options)]

    async def done(self, request: LlmRequest = HELLO, options: LlmOptions = OPTIONS) -> StreamDone:
        last = (await self.events(request, options))[-1]
        assert isinstance(last, StreamDone)
        return last


Meeting = Callable[[Script], AbstractAsyncContextManager[Talk]]


@asynccontextmanager
async def light(script: Script) -> AsyncIterator[Talk]:
    async with OpenAiEmulator(script, api_key=KEY) as server:
        client = OpenAiClient(server.base_url, KEY)
        yield Talk(client, model_info("test-model"), server)
        await client.close()
        assert server.violations == []


@asynccontextmanager
async def litellm_openai(script: Script) -> AsyncIterator[Talk]:
    async with OpenAiEmulator(script, api_key=KEY) as server:
        client = LitellmClient(KEY, server.base_url)
        yield Talk(client, model_info("openai/test-model", "openai"), server)
        await client.close()
        assert server.violations == []


@asynccontextmanager
async def litellm_anthropic(script: Script) -> AsyncIterator[Talk]:
    async with AnthropicEmulator(script, api_key=KEY) as server:
        client = LitellmClient(KEY, server.url)
        yield Talk(client, model_info("anthropic/claude-test", "anthropic"), server)
        await client.close()
        assert server.violations == []


@asynccontextmanager
async def litellm_gemini(script: Script) -> AsyncIterator[Talk]:
    async with GeminiEmulator(script, api_key=KEY) as server:
        client = LitellmClient(KEY, server.base_url)
        yield Talk(client, model_info("gemini/gemini-3-flash", "gemini"), server)
        await client.close()
        assert server.violations == []


@asynccontextmanager
async def scripted(script: Script) -> AsyncIterator[Talk]:
    assert not callable(script)
    yield Talk(ScriptedLlm(*map(_scripted_turn, script)), model_info("scripted"))


def _scripted_turn(answer: Answer) -> ScriptedTurn:
    if isinstance(answer, Failure):
        return ScriptedFailure(_KINDS[answer.reason], answer.message or answer.reason, answer.retry_after)
    if answer.breaks:
        words = "".join(answer.text_deltas[: answer.breaks.after])
        return ScriptedFailure(FailureKind.TRANSIENT, answer.breaks.kind, after_words=words)
    turn = _scripted_words(answer)
    return Thinks(answer.thinking, turn) if answer.thinking else turn


def _scripted_words(answer: Turn) -> ScriptedTurn:
    if answer.tools:
        calls = tuple(Call(tool.name, tool.arguments, tool.id or None) for tool in answer.tools)
        return Calls(calls, answer.whole_text)
    return CutOff(answer.whole_text) if answer.finish else answer.whole_text


_KINDS = {
    "rate_limit": FailureKind.TRANSIENT,
    "server": FailureKind.TRANSIENT,
    "overloaded": FailureKind.TRANSIENT,
    "auth": FailureKind.AUTH,
    "overflow": FailureKind.OVERFLOW,
    "bad_request": FailureKind.INVALID,
    "not_found": FailureKind.INVALID,
}

OVER_A_WIRE: dict[str, Meeting] = {
    "light": light,
    "litellm-openai": litellm_openai,
    "litellm-anthropic": litellm_anthropic,
    "litellm-gemini": litellm_gemini,
}
EVERY_CLIENT: dict[str, Meeting] = {**OVER_A_WIRE, "scripted": scripted}
