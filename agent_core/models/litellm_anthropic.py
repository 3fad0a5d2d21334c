"""Corrections to litellm's translation of Anthropic's own protocol, made once after litellm is imported.

Servers that imitate Anthropic's send nulls, at which litellm fails, the arguments of a call at its beginning, which
it drops, and answers in one piece, which it passes over.
"""

import importlib
import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from typing import Any

from agent_core.json_text import read_json
from agent_core.models.litellm_chunks import DATA, lines_of
from agent_core.models.protocols import Protocol, check_protocol

_BLOCKS: Mapping[object, Mapping[str, object]] = {
    "text": {"text": ""},
    "thinking": {"thinking": ""},
    "tool_use": {"id": "", "name": "unnamed", "input": {}},
}
"""The fields that litellm needs in each kind of block."""


def correct_anthropic() -> None:
    """Replace the functions of litellm that read a stream and an event."""
    stream = importlib.import_module("litellm.llms.anthropic.chat.handler").ModelResponseIterator
    stream.__aiter__ = _with_events
    stream.chunk_parser = _with_beginnings(stream.chunk_parser)


def _with_events(stream: Any) -> Any:
    """Begin to read a stream of litellm's, event by event."""
    if not hasattr(stream, "async_response_iterator"):  # litellm begins more than once
        stream.async_response_iterator = _events(stream.streaming_response)
    return stream


async def _events(lines: AsyncIterator[str]) -> AsyncIterator[str]:
    async for line in lines_of(lines):
        for event in _events_of(line):
            yield event


def _events_of(line: str) -> Iterator[str]:
    """Yield the line, or the events of the whole answer in it."""
    whole = _whole_in(line)
    if whole is None:
        yield line
        return
    blocks = [block for block in whole["content"] if isinstance(block, dict)]
    for event in (
        {"type": "message_start", "message": {**whole, "content": []}},
        *(event for index, block in enumerate(blocks) for event in _events_of_block(index, block)),
        {"type": "message_delta", "delta": {"stop_reason": whole.get("stop_reason")}, "usage": whole.get("usage")},
        {"type": "message_stop"},
    ):
        yield f"{DATA}{json.dumps(event)}"


def _whole_in(line: str) -> dict[str, Any] | None:
    try:
        document = _told(read_json(line.removeprefix(DATA))) if '"content"' in line else {}
    except ValueError:
        return None
    return document if document.get("type") == "message" and isinstance(document.get("content"), list) else None


def _events_of_block(index: int, block: dict[str, Any]) -> Iterator[dict[str, Any]]:
    begins = block
    deltas: list[dict[str, Any]] = []
    match block.get("type"):
        case "text":
            deltas = [{"type": "text_delta", "text": block.get("text")}]
            begins = {"type": "text", "text": ""}
        case "thinking":
            deltas = [
                {"type": "thinking_delta", "thinking": block.get("thinking")},
                {"type": "signature_delta", "signature": block.get("signature")},
            ]
            begins = {"type": "thinking", "thinking": "", "signature": ""}
    yield {"type": "content_block_start", "index": index, "content_block": begins}
    for delta in deltas:
        yield {"type": "content_block_delta", "index": index, "delta": delta}
    yield {"type": "content_block_stop", "index": index}


def _with_beginnings(parse: Callable[..., Any]) -> Callable[..., Any]:
    """Send the arguments that stood at the beginning of a call at its end, if no others came meanwhile."""

    def parsed(stream: Any, chunk: object) -> Any:
        event = _mended(chunk)
        check_protocol(event, Protocol.ANTHROPIC)
        match event.get("type"):
            case "content_block_start":
                stream.begun_with = event["content_block"].get("input")
            case "content_block_delta" if _told(event.get("delta")).get("partial_json"):
                stream.begun_with = None
            case "content_block_stop" if given := getattr(stream, "begun_with", None):
                stream.begun_with = None
                delta = {"type": "input_json_delta", "partial_json": json.dumps(given)}
                response = parse(stream, {"type": "content_block_delta", "index": event.get("index"), "delta": delta})
                parse(stream, event)
                return response
        return parse(stream, event)

    return parsed


def _mended(chunk: object) -> dict[str, Any]:
    """Return an event with all that litellm reads of its kind."""
    event = _told(chunk)
    if not isinstance(event.get("usage", {}), dict):
        del event["usage"]
    match event.get("type"):
        case "message_start":
            event["message"] = _told(event.get("message"))
            if not isinstance(event["message"].get("usage", {}), dict):
                del event["message"]["usage"]
        case "content_block_start":
            block = _told(event.get("content_block"))
            kind = block.setdefault("type", "text")
            event["content_block"] = {**_BLOCKS.get(kind, {}), **block}
        case "content_block_delta" | "message_delta" if isinstance(chunk, dict) and "delta" in chunk:
            event["delta"] = {"type": "", **_told(event.get("delta"))}
        case "error":
            event["error"] = {"message": _said(event.get("error"))}
    return event


def _said(error: object) -> str:
    """Return the words of an error, or at least its kind."""
    fields = _told(error)
    return str(fields.get("message") or fields.get("type") or (error if isinstance(error, str) else "an unnamed error"))


def _told(value: object) -> dict[str, Any]:
    """Return the fields of an object that are not null; none for what is no object."""
    return {name: each for name, each in value.items() if each is not None} if isinstance(value, dict) else {}
