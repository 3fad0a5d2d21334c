"""Rebuilds a message from its deltas, for those who only receive deltas (C-17, C-34)."""

from agent_core.llm import StreamDelta
from agent_core.messages import TextContent, ThinkingContent


class DeltaMismatch(ValueError):
    """A delta for a block of another kind (S4-44)."""


class PartialAssembler:
    """Collects the deltas of one message; cheap however many there are."""

    def __init__(self) -> None:
        self._blocks: dict[int, tuple[str, list[str]]] = {}

    def feed(self, delta: StreamDelta) -> None:
        """Raises DeltaMismatch where the block has another kind."""
        kind, pieces = self._blocks.setdefault(delta.index, (delta.type, []))
        if kind != delta.type:
            raise DeltaMismatch(f"block {delta.index} holds {kind}, not {delta.type}")
        pieces.append(delta.delta)

    @property
    def text(self) -> str:
        """The words for people so far."""
        return "".join("".join(pieces) for kind, pieces in self._blocks.values() if kind == "text_delta")

    def content(self) -> tuple[TextContent | ThinkingContent, ...]:
        """What can be kept of a message that was cut off: words and thinking, no half tool calls."""
        kept: list[TextContent | ThinkingContent] = []
        for _, (kind, pieces) in sorted(self._blocks.items()):
            if kind == "text_delta":
                kept.append(TextContent(text="".join(pieces)))
            elif kind == "thinking_delta":
                kept.append(ThinkingContent(thinking="".join(pieces)))
        return tuple(kept)
