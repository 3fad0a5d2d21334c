"""Client of hosted providers, by litellm. Only this file imports it, at the first call or in `warm_up`.

litellm only translates: retries, budgets and fallbacks are Parley's own, so that they work the same for every client.
"""

import asyncio
import contextlib
import copy
import importlib
import logging
import os
import sys
import time
import warnings
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from types import ModuleType
from typing import Any

import aiohttp

from agent_core.clock import NewId, new_id
from agent_core.models.answer import Answer
from agent_core.models.anthropic_request import mark_for_cache, thinking_arguments
from agent_core.models.chunks import Chunk, read_chunk
from agent_core.models.finish import Finish, meaning_of
from agent_core.models.litellm_anthropic import correct_anthropic
from agent_core.models.litellm_chunks import correct_chunks, correct_lines
from agent_core.models.litellm_failures import failure_of, refusal_in
from agent_core.models.litellm_gemini import correct_gemini
from agent_core.models.llm import (
    FailureKind,
    LlmFailure,
    LlmOptions,
    LlmRequest,
    ModelInfo,
    StreamEvent,
)
from agent_core.models.manners import Manners
from agent_core.models.openai_wire import Reader, messages_to_wire, thinking_for, tools_to_wire

_BEFORE_IMPORT = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_MODE": "PRODUCTION",
    "EXPERIMENTAL_OPENAI_BASE_LLM_HTTP_HANDLER": "True",
}
"""Without the first two, the import fetches a file from the network and reads `.env` in the working directory. The last
lets OpenAI's own models be asked as those of other providers are, whose chunks are mended before litellm reads them."""
_REASONS = ("received_finish_reason", "intermittent_finish_reason")
"""Where litellm keeps the provider's finish reason."""
_LOGGERS = ("LiteLLM", "LiteLLM Proxy", "LiteLLM Router")
_IMPORTING = ThreadPoolExecutor(1, "litellm")
"""The thread that imports litellm: clients that begin at once must not hold the threads of all other work meanwhile."""

# Other exceptions of litellm: bugs in its translation, and untranslated errors of its transports.
_SLIPS = (aiohttp.ClientError, OSError, ValueError, TypeError, LookupError, AttributeError, RuntimeError, ImportError)


class _CallFailed(Exception):
    """litellm raised an error before the answer was whole."""

    def __init__(self, error: Exception, refusal: str, *, began: bool) -> None:
        super().__init__(str(error))
        self.error = error
        self.refusal = refusal
        """The provider's words, if it refused the request."""
        self.began = began
        """True if an answer had begun."""


class _StreamCut(Exception):
    """The stream ended without a finish reason."""


