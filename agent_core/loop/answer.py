"""The text of answers: partial answers of a stream, and cut-off answers with their continuation."""

from collections.abc import Iterable, Iterator

from agent_core.events import AgentEnd, AgentEvent, MessageEnd, MessageUpdate
from agent_core.messages import (
    AgentMessage,
    AssistantMessage,
    NotificationMessage,
    StopReason,
    TextContent,
    ThinkingContent,
)
from agent_core.models.llm import StreamDelta, TextDelta

GOES_ON = "max_output_recovery"
"""Kind of the note that asks a model to continue a cut-off answer."""


def joined(messages: Iterable[AgentMessage]) -> Iterator[AgentMessage]:
    """Yield the messages as users see them: the parts of one answer become one message, at the place of the last.

    A part stays as it is if it was followed by something else: an answer that was stopped or calls tools.
    """
    part: AssistantMessage | None = None
    asked = False
    for message in messages:
        whole = None
        if part is not None and not asked and asks_for_rest(message):
            asked = True
        elif part is not None and not (asked and _stands_between(message)):
            whole = _one(part, message) if asked else None
            if whole is None:
                yield part
            part, asked = None, False
        said = whole or message
        if isinstance(said, AssistantMessage) and _was_cut(said):
            part, asked = said, is_paused(said)
        else:
            yield said
    if part is not None:
        yield part


def _was_cut(message: AssistantMessage) -> bool:
    return (message.stop_reason is StopReason.LENGTH and not message.tool_calls) or is_paused(message)


def is_paused(message: AgentMessage | None) -> bool:
    """Return True for an answer that the model goes on with when it gets it back."""
    return isinstance(message, AssistantMessage) and message.stop_reason is StopReason.PAUSE


def asks_for_rest(message: AgentMessage) -> bool:
    """Return True for the note that asks a model to continue a cut-off answer."""
    return isinstance(message, NotificationMessage) and message.kind == GOES_ON


def _stands_between(message: AgentMessage) -> bool:
    """Return True for failed attempts and notes of the program."""
    if isinstance(message, AssistantMessage):
        return message.stop_reason is StopReason.ERROR
    return message.role in ("notification", "custom", "summary")


def _one(first: AssistantMessage, rest: AgentMessage) -> AssistantMessage | None:
    if not isinstance(rest, AssistantMessage) or rest.tool_calls or rest.stop_reason is StopReason.ABORTED:
        return None
    return rest.model_copy(update={"content": (TextContent(text=first.text + rest.text),)})


def piece_of(event: AgentEvent) -> str | None:
    """Return the text that an event adds for a user who reads only text."""
    match event:
        case MessageUpdate(delta=TextDelta() as delta):
            return delta.delta
        case MessageEnd(message=NotificationMessage(to_model=False) as notice):
            return notice.text
        case AgentEnd():
            return event.error
        case _:
            return None


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
