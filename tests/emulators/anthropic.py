"""An emulation of Anthropic's Messages API on loopback: POST /v1/messages, with and without streaming.

async with AnthropicEmulator([says("Hello.")]) as model:
    ... api_base=model.url, model "anthropic/claude-test" ...
"""

import json
from collections.abc import Sequence

from aiohttp import web
from pydantic import JsonValue

from tests.emulators import anthropic_rules
from tests.emulators.model_script import Failure, Json, ModelRequest, ToolUse, Turn, Usage, pieces
from tests.emulators.model_server import Frames, ModelServer, encoded

ERRORS: dict[str, tuple[int, str, str]] = {
    "rate_limit": (429, "rate_limit_error", "This request would exceed your account's rate limit."),
    "server": (500, "api_error", "Internal server error"),
    "overloaded": (529, "overloaded_error", "Overloaded"),
    "auth": (401, "authentication_error", "invalid x-api-key"),
    "bad_request": (400, "invalid_request_error", "Invalid request"),
    "not_found": (404, "not_found_error", "model: not found"),
    "overflow": (400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"),
}


def _event(body: Json) -> bytes:
    return f"event: {body['type']}\ndata: ".encode() + encoded(body) + b"\n\n"


class AnthropicEmulator(ModelServer):
    """Streams named events: message_start, content blocks, message_delta with the usage, message_stop."""

    misshapen = _event({"type": "content_block_delta", "index": 0})

    def routes(self) -> Sequence[web.RouteDef]:
        return [web.post("/v1/messages", self._complete)]

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        if "anthropic-version" not in request.headers:
            self.violate("messages: no anthropic-version header")
        return await self.complete(request, "messages")

    def key_of(self, request: web.Request) -> str:
        return request.headers.get("x-api-key", "")

    def problem(self, body: Json) -> str | None:
        return anthropic_rules.problem(body)

    def failure(self, failure: Failure) -> tuple[int, Json]:
        status, kind, words = ERRORS[failure.reason]
        return status, {"type": "error", "error": {"type": kind, "message": failure.message or words}}

    def error_frame(self, body: Json) -> bytes:
        return _event(body)

    def frames(self, turn: Turn, asked: ModelRequest) -> Frames:
        usage = turn.usage or Usage(0, 0)
        begun: Json = {**self._head(asked), "content": [], "stop_reason": None, "stop_sequence": None}
        opening = _event({"type": "message_start", "message": {**begun, "usage": _usage(usage, output=1)}})
        deltas: list[bytes] = []
        for index, block in enumerate(self.blocks(turn, asked)):
            deltas += _block_events(index, block, turn)
        closing = [
            _event(
                {
                    "type": "message_delta",
                    "delta": {"stop_reason": _stop(turn), "stop_sequence": None},
                    "usage": {"output_tokens": usage.output},
                }
            ),
            _event({"type": "message_stop"}),
        ]
        return Frames([opening, _event({"type": "ping"})], deltas, closing)

    def whole(self, turn: Turn, asked: ModelRequest) -> Json:
        content: list[JsonValue] = []
        for block in self.blocks(turn, asked):
            if block["type"] == "tool_use":
                raw = block["input"]
                content.append({**block, "input": json.loads(raw) if isinstance(raw, str) else raw})
            else:
                content.append(block)
        usage = turn.usage or Usage(0, 0)
        return {
            **self._head(asked),
            "content": content,
            "stop_reason": _stop(turn),
            "stop_sequence": None,
            "usage": _usage(usage, output=usage.output),
        }

    def _head(self, asked: ModelRequest) -> Json:
        return {"id": "msg_emulated", "type": "message", "role": "assistant", "model": asked.model}

    def blocks(self, turn: Turn, asked: ModelRequest) -> list[Json]:
        """Return the content blocks; a tool's `input` is still the raw string."""
        blocks: list[Json] = []
        if turn.thinking:
            blocks.append({"type": "thinking", "thinking": turn.thinking, "signature": "c2lnbmVk"})
        if turn.whole_text:
            blocks.append({"type": "text", "text": turn.whole_text})
        blocks += [self._tool_block(index, tool) for index, tool in enumerate(turn.tools)]
        return blocks

    def _call_id(self, index: int) -> str:
        """Return a new id for every call of this server."""
        return f"toolu_{len(self.requests)}_{index}"

    def _tool_block(self, index: int, tool: ToolUse) -> Json:
        return {"type": "tool_use", "id": tool.id or self._call_id(index), "name": tool.name, "input": tool.raw}


def _block_events(index: int, block: Json, turn: Turn) -> list[bytes]:
    start: Json
    deltas: list[Json]
    match block["type"]:
        case "thinking":
            start = {"type": "thinking", "thinking": "", "signature": ""}
            said = str(block["thinking"])
            deltas = [{"type": "thinking_delta", "thinking": each} for each in pieces(said, turn.chunk)]
            deltas.append({"type": "signature_delta", "signature": block["signature"]})
        case "redacted_thinking":
            start, deltas = block, []
        case "text":
            start = {"type": "text", "text": ""}
            deltas = [{"type": "text_delta", "text": each} for each in turn.text_deltas]
        case _:
            start = {**block, "input": {}}
            deltas = [
                {"type": "input_json_delta", "partial_json": each} for each in pieces(str(block["input"]), turn.chunk)
            ]
    return [
        _event({"type": "content_block_start", "index": index, "content_block": start}),
        *(_event({"type": "content_block_delta", "index": index, "delta": each}) for each in deltas),
        _event({"type": "content_block_stop", "index": index}),
    ]


def _stop(turn: Turn) -> str:
    return turn.finish or ("tool_use" if turn.tools else "end_turn")


def _usage(usage: Usage, *, output: int) -> Json:
    return {
        "input_tokens": usage.input - usage.cached,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": usage.cached,
        "output_tokens": output,
    }
