"""Token counts estimated without a tokenizer; accurate enough for decisions, also for Chinese."""

import json
import math

from agent_core.late_pattern import LatePattern
from agent_core.messages import (
    AgentMessage,
    AssistantMessage,
    CustomMessage,
    ImageContent,
    NotificationMessage,
    SummaryMessage,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)

IMAGE = 1_000
"""A picture, whatever its size: models scale it down."""
AROUND = 4
"""Overhead of a message: its role and delimiters."""

_WIDE = LatePattern("[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\U0001f000-\U0001faff\U00020000-\U000323af]")


def estimate(text: str) -> int:
    """Count one token for each CJK character or emoji, and a quarter for any other character."""
    wide = 0 if text.isascii() else len(_WIDE.findall(text))
    return wide + math.ceil((len(text) - wide) / 4)


def clipped(text: str, most: int) -> str:
    """Return the start of the text that fits in `most` tokens, with an ellipsis if it was cut."""
    if estimate(text) <= most:
        return text
    few, many = 0, most * 4  # bounds of a binary search for the longest start that fits
    while few < many:
        middle = (few + many + 1) // 2
        if estimate(text[:middle]) < most:
            few = middle
        else:
            many = middle - 1
    return f"{text[:few]}…" if most > 0 else ""


def message_tokens(message: AgentMessage) -> int:
    """Return the tokens of a message in a request. Reasoning counts if it goes back to its model; what its provider
    adds to it for itself does not."""
    match message:
        case UserMessage():
            around = (message.source or "") + (message.context or "")
            return AROUND + estimate(around) + sum(map(_part, message.content))
        case ToolResultMessage():
            return AROUND + sum(map(_part, message.content))
        case AssistantMessage():
            return AROUND + sum(map(_part, message.content)) + (_thoughts(message) if message.opaque else 0)
        case SummaryMessage():
            return AROUND + estimate(message.summary) if message.summary else 0
        case NotificationMessage():
            return AROUND + estimate(message.text + message.quoted) if message.to_model else 0
        case CustomMessage():
            return 0


def _thoughts(message: AssistantMessage) -> int:
    return sum(estimate(part.thinking) for part in message.content if isinstance(part, ThinkingContent))


def _part(part: TextContent | ThinkingContent | ImageContent | ToolCall) -> int:
    match part:
        case TextContent():
            return estimate(part.text)
        case ThinkingContent():
            return 0
        case ImageContent():
            return IMAGE
        case ToolCall():
            return estimate(part.name) + estimate(json.dumps(part.arguments, ensure_ascii=False))
