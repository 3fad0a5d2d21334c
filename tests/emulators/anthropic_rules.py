"""Requests that Anthropic refuses, with its error messages."""

import re
from collections.abc import Iterator

from pydantic import JsonValue

from tests.emulators.model_script import Json

KNOWN = {
    "model",
    "messages",
    "max_tokens",
    "system",
    "tools",
    "tool_choice",
    "stream",
    "temperature",
    "top_p",
    "top_k",
    "stop_sequences",
    "metadata",
    "thinking",
    "service_tier",
    "cache_control",
    "output_config",
    "context_management",
}
CALL_ID = re.compile("[a-zA-Z0-9_-]+")
TOOL_NAME = re.compile("[a-zA-Z0-9_-]{1,128}")
MOST_MARKS = 4


def problem(body: Json) -> str | None:
    """Return the message for the first violation, or None."""
    unknown = body.keys() - KNOWN
    if unknown:
        return f"{', '.join(sorted(unknown))}: Extra inputs are not permitted"
    for name in ("model", "max_tokens", "messages"):
        if not body.get(name):
            return f"{name}: Field required"
    messages = body["messages"]
    if not isinstance(messages, list):
        return "messages: Input should be a list"
    return (
        _pairing_problem(messages)
        or _content_problem(messages)
        or _tools_problem(body, messages)
        or _settings_problem(body)
    )


def _pairing_problem(messages: list[JsonValue]) -> str | None:
    """Check that each tool_use is answered by a tool_result in the next message."""
    open_calls: set[str] = set()
    for number, message in enumerate(messages):
        if not isinstance(message, dict) or message.get("role") not in ("user", "assistant"):
            return f"messages.{number}.role: Input should be 'user' or 'assistant'"
        answered = set(_ids(message, "tool_result", "tool_use_id"))
        if open_calls - answered:
            return f"messages.{number - 1}: `tool_use` ids were found without `tool_result` blocks immediately after"
        if answered - open_calls:
            return f"messages.{number}: unexpected `tool_use_id` found in `tool_result` blocks"
        asked = list(_ids(message, "tool_use", "id"))
        open_calls = set(asked)
        if len(asked) > len(open_calls):
            return f"messages.{number}.content: `tool_use` ids must be unique"
        if any(not CALL_ID.fullmatch(each) for each in open_calls):
            return f"messages.{number}.content: tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"
    return "the last message calls tools that nobody answered" if open_calls else None


def _content_problem(messages: list[JsonValue]) -> str | None:
    for number, message in enumerate(messages):
        assert isinstance(message, dict)
        if number == 0 and message["role"] != "user":
            return "messages: first message must use the `user` role"
        if not message.get("content"):
            return f"messages.{number}: all messages must have non-empty content"
        texts = [str(block.get("text")) for block in _blocks(message) if block.get("type") == "text"]
        if isinstance(message["content"], str):
            texts = [message["content"]]
        if not all(texts):
            return "messages: text content blocks must be non-empty"
        if not all(text.strip() for text in texts):
            return "messages: text content blocks must contain non-whitespace text"
        if number == len(messages) - 1 and message["role"] == "assistant" and texts and texts[-1] != texts[-1].rstrip():
            return "messages: final assistant content cannot end with trailing whitespace"
    return None


def _tools_problem(body: Json, messages: list[JsonValue]) -> str | None:
    tools = [each for each in _list(body.get("tools")) if isinstance(each, dict)]
    blocks = (block for message in messages if isinstance(message, dict) for block in _blocks(message))
    if not tools and any(block.get("type") in ("tool_use", "tool_result") for block in blocks):
        return "Requests which include `tool_use` or `tool_result` blocks must define tools"
    names = [str(tool.get("name")) for tool in tools]
    if len(set(names)) < len(names):
        return "tools: Tool names must be unique."
    for number, tool in enumerate(tools):
        if not TOOL_NAME.fullmatch(names[number]):
            return f"tools.{number}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'"
        schema = tool.get("input_schema")
        if not isinstance(schema, dict) or schema.get("type") != "object":
            return f"tools.{number}.custom.input_schema.type: Input should be 'object'"
    return None


def _settings_problem(body: Json) -> str | None:
    temperature, most = body.get("temperature"), body["max_tokens"]
    if temperature is not None and not (isinstance(temperature, int | float) and 0 <= temperature <= 1):
        return "temperature: range: 0..1"
    thinking = body.get("thinking")
    if isinstance(thinking, dict) and thinking.get("type") == "enabled":
        budget = thinking.get("budget_tokens")
        if not isinstance(budget, int) or not isinstance(most, int) or budget >= most:
            return "`max_tokens` must be greater than `thinking.budget_tokens`"
        if temperature not in (None, 1):
            return "`temperature` may only be set to 1 when thinking is enabled"
    if (marks := sum(1 for _ in _marks(body))) > MOST_MARKS:
        return f"A maximum of {MOST_MARKS} blocks with cache_control may be provided. Found {marks}."
    return None


def _marks(value: JsonValue) -> Iterator[JsonValue]:
    if isinstance(value, list):
        for each in value:
            yield from _marks(each)
    elif isinstance(value, dict):
        if "cache_control" in value:
            yield value
        for name in ("system", "messages", "tools", "content"):
            yield from _marks(value.get(name))


def _ids(message: Json, kind: str, name: str) -> Iterator[str]:
    return (str(block.get(name)) for block in _blocks(message) if block.get("type") == kind)


def _blocks(message: Json) -> list[Json]:
    return [each for each in _list(message.get("content")) if isinstance(each, dict)]


def _list(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []
