"""Messages in the roles that a model's chat template takes: no system prompt, or no two of one role in a row."""

from pydantic import JsonValue

from agent_core.models.manner import Manner

WireObject = dict[str, JsonValue]

BEGINNING = "(The conversation goes on.)"
"""Stands for a person's message before an answer, where each conversation must begin with one."""
_JOINED = ("user", "assistant")


def arranged(messages: list[WireObject], manner: Manner) -> list[WireObject]:
    """Return the messages of a request in the roles that the model takes."""
    if manner.heads_with_system:
        messages = _without_system(messages)
    return _alternating(messages) if manner.alternates else messages


def _without_system(messages: list[WireObject]) -> list[WireObject]:
    """Put the system prompt at the head of the first message, if that is a person's, or before it as one."""
    first = messages[0] if messages else {}
    if first.get("role") != "system":
        return messages
    head: WireObject = {"role": "user", "content": first["content"]}
    if len(messages) > 1 and messages[1]["role"] == "user":
        return [_together(head, messages[1]), *messages[2:]]
    return [head, *messages[1:]]


def _alternating(messages: list[WireObject]) -> list[WireObject]:
    """Join neighbours of one role, and let a person's message come first."""
    joined: list[WireObject] = []
    for message in messages:
        role, before = message["role"], joined[-1]["role"] if joined else None
        if role == before and role in _JOINED:
            joined[-1] = _together(joined[-1], message)
            continue
        if role == "assistant" and before in (None, "system"):
            joined.append({"role": "user", "content": BEGINNING})
        joined.append(message)
    return joined


def _together(first: WireObject, second: WireObject) -> WireObject:
    """Return two messages of one role as one."""
    calls = [*_list(first.get("tool_calls")), *_list(second.get("tool_calls"))]
    return {
        **first,
        **second,
        "content": _content(first["content"], second["content"]),
        **({"tool_calls": calls} if calls else {}),
    }


def _content(first: JsonValue, second: JsonValue) -> JsonValue:
    """Return texts as one text; with pictures, the parts of both."""
    if isinstance(first, list) or isinstance(second, list):
        return [*_parts(first), *_parts(second)]
    return "\n\n".join(str(each) for each in (first, second) if each) or None


def _parts(content: JsonValue) -> list[JsonValue]:
    return _list(content) or ([{"type": "text", "text": content}] if content else [])


def _list(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []
