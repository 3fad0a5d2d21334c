"""Tokens left for skills in the model's window, and the words by which skills count as in use."""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from agent_core.messages import (
    AgentMessage,
    AssistantMessage,
    CustomMessage,
    NotificationMessage,
    SummaryMessage,
    ToolResultMessage,
    UserMessage,
    text_of,
)
from agent_core.skills.skill import SKILL_TOOLS

CEILING = 0.9
"""Fraction of the window up to which skills and references are loaded."""
RECENT = 10
"""Recent messages that are searched for skills in use."""


class TokenBudget(Struct, frozen=True):
    """Tokens for skills: the next request's present size, and the model's window. The default is unlimited."""

    used: int = 0
    window: int = 0
    """0 if unknown: then there is no limit."""
    messages: Sequence[AgentMessage] = ()

    def lacks(self, tokens: int) -> int:
        """Return by how many tokens the limit would be exceeded; 0 if they fit."""
        return max(0, self.used + tokens - int(self.window * CEILING)) if self.window else 0

    def could_hold(self, tokens: int) -> bool:
        """Return True if they would fit with an empty conversation."""
        return not self.window or tokens <= int(self.window * CEILING)


def recent_words(messages: Iterable[AgentMessage]) -> str:
    """Return the text of the last messages in lower case, calls and results included."""
    return "\n".join(map(_words, list(messages)[-RECENT:])).lower()


def _words(message: AgentMessage) -> str:
    match message:
        case UserMessage():
            return f"{message.context}\n{text_of(message.content)}"
        case AssistantMessage():
            calls = (f"{call.name} {call.arguments}" for call in message.tool_calls)
            return "\n".join([message.text, *calls])
        case ToolResultMessage():
            # Answers of the skill tools name skills that are not in use.
            return "" if message.tool_name in SKILL_TOOLS else text_of(message.content)
        case SummaryMessage():
            return message.summary
        case NotificationMessage():
            return message.text
        case CustomMessage():
            return ""
