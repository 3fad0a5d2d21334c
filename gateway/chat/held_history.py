"""Estimates how much memory a chat's history takes."""

from collections.abc import Sequence

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

MESSAGE = 3_600
"""Bytes of a message without its text, including its cached form for requests."""
CHARACTER = 2
"""Bytes per character: most texts are held twice, as stored and as sent to the model."""


class HeldHistory:
    """Running estimate for one conversation; each call counts only the new messages."""

    def __init__(self) -> None:
        self._first: AgentMessage | None = None
        self._count = 0
        self._bytes = 0

    def weigh(self, messages: Sequence[AgentMessage]) -> int:
        """Return the estimated size of the messages in bytes."""
        first = messages[0] if messages else None
        if first is self._first and len(messages) == self._count:
            return self._bytes
        if first is not self._first or len(messages) < self._count:
            self._first, self._count, self._bytes = first, 0, 0
        self._bytes += sum(map(weight_of, messages[self._count :]))
        self._count = len(messages)
        return self._bytes


def weight_of(message: AgentMessage) -> int:
    """Return the estimated size of a message in bytes."""
    match message:
        case UserMessage() | ToolResultMessage():
            characters = sum(map(_characters, message.content))
        case AssistantMessage():
            private = len(str(message.opaque.fields)) if message.opaque else 0
            characters = private + sum(map(_characters, message.content))
        case SummaryMessage():
            characters = len(message.summary)
        case NotificationMessage():
            characters = len(message.text)
        case CustomMessage():
            characters = 0
    return MESSAGE + CHARACTER * characters


def _characters(part: TextContent | ThinkingContent | ImageContent | ToolCall) -> int:
    match part:
        case TextContent():
            return len(part.text)
        case ThinkingContent():
            return len(part.thinking) + len(part.signature or "")
        case ImageContent():
            return len(part.data)
        case ToolCall():
            return len(str(part.arguments)) + len(str(part.opaque or ""))
