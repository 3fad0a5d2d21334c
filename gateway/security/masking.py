"""Masks secrets in events, messages and requests. Ids, keys and the contents of files stay."""

from collections.abc import Callable
from enum import Enum
from operator import is_
from types import NoneType
from typing import TypeVar, cast

from pydantic import BaseModel

from agent_core.messages import ImageContent, Opaque, ThinkingContent, ToolCall, ToolResultMessage
from channels.base import ChatKey

Mask = Callable[[str], str]
T = TypeVar("T")

MASK = "[secret]"

KEPT = frozenset(
    {
        "event_id",
        "first_kept_id",
        "id",
        "job",
        "message_id",
        "mime_type",
        "outcome",
        "parent_id",
        "path",
        "reference",
        "reply_to",
        "respond",
        "role",
        "session_id",
        "short_until",
        "signature",
        "slot",
        "task_id",
        "tool_call_id",
        "type",
    }
)
"""Identifiers by which things are looked up; masked, they would be lost. Fields not listed here are masked."""
_WORDLESS = frozenset({bool, float, int, NoneType})
"""Types of values without words, as most fields are."""
_TOOL = "name", "tool_name"
"""Fields in which providers accept only letters, digits, - and _."""


def masked(value: T, mask: Mask) -> T:
    """Return the value with secrets masked; the same object if it has none."""
    return cast(T, _masked(value, mask))


def _masked(value: object, mask: Mask) -> object:
    if type(value) is str:
        return mask(value)
    match value:
        case str() if not isinstance(value, Enum):
            return mask(value)
        case BaseModel() if not isinstance(value, ChatKey | ImageContent):
            return _masked_model(value, mask)
        case dict():
            return {mask(key): _masked(item, mask) for key, item in value.items()}
        case list() | tuple():
            items = [_masked(item, mask) for item in value]
            return value if all(map(is_, items, value)) else type(value)(items)
        case _:
            return value


def _masked_model(value: BaseModel, mask: Mask) -> BaseModel:
    changed: dict[str, object] = {}
    for name, old in value.__dict__.items():
        if not old or type(old) in _WORDLESS or name in KEPT:
            continue
        new = mask(old) if type(old) is str else _masked(old, mask)
        if new is not old and new != old:
            changed[name] = new
    if not changed:
        return value
    if isinstance(value, ThinkingContent):
        changed["signature"] = None  # it vouches for the unmasked text
    if isinstance(value, Opaque) and "fields" in changed:
        changed["fields"] = {}  # of no use to its model when changed
    if isinstance(value, ToolCall) and "opaque" in changed:
        changed["opaque"] = None
    if isinstance(value, ToolCall | ToolResultMessage):
        changed |= {name: str(changed[name]).replace(MASK, MASK.strip("[]")) for name in _TOOL if name in changed}
    return value.model_copy(update=changed)
