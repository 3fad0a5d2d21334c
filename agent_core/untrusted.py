"""Marking what strangers may have written, so that a model can tell it from what people ask of it."""

from collections.abc import Iterable

from agent_core.messages import AgentMessage, SummaryMessage, ToolResultMessage, UserMessage


def is_tainted(messages: Iterable[AgentMessage]) -> bool:
    """Whether words of strangers stand in the conversation: they work for as long as the model can read them.

    A summary may hold what they said, or what they made the model believe.
    """
    return any(
        isinstance(message, SummaryMessage)
        or (isinstance(message, UserMessage | ToolResultMessage) and message.untrusted)
        for message in messages
    )
