"""The text of a run as users read it: a cut-off answer and its continuation are one answer."""

from collections.abc import Iterable, Iterator

from agent_core.events import AgentEnd, AgentEvent, MessageEnd, MessageUpdate
from agent_core.messages import AgentMessage, AssistantMessage, NotificationMessage, StopReason, TextContent
from agent_core.models.llm import TextDelta

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
