"""Requests that Anthropic refuses, with its error messages."""

import base64
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
FIELDS: dict[str, set[str]] = {
    "text": {"text", "citations", "cache_control"},
    "image": {"source", "cache_control"},
    "tool_use": {"id", "name", "input", "caller", "cache_control"},
    "tool_result": {"tool_use_id", "content", "is_error", "cache_control"},
    "thinking": {"thinking", "signature"},
    "redacted_thinking": {"data"},
}
"""The fields of each kind of block, beside its type."""
OF_ROLE = {
    "user": {"text", "image", "tool_result"},
    "assistant": {"text", "tool_use", "thinking", "redacted_thinking"},
}
PICTURES = {"image/jpeg", "image/png", "image/gif", "image/webp"}
LEAST_BUDGET = 1024
CALL_ID = re.compile("[a-zA-Z0-9_-]+")
TOOL_NAME = re.compile("[a-zA-Z0-9_-]{1,128}")
MOST_MARKS = 4
UNANSWERED = (
    "messages.{}: `tool_use` ids were found without `tool_result` blocks immediately after: {}. Each `tool_use` block "
    "must have a corresponding `tool_result` block in the next message."
)
UNASKED = (
    "messages.{}.content.{}: unexpected `tool_use_id` found in `tool_result` blocks: {}. Each `tool_result` block must "
    "have a corresponding `tool_use` block in the previous message."
)


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
        or _block_problem(messages)
        or _tools_problem(body, messages)
        or _settings_problem(body)
    )


def _pairing_problem(messages: list[JsonValue]) -> str | None:
    """Check that each tool_use is answered by a tool_result in the next message."""
    open_calls: set[str] = set()
    for number, message in enumerate(messages):
        if not isinstance(message, dict) or message.get("role") not in OF_ROLE:
            return f"messages.{number}.role: Input should be 'user' or 'assistant'"
        if said := _answering_problem(message, number, open_calls) or _asking_problem(message, number):
            return said
        open_calls = set(_ids(message, "tool_use", "id"))
    return UNANSWERED.format(len(messages) - 1, ", ".join(sorted(open_calls))) if open_calls else None


def _answering_problem(message: Json, number: int, open_calls: set[str]) -> str | None:
    """Check that a message answers all calls of the one before, and first of all."""
    answered = set(_ids(message, "tool_result", "tool_use_id"))
    if missing := open_calls - answered:
        return UNANSWERED.format(number, ", ".join(sorted(missing)))
    if foreign := answered - open_calls:
        return UNASKED.format(number, 0, ", ".join(sorted(foreign)))
    late = any(block.get("type") == "tool_result" for block in _blocks(message)[len(answered) :])
    return UNANSWERED.format(number, ", ".join(sorted(answered))) if late else None


def _asking_problem(message: Json, number: int) -> str | None:
    asked = list(_ids(message, "tool_use", "id"))
    if len(asked) > len(set(asked)):
        return f"messages.{number}.content: `tool_use` ids must be unique"
    if any(not CALL_ID.fullmatch(each) for each in asked):
        return f"messages.{number}.content: tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"
    return None


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


def _block_problem(messages: list[JsonValue]) -> str | None:
    """Check the kinds and fields of all blocks."""
    for number, message in enumerate(messages):
        assert isinstance(message, dict)
        if unknown := message.keys() - {"role", "content"}:
            return f"messages.{number}.{min(unknown)}: Extra inputs are not permitted"
        for place, block in enumerate(_blocks(message)):
            kind, path = str(block.get("type")), f"messages.{number}.content.{place}"
            if kind not in OF_ROLE[str(message["role"])]:
                return f"{path}: Input tag '{kind}' found using 'type' does not match any of the expected tags"
            if unknown := block.keys() - FIELDS[kind] - {"type"}:
                return f"{path}.{kind}.{min(unknown)}: Extra inputs are not permitted"
            inner = [block, *(each for each in _list(block.get("content")) if isinstance(each, dict))]
            if said := next((said for each in inner if (said := _picture_problem(each, path))), None):
                return said
            if kind == "tool_use" and not isinstance(block.get("input"), dict):
                return f"{path}.tool_use.input: Input should be a valid dictionary"
    return None


def _picture_problem(block: Json, path: str) -> str | None:
    source = block.get("source")
    if block.get("type") != "image" or not isinstance(source, dict) or source.get("type") == "url":
        return None
    if source.get("media_type") not in PICTURES:
        return f"{path}.image.source.base64.media_type: Input should be {', '.join(map(repr, sorted(PICTURES)))}"
    try:
        base64.b64decode(str(source.get("data")), validate=True)
    except ValueError:
        return f"{path}.image.source.base64: invalid base64 data"
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
        if isinstance(budget, int) and budget < LEAST_BUDGET:
            return f"thinking.enabled.budget_tokens: Input should be greater than or equal to {LEAST_BUDGET}"
        if temperature not in (None, 1):
            return "`temperature` may only be set to 1 when thinking is enabled"
    if (marks := sum(1 for _ in _marks(body))) > MOST_MARKS:
        return f"A maximum of {MOST_MARKS} blocks with cache_control may be provided. Found {marks}."
    return None


def forces_a_tool(body: Json) -> bool:
    choice = body.get("tool_choice")
    return isinstance(choice, dict) and choice.get("type") in ("any", "tool")


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
