"""Anthropic's Messages API as one of its models speaks it: how it thinks, and what it refuses."""

import base64
import hashlib
import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from aiohttp import web
from pydantic import JsonValue

from tests.emulators import anthropic_rules
from tests.emulators.anthropic import AnthropicEmulator
from tests.emulators.dialects import anthropic_thoughts
from tests.emulators.dialects.anthropic_thoughts import BINDING_HEADER, BOUND, HEADER_MISSING, Thoughts
from tests.emulators.dialects.lessons import Lesson
from tests.emulators.dialects.rules import PREFILLED
from tests.emulators.dialects.server import DialectServer
from tests.emulators.model_script import Failure, Json, ModelRequest, Script, Turn
from tests.strict_schemas import refusals

NO_ADAPTIVE = "adaptive thinking is not supported on this model"
FORCED = "Thinking may not be enabled when tool_choice forces tool use."


@dataclass(frozen=True)
class AnthropicMessages:
    """One model's way to speak the Messages API."""

    most_output: int
    adaptive: bool = False
    """It decides itself how long to think, takes an effort, and no beginning of its answer."""
    efforts: tuple[str, ...] = ("low", "medium", "high", "xhigh", "max")
    shows: bool = False
    """It shows the words of its thoughts unless a request wishes otherwise."""
    always: bool = False
    """It thinks if a request says nothing of thinking."""
    binds: bool = False
    """Its thoughts are bound to all that was sent before them."""

    def server(
        self, model: str, lessons: Sequence[Lesson], script: Script, *, api_key: str | None
    ) -> "AnthropicMessagesServer":
        """Return a server that speaks like this."""
        return AnthropicMessagesServer(self, model, lessons, script, api_key=api_key)


