"""Hosted providers, through litellm: the only file that imports it, and only at the first call or `warm_up`.

litellm translates and nothing else: retries, budgets and fallbacks are ours, so that they hold for every client.
"""

import asyncio
import contextlib
import importlib
import logging
import os
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from types import ModuleType
from typing import Any

import aiohttp

from agent_core.clock import NewId, new_id
from agent_core.llm import FailureKind, LlmFailure, LlmOptions, LlmRequest, ModelInfo, StreamEvent, StreamStart
from agent_core.models.answer import Answer
from agent_core.models.failures import classify, redact, retry_after_s
from agent_core.models.openai_chunks import Chunk
from agent_core.models.openai_wire import WireObject, messages_to_wire, tools_to_wire
from agent_core.models.thinking import Thinking, thinking_for

_BEFORE_IMPORT = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_MODE": "PRODUCTION"}
"""Without these, the import fetches a file from the network and reads the `.env` of the working directory."""
_LOGGERS = ("LiteLLM", "LiteLLM Proxy", "LiteLLM Router")

# What else may come out of litellm: slips of its translation, and errors of its transports that it did not translate.
_SLIPS = (aiohttp.ClientError, OSError, ValueError, TypeError, LookupError, AttributeError, RuntimeError, ImportError)


class LitellmClient:
    """Speaks to the provider that a model's id begins with, as in `anthropic/claude-sonnet-5`."""

    def __init__(
        self,
        api_key: str | None = None,
        api_base: str | None = None,
        *,
        make_id: NewId = new_id,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._api_key = api_key
        self._api_base = api_base
        self._make_id = make_id
        self._now = now
        self._litellm: ModuleType | None = None

    async def warm_up(self) -> None:
        """Do in a thread what would make the first call slow: about 3 s of imports."""
        await asyncio.to_thread(_warm, await self._load())

    async def stream(
        self, model: ModelInfo, request: LlmRequest, options: LlmOptions
    ) -> AsyncGenerator[StreamEvent, None]:
        """As `LlmClient.stream`."""
        yield StreamStart()
        answer = Answer(model, self._make_id)
        try:
            litellm = await self._load()
        except _SLIPS as error:
            reason = f"litellm cannot be loaded: {type(error).__name__}"
            yield answer.done(LlmFailure(kind=FailureKind.FATAL, message=reason))
            return
        failure: LlmFailure | None = None
        try:
            async with asyncio.timeout(options.timeout_s):
                chunks = await litellm.acompletion(**self._arguments(litellm, model, request, options))
            async with contextlib.aclosing(chunks), contextlib.aclosing(_read(chunks, options.timeout_s)) as pieces:
                async for chunk in pieces:
                    for event in answer.take(chunk):
                        yield event
            if _was_cut(chunks):
                failure = LlmFailure(kind=FailureKind.TRANSIENT, message="the stream ended before the answer did")
        except (litellm.exceptions.openai.OpenAIError, _translation_error(), *_SLIPS) as error:
            failure = self._failure(litellm, error, options)
        yield answer.done(failure)

    async def close(self) -> None:
        """Close the connections that litellm keeps for the whole process."""
        if self._litellm is None:
            return
        await self._litellm.close_litellm_async_clients()
        self._litellm.in_memory_llm_clients_cache.flush_cache()
        # Anthropic's is kept elsewhere; litellm makes a new one when it is missed.
        if (client := vars(self._litellm).pop("module_level_aclient", None)) is not None:
            await client.close()

    async def _load(self) -> ModuleType:
        if self._litellm is None:
            self._litellm = await asyncio.to_thread(_import_litellm)
        return self._litellm

    def _arguments(
        self, litellm: ModuleType, model: ModelInfo, request: LlmRequest, options: LlmOptions
    ) -> dict[str, Any]:
        is_anthropic = model.provider == "anthropic"
        messages = messages_to_wire(request, vision=model.vision, signed_by="anthropic/" if is_anthropic else "")
        if is_anthropic:
            _mark_for_cache(messages)
        arguments: dict[str, Any] = {
            "model": model.id,
            "messages": messages,
            "stream": True,
            "stream_options": {"include_usage": True},
            "max_tokens": model.answer_tokens(options.max_tokens),
            "timeout": options.timeout_s,
            "num_retries": 0,
            "max_retries": 0,
            "drop_params": True,
            "api_key": _key(options) or self._api_key,
            "api_base": self._api_base,
            "temperature": options.temperature,
        }
        if request.tools:
            # Without the flag, a call with tools imports litellm's proxy for MCP, and fails where `mcp` is missing.
            arguments |= {"tools": tools_to_wire(request.tools), "_skip_mcp_handler": True}
            if request.tool_choice != "auto":
                arguments["tool_choice"] = request.tool_choice
        if thinking := thinking_for(model, options):
            arguments |= _thinking(model, thinking)
        if model.provider == "openai":
            arguments |= _for_openai(litellm, model, request, options)
        return arguments

    def _failure(self, litellm: ModuleType, error: Exception, options: LlmOptions) -> LlmFailure:
        """By litellm's class first, by status and words second (C-25)."""
        secrets = (self._api_key or "", _key(options))
        text = str(error) or type(error).__name__
        headers = _headers(error)
        if isinstance(error, TimeoutError):
            return LlmFailure(kind=FailureKind.TRANSIENT, message="the provider was silent for too long")
        if isinstance(error, litellm.ContextWindowExceededError):
            kind = FailureKind.OVERFLOW
        elif isinstance(error, litellm.AuthenticationError):
            kind = FailureKind.AUTH
        else:
            kind = classify(_status(error), text)
        return LlmFailure(
            kind=kind,
            message=redact(text.removeprefix("litellm."), secrets),
            retry_after_s=retry_after_s(headers, text, now=self._now()),
        )


def _key(options: LlmOptions) -> str:
    return options.api_key.get_secret_value() if options.api_key else ""


def _import_litellm() -> ModuleType:
    for name, value in _BEFORE_IMPORT.items():
        os.environ.setdefault(name, value)
    import litellm  # noqa: PLC0415 - 2 s and 150 MB that only hosted providers need

    litellm.suppress_debug_info = True
    litellm.telemetry = False
    # Anthropic refuses a history with tool calls but no tools, and empty texts; litellm then adds what is missing.
    litellm.modify_params = True
    for name in _LOGGERS:
        # A failure is data here (`LlmFailure`); litellm would print it too, with the words of the chat.
        logging.getLogger(name).setLevel(logging.CRITICAL)
    return litellm


def _warm(litellm: ModuleType) -> None:
    """A call that is answered in the process; and the half of the OpenAI SDK that its first real call imports."""
    importlib.import_module("openai.resources.chat")
    for model in ("openai/gpt-4o", "anthropic/claude"):
        chunks = litellm.completion(
            model=model,
            messages=[{"role": "user", "content": "hi"}],
            mock_response="hi",
            stream=True,
            stream_options={"include_usage": True},
            api_key="none",
        )
        for _ in chunks:
            pass


def _translation_error() -> type[Exception]:
    """The root of what litellm's translators raise."""
    error: type[Exception] = importlib.import_module("litellm.llms.base_llm.chat.transformation").BaseLLMException
    return error


async def _read(chunks: AsyncIterator[object], timeout_s: float) -> AsyncGenerator[Chunk, None]:
    """To the very end: the usage comes after the finish reason."""
    while True:
        async with asyncio.timeout(timeout_s):
            chunk = await anext(chunks, None)
        if chunk is None:
            return
        yield Chunk.model_validate(chunk)


def _was_cut(chunks: Any) -> bool:
    """Whether the provider never said why it stopped. litellm then invents a "stop" and a usage of its own."""
    names = ("received_finish_reason", "intermittent_finish_reason")
    return all(getattr(chunks, name, "unknown") is None for name in names)


def _thinking(model: ModelInfo, thinking: Thinking) -> dict[str, Any]:
    """No temperature beside it. Anthropic's older models take a budget in tokens; all others take a level."""
    words: dict[str, Any] = {"max_tokens": thinking.max_tokens, "temperature": None}
    if model.provider == "anthropic" and not model.adaptive:
        return words | {"thinking": {"type": "enabled", "budget_tokens": thinking.budget}}
    return words | {"reasoning_effort": thinking.level}


def _for_openai(litellm: ModuleType, model: ModelInfo, request: LlmRequest, options: LlmOptions) -> dict[str, Any]:
    """litellm must not change over to the Responses API: its way there needs `mcp`.

    In the chat protocol, models from GPT-5.4 on take tools only while they do not think.
    """
    arguments: dict[str, Any] = {"_skip_responses_api_bridge": True}
    if request.tools and litellm.OpenAIGPT5Config.is_model_gpt_5_4_plus_model(model.id.removeprefix("openai/")):
        arguments["reasoning_effort"] = "none"
    if options.session_id:
        arguments["prompt_cache_key"] = options.session_id
    return arguments


def _mark_for_cache(messages: list[WireObject]) -> None:
    """Anthropic keeps the prompt up to a mark: one after the system prompt, one after everything said so far."""
    if not messages:
        return
    mark: WireObject = {"cache_control": {"type": "ephemeral"}}
    first, last = messages[0], messages[-1]
    if first["role"] == "system":
        first["content"] = [{"type": "text", "text": first["content"], **mark}]
    if last["role"] == "tool":
        last |= mark
    elif last["role"] == "user" and isinstance(last["content"], str) and last["content"]:
        last["content"] = [{"type": "text", "text": last["content"], **mark}]


def _status(error: Exception) -> int | None:
    status = getattr(error, "status_code", None)
    return status if isinstance(status, int) else None


def _headers(error: Exception) -> Mapping[str, str]:
    """Of the provider's answer, as far as litellm kept them."""
    for holder in (error, getattr(error, "response", None)):
        for name in ("litellm_response_headers", "headers"):
            if headers := getattr(holder, name, None):
                return {str(key).lower(): str(value) for key, value in headers.items()}
    return {}
