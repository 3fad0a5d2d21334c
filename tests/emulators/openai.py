"""An emulation of OpenAI's chat API on loopback: /v1/chat/completions and /v1/models.

async with OpenAiEmulator([calls("clock"), says("It is noon.")]) as model:
    ... base_url=model.base_url, model "test-model" ...
    assert model.requests[0].tools == ["clock"]
    assert model.violations == []
"""

import re
import time
from collections.abc import Callable, Sequence

from aiohttp import web
from pydantic import JsonValue

from parley.testing.emulators.control import Call
from tests.emulators.model_script import Failure, Json, ModelRequest, Script, Turn, Usage, pieces
from tests.emulators.model_server import Frames, ModelServer, encoded

KNOWN = {
    "model",
    "messages",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "stream",
    "stream_options",
    "temperature",
    "top_p",
    "n",
    "stop",
    "max_tokens",
    "max_completion_tokens",
    "presence_penalty",
    "frequency_penalty",
    "logit_bias",
    "logprobs",
    "top_logprobs",
    "seed",
    "user",
    "response_format",
    "reasoning_effort",
    "prompt_cache_key",
    "safety_identifier",
    "service_tier",
    "store",
    "metadata",
    "verbosity",
}
MOST_ID = 40
ROLES = {"system", "developer", "user", "assistant", "tool"}
TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
ERRORS: dict[str, tuple[int, str, str | None, str]] = {
    "rate_limit": (429, "rate_limit_error", "rate_limit_exceeded", "Rate limit reached for requests"),
    "server": (500, "server_error", None, "The server had an error while processing your request"),
    "overloaded": (503, "server_error", None, "The engine is currently overloaded, please try again later"),
    "auth": (401, "invalid_request_error", "invalid_api_key", "Incorrect API key provided"),
    "bad_request": (400, "invalid_request_error", None, "Invalid request"),
    "not_found": (404, "invalid_request_error", "model_not_found", "The model does not exist"),
    "overflow": (
        400,
        "invalid_request_error",
        "context_length_exceeded",
        "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens. "
        "Please reduce the length of the messages.",
    ),
}
DONE = b"data: [DONE]\n\n"


class OpenAiEmulator(ModelServer):
    """OpenAI-compatible server. /v1/models reports `context_window` as vLLM does; any model name is accepted unless
    `only_known`."""

    misshapen = b'data: {"id": "x", "object": "chat.completion.chunk", "choices": [{"delta": [7]}]}\n\n'

    def __init__(
        self,
        script: Script = (),
        *,
        models: Sequence[str] = ("test-model",),
        context_window: int | None = None,
        only_known: bool = False,
        api_key: str | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(script, api_key=api_key, clock=clock)
        self.models = list(models)
        self.context_window = context_window
        self.only_known = only_known

    @property
    def base_url(self) -> str:
        return f"{self.url}/v1"

    def routes(self) -> Sequence[web.RouteDef]:
        return [
            web.post("/v1/chat/completions", self._complete),
            web.get("/v1/models", self._list_models),
        ]

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        return await self.complete(request, "chat.completions")

    async def _list_models(self, request: web.Request) -> web.StreamResponse:
        return await self.perform(request, Call("models", {}, self.clock()), self._models, self._refuse)

    async def _models(self) -> web.Response:
        window: Json = {"max_model_len": self.context_window} if self.context_window is not None else {}
        listed: list[JsonValue] = [
            {"id": name, "object": "model", "created": 0, "owned_by": "emulator", **window} for name in self.models
        ]
        return web.json_response({"object": "list", "data": listed})

    def key_of(self, request: web.Request) -> str:
        return request.headers.get("Authorization", "").removeprefix("Bearer ")

    def problem(self, body: Json) -> str | None:
        unknown = body.keys() - KNOWN
        if unknown:
            return f"Unrecognized request argument supplied: {', '.join(sorted(unknown))}"
        messages = body.get("messages")
        if not body.get("model") or not isinstance(messages, list) or not messages:
            return "model and messages are required"
        if "tool_choice" in body and "tools" not in body:
            return "'tool_choice' is only allowed when 'tools' are specified."
        return _tools_problem(body.get("tools")) or _pairing_problem(messages) or _content_problem(messages)

    def failure(self, failure: Failure) -> tuple[int, Json]:
        status, kind, code, words = ERRORS[failure.reason]
        return status, {"error": {"message": failure.message or words, "type": kind, "param": None, "code": code}}

    async def _answer(self, request: web.Request, asked: ModelRequest) -> web.StreamResponse:
        if self.only_known and asked.model not in self.models:
            return self._failed(Failure("not_found", message=f"The model `{asked.model}` does not exist"))
        return await super()._answer(request, asked)

    def frames(self, turn: Turn, asked: ModelRequest) -> Frames:
        def chunk(delta: Json, finish: str | None = None) -> bytes:
            choice: Json = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
            return _frame(self._head(asked, "chat.completion.chunk"), choices=[choice])

        deltas = [chunk({"reasoning_content": each}) for each in pieces(turn.thinking, turn.chunk)]
        deltas += [chunk({"content": each}) for each in turn.text_deltas]
        for index, tool in enumerate(turn.tools):
            call: Json = {"index": index, "id": tool.id or self._call_id(index), "type": "function"}
            deltas.append(chunk({"tool_calls": [{**call, "function": {"name": tool.name, "arguments": ""}}]}))
            deltas += [
                chunk({"tool_calls": [{"index": index, "function": {"arguments": each}}]})
                for each in pieces(tool.raw, turn.chunk)
            ]
        closing = [chunk({}, _finish(turn))]
        options = asked.body.get("stream_options")
        if turn.usage is not None and isinstance(options, dict) and options.get("include_usage"):
            closing.append(_frame(self._head(asked, "chat.completion.chunk"), choices=[], usage=_usage(turn.usage)))
        return Frames([chunk({"role": "assistant", "content": ""})], deltas, [*closing, DONE])

    def whole(self, turn: Turn, asked: ModelRequest) -> Json:
        message: Json = {"role": "assistant", "content": turn.whole_text or None}
        if turn.thinking:
            message["reasoning_content"] = turn.thinking
        if turn.tools:
            message["tool_calls"] = [
                {
                    "id": tool.id or self._call_id(index),
                    "type": "function",
                    "function": {"name": tool.name, "arguments": tool.raw},
                }
                for index, tool in enumerate(turn.tools)
            ]
        choice: Json = {"index": 0, "message": message, "logprobs": None, "finish_reason": _finish(turn)}
        usage: Json = {"usage": _usage(turn.usage)} if turn.usage is not None else {}
        return {**self._head(asked, "chat.completion"), "choices": [choice], **usage}

    def _head(self, asked: ModelRequest, kind: str) -> Json:
        return {"id": "chatcmpl-emulated", "object": kind, "created": 0, "model": asked.model}

    def _call_id(self, index: int) -> str:
        """Return a new id for every call of this server."""
        return f"call_{len(self.requests)}_{index}"


def _frame(head: Json, *, choices: list[JsonValue], usage: Json | None = None) -> bytes:
    body: Json = {**head, "choices": choices}
    if usage is not None:
        body["usage"] = usage
    return b"data: " + encoded(body) + b"\n\n"


def _finish(turn: Turn) -> str:
    return turn.finish or ("tool_calls" if turn.tools else "stop")


def _usage(usage: Usage) -> Json:
    return {
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cached},
    }


