"""Comparison of a request to a model with what reached the server, for both wires."""

import json
from collections.abc import Iterator

from pydantic import JsonValue

from agent_core.messages import AssistantMessage, ImageContent, LlmMessage, ToolResultMessage, UserMessage, text_of
from agent_core.models.llm import LlmRequest
from agent_core.models.openai_wire import call_id, user_text
from tests.emulators import model_script
from tests.emulators.model_script import Json, ModelRequest


def missing(request: LlmRequest, asked: ModelRequest, *, vision: bool) -> str | None:
    """Describe the first part of a request that did not arrive as intended, or return None."""
    if asked.system != request.system:
        return f"the system prompt arrived as {asked.system[:80]!r}"
    if request.tools and asked.tools != [tool.name for tool in request.tools]:
        return f"the tools arrived as {asked.tools}"
    messages = [message for message in asked.messages if message.get("role") != "system"]
    wanted = [call for message in request.messages for call in _calls(message)]
    if (came := [call for message in messages for call in _calls_on_the_wire(message)]) != wanted:
        return f"the calls arrived as {came}, and not as {wanted}"
    pictures = sum(isinstance(part, ImageContent) for message in request.messages for part in message.content)
    if vision and (count := sum(map(_pictures_on_the_wire, messages))) != pictures:
        return f"{count} of {pictures} pictures arrived"
    return _missing_words(request, "\n".join(map(model_script.text_of, messages)))


def _missing_words(request: LlmRequest, said: str) -> str | None:
    """Check that the texts of the messages arrived in order."""
    end = 0
    for message in request.messages:
        text = _words(message).strip()
        start = said.find(text, end)
        if start < 0:
            return f"the {message.role} message arrived without {text[:80]!r}"
        end = start + len(text)
    return None


def _words(message: LlmMessage) -> str:
    return user_text(message) if isinstance(message, UserMessage) else text_of(message.content)


def _calls(message: LlmMessage) -> Iterator[tuple[str, JsonValue]]:
    """Yield each tool call as its id, name and arguments, and each result as its id and None."""
    if isinstance(message, AssistantMessage):
        for call in message.tool_calls:
            yield call_id(call.id), [call.name, call.arguments]
    elif isinstance(message, ToolResultMessage):
        yield call_id(message.tool_call_id), None


def _calls_on_the_wire(message: Json) -> Iterator[tuple[str, JsonValue]]:
    if message.get("role") == "tool":
        yield str(message["tool_call_id"]), None
    for call in _parts(message.get("tool_calls")):
        function = call["function"]
        assert isinstance(function, dict)
        yield str(call["id"]), [function["name"], json.loads(str(function["arguments"]))]
    for part in _parts(message.get("content")):
        if part.get("type") == "tool_use":
            yield str(part["id"]), [part["name"], part["input"]]
        elif part.get("type") == "tool_result":
            yield str(part["tool_use_id"]), None


def _pictures_on_the_wire(message: Json) -> int:
    return sum(part.get("type") in ("image", "image_url") for part in _parts(message.get("content")))


def _parts(value: JsonValue) -> list[Json]:
    return [part for part in value if isinstance(part, dict)] if isinstance(value, list) else []
