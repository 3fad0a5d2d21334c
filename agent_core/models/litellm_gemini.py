"""Corrections to litellm's translation of Gemini's own protocol, made once after litellm is imported.

litellm calls an answer whole that its server broke off, forgets a finish reason if anything comes after it, hides why
Gemini blocked a prompt, fails at a call without arguments, drops the second of two equal calls, and sends results and a
person's message as two turns of one role.
"""

import importlib
from collections.abc import Callable, Sequence
from typing import Any

from agent_core.models.finish import Finish, meaning_of

_TRANSLATED = Callable[..., Any]


def correct_gemini(meant: Callable[[str], str]) -> None:
    """Replace the functions of litellm that err. `meant` translates a finish reason."""
    vertex = importlib.import_module("litellm.llms.vertex_ai.gemini.vertex_and_google_ai_studio_gemini")
    messages = importlib.import_module("litellm.llms.vertex_ai.gemini.transformation")
    studio = vars(importlib.import_module("litellm.llms.gemini.chat.transformation"))
    types = importlib.import_module("litellm.types.utils")

    answers, stream = vertex.VertexGeminiConfig, vertex.ModelResponseIterator
    for name, replaced in {
        "_check_finish_reason": _finish_reason(meant),
        "_transform_parts": _with_arguments(answers._transform_parts),  # noqa: SLF001 - replaced where it is called
        "_check_prompt_level_content_filter": _with_block_reason(answers._check_prompt_level_content_filter),  # noqa: SLF001
    }.items():
        setattr(answers, name, staticmethod(replaced))
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

    def parsed(stream: Any, chunk: dict[str, Any]) -> Any:
        response = parse(stream, chunk)
        ended = getattr(stream, "ended", None)
        if ended and not response.choices:
            response.choices.append(choice_type(finish_reason=ended))
        for choice in response.choices:
            stream.ended = choice.finish_reason = choice.finish_reason or ended
        return response

    return parsed


def _with_arguments(transform: _TRANSLATED) -> _TRANSLATED:
    def transformed(parts: Sequence[dict[str, Any]], *args: Any, **kwargs: Any) -> Any:
        for part in parts:
            if isinstance(call := part.get("functionCall"), dict):
                call.setdefault("args", {})
        return transform(parts, *args, **kwargs)

    return transformed


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