class LitellmClient:
    """Calls the provider that a model's id starts with, as in `anthropic/claude-sonnet-5`."""

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
        self._manners = Manners()

    async def warm_up(self) -> None:
        """Import litellm in a thread, about 3 s that the first call would take."""
        litellm = await self._load()
        await asyncio.get_running_loop().run_in_executor(_IMPORTING, _warm, litellm)

    async def stream(
        self, model: ModelInfo, request: LlmRequest, options: LlmOptions
    ) -> AsyncGenerator[StreamEvent, None]:
        """See `LlmClient.stream`."""
        answer = Answer(model, self._make_id, tools={tool.name: tool.parameters for tool in request.tools})
        try:
            litellm = await self._load()
        except _SLIPS as error:
            reason = f"litellm cannot be loaded: {type(error).__name__}"
            yield answer.done(LlmFailure(kind=FailureKind.FATAL, message=reason))
            return
        before = self._manners.of(model.id)
        while True:
            failure = None
            arguments = self._arguments(litellm, model, request, options)
            try:
                async with contextlib.aclosing(self._events(litellm, answer, arguments)) as events:
                    async for event in events:
                        yield event
            except _CallFailed as error:
                if self._manners.learn(model.id, error.refusal, arguments, request.messages):
                    continue
                secrets = self._api_key or "", _key(options)
                failure = failure_of(litellm, error.error, secrets=secrets, now=self._now(), began=error.began)
            except _StreamCut:
                failure = LlmFailure(kind=FailureKind.TRANSIENT, message="the stream ended before the answer did")
            break
        for late in answer.rest():
            yield late
        lost_tools = bool(request.tools) and self._manners.of(model.id).without_tools(before)
        yield answer.done(failure).model_copy(update={"lost_tools": lost_tools})

    async def _events(
        self, litellm: ModuleType, answer: Answer, arguments: dict[str, Any]
    ) -> AsyncGenerator[StreamEvent, None]:
        """Send one request and yield what comes, up to the end of the answer. Raises _CallFailed and _StreamCut."""
        chunks: Any = None
        began = False
        timeout_s = arguments["timeout"]
        try:
            async with asyncio.timeout(timeout_s):
                chunks = await litellm.acompletion(**arguments)
                await chunks.fetch_stream()  # litellm asks some providers only now
            for start in answer.begins():
                yield start
            async with contextlib.aclosing(chunks), contextlib.aclosing(_read(chunks, timeout_s)) as pieces:
                async for chunk in pieces:
                    began = True
                    for event in answer.take(chunk):
                        yield event
        except _raised_by(litellm) as error:
            answer.end(_reason_in(chunks))
            if not answer.finished:
                raise _CallFailed(error, "" if began else refusal_in(litellm, error), began=began) from error
        if chunks is not None and _was_cut(chunks):
            raise _StreamCut

    async def close(self) -> None:
        """Close the connections that litellm keeps for the whole process."""
        if self._litellm is None:
            return
        await self._litellm.close_litellm_async_clients()
        self._litellm.in_memory_llm_clients_cache.flush_cache()
        # Anthropic's client is kept separately; litellm creates a new one if it is missing.
        if (client := vars(self._litellm).pop("module_level_aclient", None)) is not None:
            await client.close()

    async def _load(self) -> ModuleType:
        if self._litellm is None:
            self._litellm = await asyncio.get_running_loop().run_in_executor(_IMPORTING, _corrected_litellm)
        return self._litellm

    def _arguments(
        self, litellm: ModuleType, model: ModelInfo, request: LlmRequest, options: LlmOptions
    ) -> dict[str, Any]:
        is_anthropic = model.provider == "anthropic"
        manner = self._manners.of(model.id, request.messages)
        sees = model.vision and not manner.takes_no_pictures
        messages = messages_to_wire(request, Reader(model.provider, model.id, vision=sees, manner=manner))
        if is_anthropic:
            mark_for_cache(messages)
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
            # litellm changes the schemas for some providers. Without the flag, it imports its MCP proxy, which fails if
            # `mcp` is missing.
            tools = copy.deepcopy(tools_to_wire(request.tools, manner))
            arguments |= {"tools": tools, "_skip_mcp_handler": True}
            if request.tool_choice != "auto":
                arguments["tool_choice"] = request.tool_choice
        if is_anthropic:
            arguments |= thinking_arguments(model, options, messages, drops=manner.drops_thoughts)
        elif thinking := thinking_for(model, options):
            level = {"reasoning_effort": thinking.level}
            arguments |= {"max_tokens": thinking.max_tokens, "temperature": None, **level}
        if model.provider == "openai":
            arguments |= _for_openai(litellm, model, request, options)
        return manner.fits(arguments)


def _key(options: LlmOptions) -> str:
    return options.api_key.get_secret_value() if options.api_key else ""


