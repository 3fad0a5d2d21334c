"""Rebuilding of a message from its deltas, for consumers that only receive deltas."""

from agent_core.messages import TextContent, ThinkingContent
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