def _tools_problem(tools: JsonValue) -> str | None:
    if tools is None:
        return None
    if not isinstance(tools, list) or not tools:
        return "[] is too short - 'tools'"
    for tool in tools:
        function = tool.get("function") if isinstance(tool, dict) and tool.get("type") == "function" else None
        if not isinstance(function, dict):
            return "a tool is no function"
        if not TOOL_NAME.fullmatch(str(function.get("name", ""))):
            return f"Invalid 'tools[].function.name': {function.get('name')!r}"
        if not isinstance(function.get("parameters", {}), dict):
            return "Invalid 'tools[].function.parameters'"
    return None


def _pairing_problem(messages: list[JsonValue]) -> str | None:
    """Check that each tool call is answered directly after it, and nothing else is."""
    open_calls: set[str] = set()
    for message in messages:
        if not isinstance(message, dict) or message.get("role") not in ROLES:
            return f"Invalid message: {str(message)[:80]}"
        if message["role"] == "tool":
            if message.get("tool_call_id") not in open_calls:
                return "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'"
            open_calls.discard(str(message["tool_call_id"]))
            continue
        if open_calls:
            break
        open_calls = _call_ids(message)
        if longest := next((each for each in open_calls if len(each) > MOST_ID), None):
            return f"Invalid 'messages[].tool_calls[].id': string too long, {len(longest)} characters of {MOST_ID}"
    if open_calls:
        return f"tool_call_ids did not have response messages: {', '.join(sorted(open_calls))}"
    return None


def _call_ids(message: Json) -> set[str]:
    asked = message.get("tool_calls")
    return {str(each.get("id")) for each in asked if isinstance(each, dict)} if isinstance(asked, list) else set()


def _content_problem(messages: list[JsonValue]) -> str | None:
    for number, message in enumerate(messages):
        assert isinstance(message, dict)
        content = message.get("content")
        if content is None and not (message["role"] == "assistant" and message.get("tool_calls")):
            return f"Invalid value for 'messages[{number}].content': expected a string, got null."
        kinds = {part.get("type") for part in content if isinstance(part, dict)} if isinstance(content, list) else set()
        if wrong := kinds - ({"text", "image_url"} if message["role"] == "user" else {"text"}):
            return f"Invalid 'messages[{number}].content': {', '.join(map(str, wrong))}"
    return None
