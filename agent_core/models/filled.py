"""Messages in the form that the server of one model insists on, as it has been learned from its refusals."""

import hashlib
from collections.abc import Iterable, Iterator

from pydantic import JsonValue

from agent_core.models.manner import TOOLS, Manner

WireObject = dict[str, JsonValue]

NO_REASONING = " "
"""Stands for reasoning that is not known or belongs to another model; servers take no empty one."""
NO_SIGNATURE = "skip_thought_signature_validator"
"""Stands for a signature of Gemini's on the call of another model; Google names it for this purpose."""
SHORT = 9
"""Characters of the ids that Mistral's models take."""


def filled(messages: Iterable[WireObject], manner: Manner) -> Iterator[WireObject]:
    """Yield the messages of answers and results in this manner."""
    for message in messages:
        wire = dict(message)
        if TOOLS in manner.left_out:
            wire = _in_words(wire)
        calls = wire.get("tool_calls")
        if isinstance(calls, list):
            if manner.fills_reasoning:
                wire.setdefault("reasoning_content", NO_REASONING)
            wire["tool_calls"] = [_call(each, manner, is_first=number == 0) for number, each in enumerate(calls)]
        if manner.short_ids and "tool_call_id" in wire:
            wire["tool_call_id"] = _short(wire["tool_call_id"])
        yield wire


def _call(call: JsonValue, manner: Manner, *, is_first: bool) -> JsonValue:
    if not isinstance(call, dict):
        return call
    changed = dict(call)
    if manner.short_ids:
        changed["id"] = _short(changed["id"])
    if manner.fills_signatures and is_first:
        changed.setdefault("extra_content", {"google": {"thought_signature": NO_SIGNATURE}})
    return changed


def _short(identity: JsonValue) -> str:
    name = str(identity)
    is_fit = len(name) == SHORT and name.isascii() and name.isalnum()
    return name if is_fit else hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:SHORT]


def _in_words(message: WireObject) -> WireObject:
    """Return an answer's calls, or a result, as words: where no tools are taken, these are not taken either."""
    calls = message.get("tool_calls")
    if isinstance(calls, list):
        said = [str(message["content"])] if message.get("content") else []
        said += [f"[I called the tool {_named(each)}]" for each in calls if isinstance(each, dict)]
        return {"role": "assistant", "content": "\n".join(said)}
    if message.get("role") == "tool":
        return {"role": "user", "content": f"[The result of a tool]\n{message['content']}"}
    return message


def _named(call: WireObject) -> str:
    function = call.get("function")
    return f"{function.get('name')} with {function.get('arguments')}" if isinstance(function, dict) else ""
