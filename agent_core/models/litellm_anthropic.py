"""Corrections to litellm's translation of Anthropic's own protocol, made once after litellm is imported.

Servers that imitate Anthropic's send nulls, at which litellm fails, and the arguments of a call at its beginning, which
it drops.
"""

import importlib
import json
from collections.abc import Callable, Mapping
from typing import Any

_BLOCKS: Mapping[object, Mapping[str, object]] = {
    "text": {"text": ""},
    "thinking": {"thinking": ""},
    "tool_use": {"id": "", "name": "unnamed", "input": {}},
}
"""The fields that litellm needs in each kind of block."""


def correct_anthropic() -> None:
    """Replace the function of litellm that reads an event."""
    stream = importlib.import_module("litellm.llms.anthropic.chat.handler").ModelResponseIterator
    stream.chunk_parser = _with_beginnings(stream.chunk_parser)


def _with_beginnings(parse: Callable[..., Any]) -> Callable[..., Any]:
    """Send the arguments that stood at the beginning of a call at its end, if no others came meanwhile."""

    def parsed(stream: Any, chunk: object) -> Any:
        event = _mended(chunk)
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