@cache  # a correction wraps a function of litellm: made for each client, it would wrap it once more each time
def _corrected_litellm() -> ModuleType:
    for name, value in _BEFORE_IMPORT.items():
        os.environ.setdefault(name, value)
    import litellm  # noqa: PLC0415 - 2 s and 150 MB that only hosted providers need

    litellm.suppress_debug_info = True
    litellm.telemetry = False
    # Anthropic rejects tool calls in the history without tools, and empty texts; litellm then adds them.
    litellm.modify_params = True
    # An answer may repeat a chunk, as in the rule of a table; litellm would fail it at the hundredth.
    vars(litellm)["REPEATED_STREAMING_CHUNK_LIMIT"] = sys.maxsize
    helpers = importlib.import_module("litellm.litellm_core_utils.core_helpers")
    vars(helpers)["_FINISH_REASON_MAP"] = _Reasons(vars(helpers)["_FINISH_REASON_MAP"])
    correct_gemini(helpers.map_finish_reason)
    correct_anthropic()
    correct_chunks()
    # A redirection would take the conversation, and Anthropic's key with it, to another server.
    handler = importlib.import_module("litellm.llms.custom_httpx.http_handler").AsyncHTTPHandler
    correct_lines(handler)
    handler.follow_redirects = property(lambda _: False, lambda *_: None)
    # This warning appears if a run is cancelled while litellm prepares its request in a thread.
    warnings.filterwarnings("ignore", r"coroutine '(\w+ChatCompletion|BaseLLMHTTPHandler)\..*' was never awaited")
    for name in _LOGGERS:
        # Failures are returned as `LlmFailure`; litellm would also log them, with messages of the chat.
        logging.getLogger(name).setLevel(logging.CRITICAL)
    return litellm


def _warm(litellm: ModuleType) -> None:
    """Make a mock call, and import the part of the OpenAI SDK that the first real call needs."""
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


def _raised_by(litellm: ModuleType) -> tuple[type[Exception], ...]:
    """Return the errors that litellm, its translators and its HTTP library raise, and those of its mistakes."""
    translation: ModuleType = importlib.import_module("litellm.llms.base_llm.chat.transformation")
    exceptions = litellm.exceptions
    return exceptions.openai.OpenAIError, translation.BaseLLMException, exceptions.httpx.HTTPError, *_SLIPS


async def _read(chunks: AsyncIterator[object], timeout_s: float) -> AsyncGenerator[Chunk, None]:
    """Yield all chunks to the very end: the usage comes after the finish reason."""
    while True:
        async with asyncio.timeout(timeout_s):
            chunk = await anext(chunks, None)
        if chunk is None:
            return
        yield read_chunk(chunk)


def _was_cut(chunks: Any) -> bool:
    """Return True if the provider sent no finish reason; litellm then makes up "stop" and a usage."""
    return all(getattr(chunks, name, "unknown") is None for name in _REASONS)


def _reason_in(chunks: Any) -> str | None:
    """Return the finish reason that litellm holds back until the end of the stream; None if there was none."""
    return next((str(reason) for name in _REASONS if (reason := getattr(chunks, name, None))), None)


class _Reasons(dict[str, str]):
    """litellm's translations of finish reasons, without those that make an answer whole that is not."""

    def get(self, reason: str, default: Any = None) -> Any:
        match meaning_of(reason):
            case Finish.WHOLE:
                return super().get(reason, "stop")
            case Finish.CUT:
                return super().get(reason, "length")
            case _:
                return reason


def _for_openai(litellm: ModuleType, model: ModelInfo, request: LlmRequest, options: LlmOptions) -> dict[str, Any]:
    """Return arguments that keep litellm from switching to the Responses API, for which it needs `mcp`.

    In the chat protocol, models from GPT-5.4 on accept tools only with reasoning off.
    """
    arguments: dict[str, Any] = {"_skip_responses_api_bridge": True}
    if request.tools and litellm.OpenAIGPT5Config.is_model_gpt_5_4_plus_model(model.id.removeprefix("openai/")):
        arguments["reasoning_effort"] = "none"
    if options.session_id:
        arguments["prompt_cache_key"] = options.session_id
    return arguments
