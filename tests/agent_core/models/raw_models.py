"""A model server that answers with exactly the given chunks, in the protocol of OpenAI, Anthropic or Gemini."""

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from aiohttp import web
from pydantic import JsonValue

from agent_core.context.request_history import convert_to_llm, repair
from agent_core.messages import AgentMessage, AssistantMessage, ToolResultMessage, text_of
from agent_core.models.litellm_client import LitellmClient
from agent_core.models.llm import LlmClient, LlmOptions, LlmRequest, ModelInfo, StreamDone, ToolSpec
from agent_core.models.openai_client import OpenAiClient
from agent_core.origin import CLEAN
from parley.testing.emulators.server import LoopbackServer
from tests.agent_core.models.clients import KEY, OPTIONS, model_info
from tests.emulators.model_script import Json
from tests.messages import user

Raw = bytes | tuple[int, bytes] | tuple[int, bytes, Mapping[str, str]]
"""A stream, or a status, a body and headers; without these, it is the body of an error."""
ERROR_HEADERS = {"Content-Type": "application/json"}
CLOCK = ToolSpec(name="clock", description="The time.", parameters={"type": "object", "properties": {}})


class RawModel(LoopbackServer):
    """Answers each request with the next of `answers`, and keeps the bodies of all requests."""

    def __init__(self, *answers: Raw) -> None:
        super().__init__()
        self.answers = [*answers]
        self.bodies: list[Json] = []

    def routes(self) -> Sequence[web.RouteDef]:
        return [web.post("/{path:.*}", self._answer)]

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        self.bodies.append(await request.json())
        answer = self.answers.pop(0)
        if isinstance(answer, tuple):
            status, body, headers = (*answer, ERROR_HEADERS)[:3]
            return web.Response(status=status, body=body, headers=headers)
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        await response.write(answer)
        return response

    def roles_of(self, number: int) -> list[JsonValue]:
        """Return the roles of the messages in a request in OpenAI's or Anthropic's protocol."""
        messages = self.bodies[number]["messages"]
        assert isinstance(messages, list)
        return [each["role"] for each in messages if isinstance(each, dict)]

    def answers_of(self, number: int) -> list[Json]:
        """Return the model's own answers in a request in OpenAI's or Anthropic's protocol."""
        messages = self.bodies[number]["messages"]
        assert isinstance(messages, list)
        return [each for each in messages if isinstance(each, dict) and each["role"] == "assistant"]


def frame(body: Json) -> bytes:
    kind = f"event: {body['type']}\n" if isinstance(body.get("type"), str) else ""
    return f"{kind}data: {json.dumps(body)}\n\n".encode()


def openai(*deltas: Json, finish: str | None = "stop", then: Sequence[Json] = ()) -> bytes:
    """Return an answer in OpenAI's protocol: one chunk for each delta, the finish reason, then other chunks."""
    head: Json = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    choices: list[Json] = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    if finish:
        choices.append({"index": 0, "delta": {}, "finish_reason": finish})
    chunks: list[Json] = [{**head, "choices": [choice]} for choice in choices]
    return b"".join(map(frame, [*chunks, *then])) + b"data: [DONE]\n\n"


def call(name: str = "clock", arguments: str = "{}", identity: str = "c1", index: int = 0, **more: JsonValue) -> Json:
    """Return a piece of OpenAI's `tool_calls`."""
    function: Json = {"name": name, "arguments": arguments}
    return {"index": index, "id": identity, "type": "function", "function": function, **more}


def anthropic(*blocks: Json, finish: str = "end_turn") -> bytes:
    """Return an answer in Anthropic's protocol, from its finished content blocks."""
    start: Json = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": []}
    events: list[Json] = [
        {"type": "message_start", "message": {**start, "usage": {"input_tokens": 9, "output_tokens": 1}}}
    ]
    for index, block in enumerate(blocks):
        empty, deltas = _pieces(block)
        events.append({"type": "content_block_start", "index": index, "content_block": empty})
        events += [{"type": "content_block_delta", "index": index, "delta": each} for each in deltas]
        events.append({"type": "content_block_stop", "index": index})
    delta: Json = {"stop_reason": finish, "stop_sequence": None}
    events += [{"type": "message_delta", "delta": delta, "usage": {"output_tokens": 9}}, {"type": "message_stop"}]
    return b"".join(map(frame, events))


def _pieces(block: Json) -> tuple[Json, list[Json]]:
    match block["type"]:
        case "thinking":
            words: list[Json] = [{"type": "thinking_delta", "thinking": each} for each in str(block["thinking"])]
            signed: Json = {"type": "signature_delta", "signature": block["signature"]}
            return {"type": "thinking", "thinking": "", "signature": ""}, [*words, signed]
        case "text":
            return {"type": "text", "text": ""}, [{"type": "text_delta", "text": block["text"]}]
        case "tool_use":
            raw = json.dumps(block["input"])
            return {**block, "input": {}}, [{"type": "input_json_delta", "partial_json": raw}]
        case _:
            return block, []


def gemini(*parts: Json) -> bytes:
    """Return an answer in Gemini's own protocol."""
    content: Json = {"role": "model", "parts": [*parts]}
    usage: Json = {"promptTokenCount": 9, "candidatesTokenCount": 9, "totalTokenCount": 18}
    body: Json = {
        "candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
        "usageMetadata": usage,
        "responseId": "r",
    }
    return f"data: {json.dumps(body)}\r\n\r\n".encode()


@dataclass
class Chat:
    """A conversation with a model, each answer followed by the results of its calls."""

    client: LlmClient
    model: ModelInfo
    server: RawModel
    said: list[AgentMessage]

    async def goes_on(self, question: str = "", options: LlmOptions = OPTIONS) -> StreamDone:
        if question:
            self.said.append(user(question))
        messages = repair(convert_to_llm(self.said))
        request = LlmRequest(system="Be brief.", messages=messages, tools=(CLOCK,))
        *_, done = [event async for event in self.client.stream(self.model, request, options)]
        assert isinstance(done, StreamDone)
        self.said.append(done.message)
        for each in done.message.tool_calls:
            content = user("noon").content
            self.said.append(
                ToolResultMessage(tool_call_id=each.id, tool_name=each.name, content=content, origin=CLEAN)
            )
        return done

    def shown(self) -> str:
        return "\n".join(text_of(each.content) for each in self.said if isinstance(each, AssistantMessage))


class Tables:
    """Opens chats with servers; all are closed at the end."""

    def __init__(self, life: AsyncExitStack) -> None:
        self._life = life

    async def own(self, *answers: Raw, model: str = "m", said: Sequence[AgentMessage] = ()) -> Chat:
        """Return a chat through the light client."""
        server = await self._life.enter_async_context(RawModel(*answers))
        client = OpenAiClient(f"{server.url}/v1", KEY)
        self._life.push_async_callback(client.close)
        return Chat(client, model_info(model, "server"), server, [*said])

    async def litellm(self, model: str, *answers: Raw, said: Sequence[AgentMessage] = ()) -> Chat:
        """Return a chat through litellm; the model's name begins with its provider."""
        server = await self._life.enter_async_context(RawModel(*answers))
        client = LitellmClient(KEY, server.url)
        self._life.push_async_callback(client.close)
        return Chat(client, model_info(model, model.partition("/")[0]), server, [*said])


@asynccontextmanager
async def tables() -> AsyncIterator[Tables]:
    async with AsyncExitStack() as life:
        yield Tables(life)