class AnthropicMessagesServer(DialectServer, AnthropicEmulator):
    """A server that speaks the Messages API as one model does."""

    def __init__(
        self,
        messages: AnthropicMessages,
        model: str,
        lessons: Sequence[Lesson] = (),
        script: Script = (),
        *,
        api_key: str | None = None,
    ) -> None:
        super().__init__(model, lessons, script, api_key=api_key)
        self.messages = messages
        self.thoughts = Thoughts()
        self._ids = secrets.token_hex(8)
        """Part of the ids of calls, which differ from those of other servers, as real ones do."""
        self.dropped = 0
        """Thoughts that were sent although something before them had changed, and dropped as the request wished."""

    @property
    def base_url(self) -> str:
        return self.url

    def results(self, asked: ModelRequest) -> list[str]:
        blocks = [each.block for each in anthropic_thoughts.sent_blocks(asked.body)]
        return [_text(each) for each in blocks if each.get("type") == "tool_result"]

    def pictures(self, asked: ModelRequest) -> int:
        return str(asked.messages).count("'type': 'image'")

    def failure(self, failure: Failure) -> tuple[int, Json]:
        status, body = super().failure(failure)
        return status, {**body, "request_id": f"req_{len(self.requests):024d}"}

    async def _answer(self, request: web.Request, asked: ModelRequest) -> web.StreamResponse:
        behaviour, may_choose = _behaviour(asked.body), BINDING_HEADER in request.headers.get("anthropic-beta", "")
        if behaviour and not may_choose:
            self.violate("thinking.block_binding without its beta header")
            return self._failed(
                Failure("bad_request", message="thinking.block_binding: Extra inputs are not permitted")
            )
        unbound = self.thoughts.unbound(asked.body) if self.messages.binds else []
        if unbound and behaviour != "drop_block":
            said = BOUND.format(unbound[0].path)
            self.taught.append("thinking.block_binding")
            return self._failed(Failure("bad_request", message=said if may_choose else f"{said} {HEADER_MISSING}"))
        self.dropped += len(unbound)
        return await super()._answer(request, asked)

    def problem(self, body: Json) -> str | None:
        return super().problem(body) or self._setting_problem(body) or self._thought_problem(body)

    def _setting_problem(self, body: Json) -> str | None:
        most = body["max_tokens"]
        if isinstance(most, int) and most > (limit := self.messages.most_output):
            return (
                f"max_tokens: {most} > {limit}, which is the maximum allowed number of output tokens for {self.model}"
            )
        if said := _schema_problem(body):
            return said
        if self.messages.adaptive:
            return self._effort_problem(body) or self._prefill_problem(body)
        if _thinking(body) == "adaptive":
            return NO_ADAPTIVE
        return FORCED if _thinking(body) == "enabled" and anthropic_rules.forces_a_tool(body) else None

    def _effort_problem(self, body: Json) -> str | None:
        config = body.get("output_config")
        effort = config.get("effort") if isinstance(config, dict) else None
        if effort is None or effort in self.messages.efforts:
            return None
        known = " or ".join(f"'{each}'" for each in self.messages.efforts)
        return f"output_config.effort: Input should be {known}"

    def _prefill_problem(self, body: Json) -> str | None:
        """Refuse a request that ends with words of the model, except to go on with a paused answer."""
        last = anthropic_thoughts.sent_blocks(body)[-1].block
        is_models = self.requests[-1].messages[-1]["role"] == "assistant"
        return PREFILLED if is_models and not self.thoughts.paused_at(last) else None

    def _thought_problem(self, body: Json) -> str | None:
        if said := self.thoughts.forged(body) or anthropic_thoughts.ends_with(body):
            return said
        if not self._thinks(body):
            return anthropic_thoughts.thinks_no_more(body)
        begun = anthropic_thoughts.begins_without(body) if _thinking(body) == "enabled" else None
        return begun or self.thoughts.changed(body)

    def _thinks(self, body: Json) -> bool:
        """Return True if the model thinks about this request."""
        kind = _thinking(body)
        return kind in ("enabled", "adaptive") or (self.messages.always and kind is None)

    def blocks(self, turn: Turn, asked: ModelRequest) -> list[Json]:
        """Return the blocks: two thoughts and a redacted one between them come first."""
        said = [block for block in super().blocks(turn, asked) if block["type"] != "thinking"]
        if turn.thinking and self._thinks(asked.body) and self._begins(asked.body):
            half = len(turn.thinking) // 2
            first, second = self._thought(turn.thinking[:half], asked), self._thought(turn.thinking[half:], asked)
            said = [first, self._redacted(), second, *said]
        self.thoughts.hand_out(asked.body, [_parsed(block) for block in said], paused=turn.finish == "pause_turn")
        return said

    def _call_id(self, index: int) -> str:
        return f"{super()._call_id(index)}_{self._ids}"

    def _begins(self, body: Json) -> bool:
        """Return False after the result of a tool with a budget, which is spent only where a turn begins."""
        return _thinking(body) != "enabled" or not anthropic_thoughts.open_turn(body)

    def _thought(self, text: str, asked: ModelRequest) -> Json:
        """Return a thought; the newest models show its words only if they are asked to."""
        thinking = asked.body.get("thinking")
        display = thinking.get("display") if isinstance(thinking, dict) else None
        shown = display == "summarized" or (display is None and (self.messages.shows or not self.messages.adaptive))
        return {"type": "thinking", "thinking": text if shown else "", "signature": self._seal(text)}

    def _redacted(self) -> Json:
        return {"type": "redacted_thinking", "data": self._seal("redacted")}

    def _seal(self, of: str) -> str:
        """Return base64 that no other thought of this server has."""
        return base64.b64encode(hashlib.sha256(f"{len(self.requests)} {of}".encode()).digest()).decode() + "/+="


def _schema_problem(body: Json) -> str | None:
    tools = body.get("tools")
    for number, tool in enumerate(tools if isinstance(tools, list) else []):
        schema = tool.get("input_schema") if isinstance(tool, dict) else None
        if isinstance(schema, dict) and (said := refusals(schema)):
            return f"tools.{number}.custom.input_schema: JSON schema is invalid: {said[0]}"
    return None


def _thinking(body: Json) -> str | None:
    thinking = body.get("thinking")
    return str(thinking.get("type")) if isinstance(thinking, dict) else None


def _behaviour(body: Json) -> JsonValue:
    """Return what a request wishes for thoughts of which something before them has changed."""
    thinking = body.get("thinking")
    binding = thinking.get("block_binding") if isinstance(thinking, dict) else None
    return binding.get("prefix_mismatch_behavior") if isinstance(binding, dict) else None


def _parsed(block: Json) -> Json:
    """Return a block as it comes back: the arguments of a call as an object."""
    raw = block.get("input")
    return {**block, "input": json.loads(raw)} if isinstance(raw, str) else block


def _text(result: Json) -> str:
    content = result.get("content")
    parts = content if isinstance(content, list) else [{"text": content}]
    return "".join(str(part.get("text", "")) for part in parts if isinstance(part, dict))
