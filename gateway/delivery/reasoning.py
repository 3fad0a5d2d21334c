"""Collects the model's reasoning from a run's events, for surfaces that can unfold it."""

from collections.abc import Iterable

from agent_core.events import AgentEvent, MessageEnd, MessageStart, MessageUpdate
from agent_core.messages import AgentMessage, AssistantMessage, ThinkingContent
from agent_core.models.llm import ThinkingDelta
from gateway.security.secrets import Secrets

MOST = 20_000
"""Most characters kept, the newest ones: the reasoning is stored with each answer."""


class Reasoning:
    """Reasoning of one run, accumulated from its events."""

    def __init__(self, secrets: Secrets) -> None:
        self._secrets = secrets
        self._before: list[str] = []
        """Reasoning in finished messages."""
        self._pieces: list[str] = []

    def apply(self, event: AgentEvent) -> None:
        match event:
            case MessageStart(message=AssistantMessage()):
                self._pieces = []  # a new answer replaces one that broke off
            case MessageUpdate(delta=ThinkingDelta() as delta):
                self._pieces.append(delta.delta)
            case MessageEnd(message=AssistantMessage() as message):
                self._before, self._pieces = [*self._before, *_thoughts([message])], []
            case _:
                pass

    @property
    def has_begun(self) -> bool:
        return bool(self._before or self._pieces)

    @property
    def text(self) -> str:
        """Markdown, with secrets masked."""
        return _newest(self._secrets.mask_unfinished(_joined([*self._before, "".join(self._pieces).strip()])))


def reasoning_of(said: Iterable[AgentMessage], secrets: Secrets) -> str:
    """Return the masked reasoning in finished messages."""
    return _newest(secrets.mask(_joined(_thoughts(said))))


def _thoughts(said: Iterable[AgentMessage]) -> list[str]:
    parts = [part for message in said if isinstance(message, AssistantMessage) for part in message.content]
    return [part.thinking.strip() for part in parts if isinstance(part, ThinkingContent)]


def _joined(thoughts: Iterable[str]) -> str:
    return "\n\n".join(filter(None, thoughts))


def _newest(masked: str) -> str:
    """Cut to the newest characters. The text must be masked already, since half a secret is not recognised."""
    return masked if len(masked) <= MOST else f"…{masked[1 - MOST :]}"
