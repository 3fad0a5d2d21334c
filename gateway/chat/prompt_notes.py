"""Notes of plugins for the model, and what they are made from."""

from collections.abc import Awaitable, Callable, Iterator, Sequence

from msgspec import Struct

from agent_core.messages import AgentMessage, SummaryMessage, UserMessage
from agent_core.origin import Origin
from channels.base import ChatKey


class PromptNote(Struct, frozen=True):
    """A text of a plugin for the model, beside a person's message.

    Attributes:
        text: One line, or a few.
        origin: That of the text. If it is not clean, the message counts as made from it, too.
    """

    text: str
    origin: Origin


class PromptHistory(Struct, frozen=True):
    """The part of a conversation that the model has read."""

    _messages: Sequence[AgentMessage]

    @property
    def is_empty(self) -> bool:
        """True if the conversation begins now."""
        return not self._messages

    @property
    def began(self) -> float:
        """The time at which its oldest message was written. Only where it is not empty."""
        return min(each.created_at for each in self._messages)

    @property
    def is_summarised(self) -> bool:
        """True if its beginning was replaced by a summary."""
        return SummaryMessage in set(map(type, self._messages))

    def notes(self, *, since_summary: bool = False) -> Iterator[str]:
        """Yield what stood beside the messages of people, such as the time and the notes, the newest first."""
        for message in reversed(self._messages):
            if isinstance(message, UserMessage):
                yield message.context or ""
            elif since_summary and isinstance(message, SummaryMessage):
                return


NotesOf = Callable[[ChatKey, str, Sequence[AgentMessage]], Awaitable[Sequence[PromptNote]]]
"""Returns the notes on a message of a person in a chat, with the history before it. See `Plugin.prompt`."""
