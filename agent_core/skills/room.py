"""How full the model's window is, and which skills the conversation still speaks of."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

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
from agent_core.skills.names import SKILL_TOOLS

CEILING = 0.9
"""Of the window: no skill and no reference is loaded beyond it (S1-13)."""
RECENT = 10
"""Messages that are looked at for what is still in use (S1-22)."""


@dataclass(frozen=True)
class Room:
    """In tokens: what the next request will hold as things stand, and what fits at most."""

    used: int = 0
    window: int = 0
    """0: nobody knows, so everything fits."""
    messages: Sequence[AgentMessage] = ()

    def lacks(self, tokens: int) -> int:
        """How many tokens too many it would be with these; 0 where there is room."""
        return max(0, self.used + tokens - int(self.window * CEILING)) if self.window else 0

    def could_hold(self, tokens: int) -> bool:
        """Whether it could with an empty conversation."""
        return not self.window or tokens <= int(self.window * CEILING)


Measure = Callable[[], Room]


def everything_fits() -> Room:
    """Where nobody counts."""
    return Room()


def recent_words(messages: Iterable[AgentMessage]) -> str:
    """All that the last messages say, calls and results included, in lower case."""
    return "\n".join(map(_words, list(messages)[-RECENT:])).lower()


def _words(message: AgentMessage) -> str:
    match message:
        case UserMessage():
            return f"{message.context}\n{text_of(message.content)}"
        case AssistantMessage():
            calls = (f"{call.name} {call.arguments}" for call in message.tool_calls)
            return "\n".join([message.text, *calls])
        case ToolResultMessage():
            # What the skill tools answer names skills that nobody uses.
            return "" if message.tool_name in SKILL_TOOLS else text_of(message.content)
        case SummaryMessage():
            return message.summary
        case NotificationMessage():
            return message.text
        case CustomMessage():
            return ""
