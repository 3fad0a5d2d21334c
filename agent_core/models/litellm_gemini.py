"""Corrections to litellm's translation of Gemini's own protocol, made once after litellm is imported.

litellm calls an answer whole that its server broke off, forgets a finish reason if anything comes after it, hides why
Gemini blocked a prompt, fails at an empty field, at a comment and at a call without arguments, drops the second of two
equal calls, and sends results and a person's message as two turns of one role.
"""

import importlib
from collections.abc import Callable
from typing import Any

from agent_core.models.finish import Finish, meaning_of
from agent_core.models.litellm_chunks import with_documents
from agent_core.models.protocols import Protocol, check_protocol

_TRANSLATED = Callable[..., Any]
_READ = frozenset({"content", "finishMessage", "finishReason", "index"})
"""The fields of a candidate that are needed."""


def correct_gemini(meant: Callable[[str], str]) -> None:
    """Replace the functions of litellm that err. `meant` translates a finish reason."""
    vertex = importlib.import_module("litellm.llms.vertex_ai.gemini.vertex_and_google_ai_studio_gemini")
    messages = importlib.import_module("litellm.llms.vertex_ai.gemini.transformation")
    studio = vars(importlib.import_module("litellm.llms.gemini.chat.transformation"))
    types = importlib.import_module("litellm.types.utils")

    answers, stream = vertex.VertexGeminiConfig, vertex.ModelResponseIterator
    for name, replaced in {
        "_check_finish_reason": _finish_reason(meant),
        "_check_prompt_level_content_filter": _with_block_reason(answers._check_prompt_level_content_filter),  # noqa: SLF001
    }.items():
        setattr(answers, name, staticmethod(replaced))
    stream.__aiter__ = with_documents
    stream.chunk_parser = _with_memory(stream.chunk_parser, types.StreamingChoices)
    vars(messages)["check_if_part_exists_in_parts"] = _is_never_there
    studio["gemini_convert_messages_with_history"] = _alternating(studio["gemini_convert_messages_with_history"])


def _finish_reason(meant: Callable[[str], str]) -> _TRANSLATED:
    """litellm takes a chunk without a reason for the last one, and a call that was cut for a whole one."""

    def of_chunk(said: dict[str, Any] | None, reason: str | None) -> str | None:
        found = meant(reason) if reason else None
        return "tool_calls" if found == "stop" and said and said.get("tool_calls") else found

    return of_chunk


def _with_memory(parse: _TRANSLATED, choice_type: type[Any]) -> _TRANSLATED:
    """litellm believes the last chunk; Gemini may send its counts after the one with the reason."""

    def parsed(stream: Any, chunk: object) -> Any:
        ended = getattr(stream, "ended", None)
        mended = _mended(chunk)
        if not ended:
            check_protocol(mended, Protocol.GEMINI)
        response = parse(stream, mended)
        if ended and not response.choices:
            response.choices.append(choice_type(finish_reason=ended))
        for choice in response.choices:
            stream.ended = choice.finish_reason = choice.finish_reason or ended
        return response

    return parsed


def _mended(chunk: object) -> dict[str, Any]:
    """Return a chunk without what litellm fails at: nulls, and parts and counts of other shapes."""
    fields = _told(chunk[0] if isinstance(chunk, list) and chunk else chunk)
    if "candidates" in fields:
        given = fields["candidates"]
        listed = [*given.values()] if isinstance(given, dict) else _list(given)
        fields["candidates"] = [_candidate(each) for each in listed if isinstance(each, dict)]
    if "usageMetadata" in fields:
        counts = _told(fields["usageMetadata"])
        fields["usageMetadata"] = {name: value for name, value in counts.items() if isinstance(value, int)}
    return fields


def _candidate(given: dict[str, Any]) -> dict[str, Any]:
    candidate = {name: each for name, each in _told(given).items() if name in _READ}
    if "content" in candidate:
        content = _told(candidate["content"])
        candidate["content"] = {**content, "parts": [*map(_part, _list(content.get("parts")))]}
    return candidate


def _part(given: object) -> dict[str, Any]:
    part = _told(given)
    if not isinstance(part.get("text", ""), str):
        del part["text"]
    if "functionCall" in part:
        part["functionCall"] = {"name": "unnamed", "args": {}, **_told(part["functionCall"])}
    return part


def _told(value: object) -> dict[str, Any]:
    """Return the fields of an object that are not null; none for what is no object."""
    return {name: each for name, each in value.items() if each is not None} if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _with_block_reason(check: _TRANSLATED) -> _TRANSLATED:
    def checked(processed_chunk: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        blocked = check(processed_chunk, *args, **kwargs)
        if blocked is not None:
            reason = str(processed_chunk["promptFeedback"]["blockReason"])
            if meaning_of(reason) is Finish.REFUSED:
                blocked.choices[0].finish_reason = reason
        return blocked

    return checked


def _is_never_there(*_: object, **__: object) -> bool:
    """litellm takes two calls with the same name and arguments for one."""
    return False


def _alternating(convert: _TRANSLATED) -> _TRANSLATED:
    def converted(*args: Any, **kwargs: Any) -> list[dict[str, Any]]:
        turns: list[dict[str, Any]] = []
        for turn in convert(*args, **kwargs):
            if turns and turns[-1]["role"] == turn["role"]:
                turns[-1]["parts"] = [*turns[-1]["parts"], *turn["parts"]]
            else:
                turns.append(turn)
        return turns

    return converted
