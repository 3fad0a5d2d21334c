"""What a model has said to people: an answer that was cut off and gone on with is one, without a seam (S3-22)."""

from collections.abc import Iterable, Iterator

from agent_core.messages import AgentMessage, AssistantMessage, NotificationMessage, StopReason, TextContent

GOES_ON = "max_output_recovery"
"""The kind of the note that asks a model to go on where it was cut off."""


def joined(messages: Iterable[AgentMessage]) -> Iterator[AgentMessage]:
    """The messages as people see them: the parts of one answer are one message, at the place of the last part.

    What comes instead of the rest (an answer that was stopped, or that calls tools) leaves the part as it is.
    """
    part: AssistantMessage | None = None
    asked = False
    for message in messages:
        whole = None
        if part is not None and not asked and _asks_for_more(message):
            asked = True
        elif part is not None and not (asked and _stands_between(message)):
            whole = _one(part, message) if asked else None
            if whole is None:
                yield part
            part, asked = None, False
        said = whole or message
        if isinstance(said, AssistantMessage) and _was_cut(said):
            part = said
        else:
            yield said
    if part is not None:
        yield part


def _was_cut(message: AssistantMessage) -> bool:
    return message.stop_reason is StopReason.LENGTH and not message.tool_calls


def _asks_for_more(message: AgentMessage) -> bool:
    return isinstance(message, NotificationMessage) and message.kind == GOES_ON


def _stands_between(message: AgentMessage) -> bool:
    """Attempts that failed, and what the program has noted."""
    if isinstance(message, AssistantMessage):
        return message.stop_reason is StopReason.ERROR
    return message.role in ("notification", "custom", "summary")


def _one(first: AssistantMessage, rest: AgentMessage) -> AssistantMessage | None:
    if not isinstance(rest, AssistantMessage) or rest.tool_calls or rest.stop_reason is StopReason.ABORTED:
        return None
    return rest.model_copy(update={"content": (TextContent(text=first.text + rest.text),)})
