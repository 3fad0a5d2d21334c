"""Rebuilding of a message from its deltas, for consumers that only receive deltas."""

from agent_core.events import AgentEvent, MessageEnd, MessageStart, MessageUpdate
from agent_core.messages import AssistantMessage, TextContent, ThinkingContent
from agent_core.models.llm import StreamDelta


class DeltaMismatch(ValueError):
    """The delta belongs to a block of another kind."""


class PartialAssembler:
    """Collects the deltas of one message, in constant time each."""

    def __init__(self) -> None:
        self._blocks: dict[int, tuple[str, list[str]]] = {}

    def feed(self, delta: StreamDelta) -> None:
        """Add a delta. Raises DeltaMismatch if its block has another kind."""
        kind, pieces = self._blocks.setdefault(delta.index, (delta.type, []))
        if kind != delta.type:
            raise DeltaMismatch(f"block {delta.index} holds {kind}, not {delta.type}")
        pieces.append(delta.delta)

    @property
    def text(self) -> str:
        """Return the text for users so far."""
        return "".join("".join(pieces) for kind, pieces in self._blocks.values() if kind == "text_delta")

    def content(self) -> tuple[TextContent | ThinkingContent, ...]:
        """Return what is kept of an interrupted message: text and reasoning, no partial tool calls."""
        kept: list[TextContent | ThinkingContent] = []
        for _, (kind, pieces) in sorted(self._blocks.items()):
            if kind == "text_delta":
                kept.append(TextContent(text="".join(pieces)))
            elif kind == "thinking_delta":
                kept.append(ThinkingContent(thinking="".join(pieces)))
        return tuple(kept)


class StreamingAnswer:
    """Follows the events of a run to know the answer that is streaming."""

    def __init__(self) -> None:
        self._started: AssistantMessage | None = None
        self._partial = PartialAssembler()

    @property
    def message(self) -> AssistantMessage | None:
        """Return the answer streamed so far, or None while none is streaming."""
        return self._started and self._started.model_copy(update={"content": self._partial.content()})

    def follow(self, event: AgentEvent) -> None:
        match event:
            case MessageStart(message=AssistantMessage() as message):
                self._started, self._partial = message, PartialAssembler()
            case MessageUpdate() if self._started is not None:
                self._partial.feed(event.delta)
            case MessageEnd():
                self._started = None
            case _:
                pass
