"""Chunks of OpenAI's protocol, mended before litellm reads them: it fails at an empty field, loses text that comes in
parts, takes an error without the name `error` for nothing, and ends an answer that has the word [DONE] in it."""

import importlib
from collections.abc import Callable
from typing import Any

from agent_core.models.wire_errors import WireError, error_in


def correct_chunks() -> None:
    """Replace the function with which litellm reads a line of a stream."""
    lines = importlib.import_module("litellm.llms.base_llm.base_model_iterator").BaseModelResponseIterator
    lines._handle_string_chunk = _reading(lines._handle_string_chunk, lines.string_to_dict_parser)  # noqa: SLF001


def _reading(handle: Callable[..., Any], parse: Callable[[str], object]) -> Callable[..., Any]:
    def handled(stream: Any, str_line: str) -> Any:
        chunk = parse(str_line)
        return stream.chunk_parser(chunk=_mended(chunk)) if isinstance(chunk, dict) else handle(stream, str_line)

    return handled


def _mended(chunk: dict[str, Any]) -> dict[str, Any]:
    error = error_in(chunk)
    if error is not None:
        return {"error": _named(error)}
    choices = [each for each in chunk.get("choices") or () if isinstance(each, dict)]
    for choice in choices:
        choice["delta"] = delta = choice.get("delta") or {}
        if isinstance(delta, dict) and "content" in delta:
            delta["content"] = _text(delta["content"])
    return {**chunk, "choices": choices}


def _named(error: WireError) -> dict[str, object]:
    code: object = int(error.code) if error.code.isdecimal() else error.code
    return {"message": error.message or error.type or "an unnamed error", "code": code}


def _text(content: object) -> object:
    """Return the text of parts that are nothing but text."""
    parts = [content] if isinstance(content, dict) else content
    if not isinstance(parts, list):
        return content
    texts = [each.get("text") for each in parts if isinstance(each, dict)]
    are_texts = len(texts) == len(parts) and all(isinstance(each, str) for each in texts)
    return "".join(map(str, texts)) if are_texts else content
