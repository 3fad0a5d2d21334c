"""The parts of a request that only Anthropic takes, in the form that litellm takes: marks for the cache, thinking."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from agent_core.models.llm import LlmOptions, ModelInfo
from agent_core.models.openai_wire import Thinking, WireObject, thinking_for

THOUGHTS = "thinking_blocks"
"""The field of a message with thoughts and their signatures."""
_LEAST = "minimal"
_DROP = {"block_binding": {"prefix_mismatch_behavior": "drop_block"}}
_DROP_HEADER = {"anthropic-beta": "thinking-binding-controls-2026-08-01"}


def thinking_arguments(
    model: ModelInfo, options: LlmOptions, messages: Sequence[WireObject], *, drops: bool
) -> dict[str, Any]:
    """Return the arguments for thinking, without a temperature.

    Anthropic wants one kind of thinking from a person's message to the end of the answer: a turn that began with
    thoughts goes on with them, and one that did not, goes on without. With `drops`, the server leaves out the thoughts
    of which something before them has changed.
    """
    thinking = thinking_for(model, options)
    turn = _open_turn(messages)
    if model.adaptive or drops:
        return _adaptive(thinking, turn, drops=drops)
    if turn and THOUGHTS not in turn[0]:
        return {}
    thinking = thinking or (thinking_for(model, options.model_copy(update={"thinking": _LEAST})) if turn else None)
    if thinking is None:
        return {}
    asked = {"type": "enabled", "budget_tokens": thinking.budget}
    return {"thinking": asked, "max_tokens": thinking.max_tokens, "temperature": None}


def _adaptive(thinking: Thinking | None, turn: Iterable[WireObject], *, drops: bool) -> dict[str, Any]:
    """Return the arguments for models that decide themselves how long to think."""
    arguments: dict[str, Any] = {"thinking": {"type": "adaptive"}, "temperature": None}
    if thinking:
        arguments["thinking"]["display"] = "summarized"
        arguments |= {"max_tokens": thinking.max_tokens, "output_config": {"effort": thinking.level}}
    elif not drops and not any(THOUGHTS in answer for answer in turn):
        return {}
    if drops:
        arguments["thinking"] |= _DROP
        arguments["extra_headers"] = _DROP_HEADER
    return arguments


def _open_turn(messages: Sequence[WireObject]) -> list[WireObject]:
    """Return the answers since a person spoke last. What follows a result directly is no new turn: Anthropic gets it in
    one message with the result."""
    turn: list[WireObject] = []
    for is_answer, group in groupby(reversed(messages), key=lambda message: message["role"] == "assistant"):
        if is_answer:
            turn[:0] = reversed([*group])
        elif not any(message["role"] == "tool" for message in group):
            break
    return turn


def mark_for_cache(messages: list[WireObject]) -> None:
    """Set Anthropic's cache marks: one after the system prompt, one after the last message."""
    if not messages:
        return
    mark: WireObject = {"cache_control": {"type": "ephemeral"}}
    first, last = messages[0], messages[-1]
    if first["role"] == "system":
        first["content"] = [{"type": "text", "text": first["content"], **mark}]
    if last["role"] == "tool":
        last |= mark
    elif last["role"] == "user" and isinstance(last["content"], str) and last["content"]:
        last["content"] = [{"type": "text", "text": last["content"], **mark}]
